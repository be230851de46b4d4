/** The messages of a client of our agent: the other side of `main/doors/ssh/messages.ts`. */
import { sshString, SshCursor } from '../../chains/ssh/wire.ts';
import { attempt, unreadable, type Read } from '../../chains/reading.ts';
import {
  extensionAnswer,
  framed,
  message,
  numbers,
  signMessageName,
  type MessageToSign,
} from '../../doors/ssh/messages.ts';

/** The request of `keyhearth-ssh-sign`, framed. */
export const signMessageRequest = (wanted: MessageToSign): Uint8Array =>
  framed(
    message(
      numbers.extension,
      sshString(signMessageName),
      ...[wanted.key, wanted.namespace, wanted.message, wanted.repository, wanted.branch].map(sshString),
    ),
  );

/** @param bytes The answer without its length. @throws Unreadable inside `attempt` alone. */
export const readSignedMessage = (bytes: Uint8Array): Read<Uint8Array> =>
  attempt(() => {
    const cursor = new SshCursor(bytes, 'the answer of the agent');
    if (cursor.byte() !== extensionAnswer || cursor.text() !== signMessageName) {
      unreadable('the agent does not sign messages for Keyhearth');
    }
    const isSigned = cursor.boolean();
    const content = cursor.string();
    return isSigned ? content : unreadable(Buffer.from(content).toString('utf8'));
  });

export interface AgentKey {
  /** As SSH writes it. */
  readonly blob: Uint8Array;
  readonly comment: string;
}

/** Framed. */
export const listKeysRequest = framed(message(numbers.listKeys));

/** @param bytes The answer to `listKeysRequest` without its length. */
export const readKeys = (bytes: Uint8Array): Read<readonly AgentKey[]> =>
  attempt(() => {
    const cursor = new SshCursor(bytes, 'the list of keys');
    if (cursor.byte() !== numbers.keys) unreadable('the vault refused');
    const keys: AgentKey[] = [];
    for (let left = cursor.uint32(); left > 0; left -= 1) {
      keys.push({ blob: cursor.string(), comment: cursor.text() });
    }
    cursor.end();
    return keys;
  });
