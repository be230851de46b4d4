/**
 * Reads the payloads of SSH keys from exactly the bytes that are signed: a login (RFC 4252, section 7, or OpenSSH's host-bound
 * form), or a message (OpenSSH's PROTOCOL.sshsig). A certificate (OpenSSH's PROTOCOL.certkeys) is recognized, and not read.
 */
import { joinBytes } from '../../crypto/bytes.ts';
import { sha256, sha512 } from '../../crypto/hashes.ts';
import { attempt, unreadable, type Read } from '../reading.ts';
import { plainHostKey } from './bindings.ts';
import { SshCursor, sshString } from './wire.ts';

export interface SshLogin {
  readonly kind: 'login';
  readonly sessionId: Uint8Array;
  readonly user: string;
  readonly service: string;
  /** The key that is to sign, as SSH writes it. */
  readonly key: Uint8Array;
  /** The server's key: a server refuses the signature where the key is not its own. Undefined in RFC 4252's form. */
  readonly hostKey: Uint8Array | undefined;
}

/** How a message is hashed before it is signed. */
export const messageHashes = { sha256, sha512 } as const;
export type MessageHash = keyof typeof messageHashes;

export interface SshMessage {
  readonly kind: 'message';
  /** `git`, `file`. It keeps a signature for one purpose from counting for another. */
  readonly namespace: string;
  readonly hash: MessageHash;
  readonly digest: Uint8Array;
}

export type SshPayload = SshLogin | SshMessage;

const magic = Buffer.from('SSHSIG', 'latin1');
const userauthRequest = 50;
/** Bytes: no key exchange has a longer hash. */
const longestSessionId = 64;

const isMessage = (bytes: Uint8Array): boolean =>
  Buffer.compare(bytes.subarray(0, magic.length), magic) === 0;

/** True for bytes that begin like a login. What follows may still be something else. */
function isLogin(bytes: Uint8Array): boolean {
  if (bytes.length < 5) return false;
  const length = Buffer.from(bytes.subarray(0, 4)).readUInt32BE();
  return length > 0 && length <= longestSessionId && bytes[4 + length] === userauthRequest;
}

const certificateTypes = /^[\w@.-]+-cert-v\d\d(@[\w.-]+)?$/;
/** Bytes: no type of a certificate has a longer name. */
const longestType = 64;

/** True for bytes that begin with the type of a certificate. Who signs them lets others log in. */
function isCertificate(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  const length = Buffer.from(bytes.subarray(0, 4)).readUInt32BE();
  return (
    length <= longestType &&
    certificateTypes.test(Buffer.from(bytes.subarray(4, 4 + length)).toString('latin1'))
  );
}

/** @returns undefined for bytes that begin like nothing of SSH. */
export function readSshPayload(bytes: Uint8Array): Read<SshPayload> | undefined {
  if (isMessage(bytes)) return attempt(() => readMessage(bytes));
  if (isCertificate(bytes)) return attempt(() => unreadable('certificates are not read'));
  return isLogin(bytes) ? attempt(() => readLogin(bytes)) : undefined;
}

const hostBound = 'publickey-hostbound-v00@openssh.com';

function readLogin(bytes: Uint8Array): SshLogin {
  const cursor = new SshCursor(bytes, 'a login');
  const sessionId = cursor.string();
  cursor.byte();
  const user = cursor.text();
  const service = cursor.text();
  const method = cursor.text();
  if (method !== 'publickey' && method !== hostBound) unreadable(`its method is not publickey: ${method}`);
  if (cursor.byte() !== 1) unreadable('it is not a login with a signature');
  const algorithm = cursor.text();
  const key = cursor.string();
  const type = new SshCursor(key, 'its key').text();
  if (type !== algorithm) unreadable(`its algorithm is not that of its key: ${algorithm}, ${type}`);
  const hostKey = method === hostBound ? plainHostKey(cursor.string()) : undefined;
  cursor.end();
  return { kind: 'login', sessionId, user, service, key, hostKey };
}

function readMessage(bytes: Uint8Array): SshMessage {
  const cursor = new SshCursor(bytes, 'a message');
  cursor.take(magic.length);
  const namespace = cursor.text();
  if (namespace === '') unreadable('its namespace is empty');
  if (cursor.string().length > 0) unreadable('a field that is reserved is in use');
  const hash = cursor.text();
  if (!isMessageHash(hash)) unreadable(`its hash is not known: ${hash}`);
  const digest = cursor.string();
  if (digest.length !== (hash === 'sha256' ? 32 : 64)) unreadable(`its digest is none of ${hash}`);
  cursor.end();
  return { kind: 'message', namespace, hash, digest };
}

/** True for a message of SSH whose digest is that of `message`, by that very hash. */
export function isMessageOf(
  bytes: Uint8Array,
  { message, hash }: { readonly message: Uint8Array; readonly hash: (bytes: Uint8Array) => Uint8Array },
): boolean {
  const read = isMessage(bytes) ? attempt(() => readMessage(bytes)) : undefined;
  if (read?.ok !== true || messageHashes[read.value.hash] !== hash) return false;
  return Buffer.compare(hash(message), read.value.digest) === 0;
}

const isMessageHash = (name: string): name is MessageHash => Object.hasOwn(messageHashes, name);

/** The bytes that an SSH key signs for a message. */
export const encodeSshMessage = (namespace: string, hash: MessageHash, message: Uint8Array): Uint8Array =>
  joinBytes([
    magic,
    sshString(namespace),
    sshString(''),
    sshString(hash),
    sshString(messageHashes[hash](message)),
  ]);
