/**
 * Messages of an SSH agent (draft-ietf-sshm-ssh-agent), and an extension of our own for `keyhearth-ssh-sign`. A library that
 * has them lacks session bindings, so these few are read here. Every message is bounded, and an unknown one is refused.
 */
import { joinBytes } from '../../crypto/bytes.ts';
import { SshCursor, sshString, sshUint32 } from '../../chains/ssh/wire.ts';
import { attempt, unreadable, type Read } from '../../chains/reading.ts';

/** Bytes, as OpenSSH's own agent takes them. */
export const longestMessage = 256 * 1024;

export const numbers = {
  failure: 5,
  success: 6,
  listKeys: 11,
  keys: 12,
  sign: 13,
  signature: 14,
  extension: 27,
};
const extensionFailure = 28;
export const extensionAnswer = 29;

/** Binds a connection to a session of an SSH client. */
const sessionBind = 'session-bind@openssh.com';
/** Signs a message that comes whole: the vault hashes it. */
export const signMessageName = 'sign-message@keyhearth';

export interface MessageToSign {
  /** As SSH writes it. */
  readonly key: Uint8Array;
  readonly namespace: string;
  readonly message: Uint8Array;
  /** Claims of the caller; empty where there is none. */
  readonly repository: string;
  readonly branch: string;
}

export type AgentRequest =
  | { readonly kind: 'list keys' }
  | { readonly kind: 'sign'; readonly key: Uint8Array; readonly data: Uint8Array }
  | { readonly kind: 'bind'; readonly binding: Uint8Array }
  | ({ readonly kind: 'sign message' } & MessageToSign)
  | { readonly kind: 'unknown extension' };

/** @param bytes A message without its length. */
export const readRequest = (bytes: Uint8Array): Read<AgentRequest> =>
  attempt((): AgentRequest => {
    const cursor = new SshCursor(bytes, 'a message');
    const number = cursor.byte();
    switch (number) {
      case numbers.listKeys:
        cursor.end();
        return { kind: 'list keys' };
      case numbers.sign: {
        const request = { kind: 'sign', key: cursor.string(), data: cursor.string() } as const;
        // The flags choose a hash for RSA, which no key here is.
        cursor.uint32();
        cursor.end();
        return request;
      }
      case numbers.extension:
        return readExtension(cursor);
      default:
        // Adding and removing keys among them: keys are the vault's.
        return unreadable(`message ${String(number)} is not for this agent`);
    }
  });

function readExtension(cursor: SshCursor): AgentRequest {
  const name = cursor.text();
  if (name === sessionBind) return { kind: 'bind', binding: cursor.rest() };
  if (name !== signMessageName) return { kind: 'unknown extension' };
  const request = {
    kind: 'sign message',
    key: cursor.string(),
    namespace: cursor.text(),
    message: cursor.string(),
    repository: cursor.text(),
    branch: cursor.text(),
  } as const;
  cursor.end();
  return request;
}

export const message = (number: number, ...parts: readonly Uint8Array[]): Uint8Array =>
  joinBytes([Uint8Array.of(number), ...parts]);

export const failure = message(numbers.failure);
export const success = message(numbers.success);
export const extensionRefused = message(extensionFailure);

export const keysAnswer = (
  keys: readonly { readonly blob: Uint8Array; readonly comment: string }[],
): Uint8Array =>
  message(
    numbers.keys,
    sshUint32(keys.length),
    ...keys.flatMap(({ blob, comment }) => [sshString(blob), sshString(comment)]),
  );

export const signatureAnswer = (signature: Uint8Array): Uint8Array =>
  message(numbers.signature, sshString(signature));

/** @param outcome The signature, or why there is none. */
export const signedMessageAnswer = (outcome: Uint8Array | string): Uint8Array =>
  message(
    extensionAnswer,
    sshString(signMessageName),
    Uint8Array.of(typeof outcome === 'string' ? 0 : 1),
    sshString(outcome),
  );

export const framed = (bytes: Uint8Array): Uint8Array => sshString(bytes);
