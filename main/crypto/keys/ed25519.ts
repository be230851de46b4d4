/** Ed25519 (RFC 8032) through the platform, which is several times faster than JavaScript. */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { checkBytes, concatBytes, asUint8Array } from '../bytes.ts';
import { Lru } from '../../lib/lru.ts';
import { verifyInThread } from './verify-in-thread.ts';

const keyLength = 32;
const signatureLength = 64;

/** RFC 8410: what stands before the raw key in PKCS #8 and in SubjectPublicKeyInfo. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

const publicKeys = new Lru<string, KeyObject>(1024);

/**
 * @param privateKey The seed of RFC 8032, 32 bytes.
 * @returns 32 bytes.
 */
export function ed25519PublicKey(privateKey: Uint8Array): Uint8Array {
  const spki = createPublicKey(importPrivateKey(privateKey)).export({ format: 'der', type: 'spki' });
  return new Uint8Array(spki.subarray(-keyLength));
}

/**
 * @param privateKey The seed of RFC 8032, 32 bytes.
 * @returns R and S, 32 bytes each.
 */
export function signEd25519(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
  checkBytes('message', message);
  return asUint8Array(sign(null, message, importPrivateKey(privateKey)));
}

/**
 * For many signatures at once, which it makes twice as fast. It holds the key as the platform does, out of reach of
 * erasing: use it within one turn of the event loop, and let it go.
 */
export function ed25519Signer(privateKey: Uint8Array): (message: Uint8Array) => Uint8Array {
  const key = importPrivateKey(privateKey);
  return (message) => asUint8Array(sign(null, message, key));
}

/**
 * @param publicKey 32 bytes in hex.
 * @returns false for any signature or key that does not hold, malformed ones included.
 */
export function verifyEd25519(publicKey: string, signature: Uint8Array, message: Uint8Array): boolean {
  const key = publicKeyFor(publicKey, signature, message);
  return key !== undefined && verify(null, message, key, signature);
}

/** @returns undefined where no signature of these bytes can hold. */
function publicKeyFor(publicKey: string, signature: Uint8Array, message: Uint8Array): KeyObject | undefined {
  checkBytes('signature', signature);
  checkBytes('message', message);
  if (signature.length !== signatureLength || !/^[0-9a-f]{64}$/i.test(publicKey)) return undefined;
  return importPublicKey(publicKey.toLowerCase());
}

/** As `verifyEd25519`, in a thread of the platform. What is given may be changed meanwhile: it has copies. */
export async function verifyEd25519Aside(
  publicKey: string,
  signature: Uint8Array,
  message: Uint8Array,
): Promise<boolean> {
  const key = publicKeyFor(publicKey, signature, message);
  return key !== undefined && verifyInThread(null, message, key, signature);
}

/** Private keys are imported for each use: a cache would keep them in memory after the vault is locked. */
function importPrivateKey(privateKey: Uint8Array): KeyObject {
  checkBytes('privateKey', privateKey, keyLength);
  const pkcs8 = concatBytes(pkcs8Prefix, privateKey);
  try {
    return createPrivateKey({ key: Buffer.from(pkcs8.buffer), format: 'der', type: 'pkcs8' });
  } finally {
    pkcs8.fill(0);
  }
}

function importPublicKey(publicKey: string): KeyObject {
  const known = publicKeys.get(publicKey);
  if (known) return known;
  const spki = Buffer.concat([spkiPrefix, Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  publicKeys.set(publicKey, key);
  return key;
}
