/**
 * The project's own signature over an update server's metadata (`latest-linux.yml` and so on): Ed25519, by a
 * key that the server does not have. An attacker with the server, or with its account, cannot publish an
 * update.
 */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

/** Bytes before a raw Ed25519 key in its SPKI and PKCS #8 forms. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * The signed bytes: the file's name and then its bytes, so that one platform's file is not valid for another.
 */
const signed = (name: string, text: string): Buffer =>
  Buffer.from(`latchkey update metadata 1\n${name}\n${text}`, 'utf8');

/** @param privateKey 32 bytes in hex. @returns the signature in base64. */
export function signUpdateMetadata(privateKey: string, name: string, text: string): string {
  const der = Buffer.concat([pkcs8Prefix, keyBytes('private', privateKey)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return sign(null, signed(name, text), key).toString('base64');
}

/** @param publicKey 32 bytes in hex. @param signature as it came, in base64. */
export function isUpdateMetadataSigned(
  publicKey: string,
  name: string,
  text: string,
  signature: string,
): boolean {
  const der = Buffer.concat([spkiPrefix, keyBytes('public', publicKey)]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, signed(name, text), key, Buffer.from(signature, 'base64'));
}

function keyBytes(kind: string, hex: string): Buffer {
  if (/^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, 'hex');
  throw new Error(`the ${kind} key of updates must be 64 hexadecimal digits in lower case`);
}
