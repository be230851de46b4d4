/**
 * Session bindings (`session-bind@openssh.com`, OpenSSH's PROTOCOL.agent): which server an SSH client speaks to, and whether
 * the client forwards its agent there. The server's own signature over the session proves each of them.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { joinBytes } from '../../crypto/bytes.ts';
import { attempt, unreadable, type Read } from '../reading.ts';
import { SshCursor, sshString } from './wire.ts';

export interface Binding {
  readonly hostKey: Uint8Array;
  readonly sessionId: Uint8Array;
  /** True for a client that passes on what comes from that server. */
  readonly forwards: boolean;
}

/** Reads a binding and verifies the server's signature. @param bytes What follows the extension's name. */
export const readBinding = (bytes: Uint8Array): Read<Binding> =>
  attempt(() => {
    const cursor = new SshCursor(bytes, 'a session binding');
    const hostKey = plainHostKey(cursor.string());
    const sessionId = cursor.string();
    const signature = cursor.string();
    const forwards = cursor.boolean();
    cursor.end();
    if (sessionId.length === 0 || !isSignedBy(hostKey, signature, sessionId)) {
      unreadable('the server did not sign the session');
    }
    return { hostKey, sessionId, forwards };
  });

const certificate = '-cert-v01@openssh.com';

/**
 * The key in a host's certificate, or the host key as it is. Whose certificate it is stays unread: the key itself signs the
 * session, and policies name the key.
 * @throws Unreadable inside `attempt` alone.
 */
export function plainHostKey(blob: Uint8Array): Uint8Array {
  const cursor = new SshCursor(blob, 'a host key');
  const type = cursor.text();
  if (!type.endsWith(certificate)) return blob;
  const plain = type.slice(0, -certificate.length);
  // A number of the certificate's own, so that no two are alike.
  cursor.string();
  const parts = Array.from({ length: plain === 'ssh-ed25519' ? 1 : 2 }, () => cursor.string());
  return joinBytes([plain, ...parts].map(sshString));
}

/** @returns false for any key or signature that does not hold, malformed ones included. */
function isSignedBy(hostKey: Uint8Array, signature: Uint8Array, message: Uint8Array): boolean {
  try {
    const cursor = new SshCursor(signature, 'a signature');
    const algorithm = cursor.text();
    const bytes = cursor.string();
    cursor.end();
    const key = importHostKey(hostKey);
    const scheme = schemes[algorithm];
    if (scheme?.keyType !== key.type) return false;
    const { hash, isEcdsa = false } = scheme;
    return verify(hash, message, key.key, isEcdsa ? derOf(bytes) : bytes);
  } catch {
    // The platform's library throws for keys that are none.
    return false;
  }
}

interface Scheme {
  readonly keyType: string;
  readonly hash: string | null;
  readonly isEcdsa?: true;
}

const schemes: Readonly<Partial<Record<string, Scheme>>> = {
  'ssh-ed25519': { keyType: 'ssh-ed25519', hash: null },
  'rsa-sha2-256': { keyType: 'ssh-rsa', hash: 'sha256' },
  'rsa-sha2-512': { keyType: 'ssh-rsa', hash: 'sha512' },
  'ecdsa-sha2-nistp256': { keyType: 'ecdsa-sha2-nistp256', hash: 'sha256', isEcdsa: true },
  'ecdsa-sha2-nistp384': { keyType: 'ecdsa-sha2-nistp384', hash: 'sha384', isEcdsa: true },
  'ecdsa-sha2-nistp521': { keyType: 'ecdsa-sha2-nistp521', hash: 'sha512', isEcdsa: true },
};

const webCurves: Readonly<Partial<Record<string, string>>> = {
  nistp256: 'P-256',
  nistp384: 'P-384',
  nistp521: 'P-521',
};

function importHostKey(blob: Uint8Array): { readonly type: string; readonly key: KeyObject } {
  const cursor = new SshCursor(blob, 'a host key');
  const type = cursor.text();
  const jwk = readJwk(type, cursor);
  cursor.end();
  return { type, key: createPublicKey({ key: jwk, format: 'jwk' }) };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function readJwk(type: string, cursor: SshCursor) {
  if (type === 'ssh-ed25519') return { kty: 'OKP', crv: 'Ed25519', x: base64(cursor.string()) };
  if (type === 'ssh-rsa') {
    const e = cursor.string();
    return { kty: 'RSA', e: base64(e), n: base64(withoutZeros(cursor.string())) };
  }
  const crv = webCurves[cursor.text()];
  const point = cursor.string();
  if (crv === undefined || point[0] !== 4) unreadable(`a host key of another type: ${type}`);
  const half = (point.length - 1) / 2;
  return { kty: 'EC', crv, x: base64(point.subarray(1, 1 + half)), y: base64(point.subarray(1 + half)) };
}

const withoutZeros = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(
    Math.max(
      0,
      bytes.findIndex((byte) => byte !== 0),
    ),
  );

/** ECDSA's r and s, as SSH writes them, in DER. */
function derOf(bytes: Uint8Array): Uint8Array {
  const cursor = new SshCursor(bytes, 'a signature');
  const numbers = [cursor.string(), cursor.string()].map((number) =>
    Buffer.concat([Uint8Array.of(2, number.length), number]),
  );
  cursor.end();
  const content = Buffer.concat(numbers);
  const length = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return Buffer.concat([Uint8Array.of(0x30, ...length), content]);
}
