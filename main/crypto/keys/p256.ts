/**
 * ECDSA over NIST P-256 with SHA-256 (FIPS 186-5) through the platform. Every request's stamp is verified here, so
 * imported public keys are kept.
 */
import { createECDH, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { checkBytes, concatBytes, asUint8Array } from '../bytes.ts';
import { decodeHex, invalid, toHex } from '../encodings.ts';
import { Lru } from '../../lib/lru.ts';
import { copyOfBytes } from '../secret-text.ts';
import { generatePrivateKey } from './scalars.ts';
import { verifyInThread } from './verify-in-thread.ts';

export const p256PrivateKeyLength = 32;
const compressedLength = 33;
const uncompressedLength = 65;

/** RFC 5480, RFC 5208 and RFC 5915: what stands around the raw key in SubjectPublicKeyInfo, PrivateKeyInfo and ECPrivateKey. */
const spkiPrefix = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const pkcs8Prefix = Buffer.from(
  '3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420',
  'hex',
);
const sec1Prefix = Buffer.from('30310201010420', 'hex');
const sec1Suffix = Buffer.from('a00a06082a8648ce3d030107', 'hex');

const publicKeys = new Lru<string, KeyObject>(4096);

export interface P256KeyPair {
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
  /** Compressed SEC 1, 33 bytes. */
  readonly publicKey: Uint8Array;
}

/** @param random Answers that many fresh bytes at each call. */
export function generateP256(random: (length: number) => Uint8Array): P256KeyPair {
  const privateKey = generatePrivateKey(random, p256PrivateKeyLength, isP256PrivateKey);
  return { privateKey, publicKey: p256PublicKey(privateKey) };
}

const order = decodeHex('order', p256.Point.Fn.ORDER.toString(16), p256PrivateKeyLength);

/**
 * True for 32 bytes in the range 1 to n-1. They are compared as bytes: the curve's library would convert them
 * to hex.
 */
export const isP256PrivateKey = (bytes: Uint8Array): boolean =>
  bytes.length === p256PrivateKeyLength &&
  bytes.some((byte) => byte !== 0) &&
  Buffer.compare(bytes, order) < 0;

/** True for hex of a point of the curve in SEC 1 form, compressed or not. */
export function isP256PublicKey(text: string): boolean {
  try {
    p256.Point.fromHex(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Signs a digest with RFC 6979's nonce. s is left as it comes out: nothing about P-256 asks for the lower one.
 * @param privateKey 32 bytes.
 * @param digest 32 bytes.
 */
export function signP256Digest(
  privateKey: Uint8Array,
  digest: Uint8Array,
): {
  /** r and s, 32 bytes each. */
  readonly signature: Uint8Array;
  /** 0 to 3. */
  readonly recoveryId: number;
} {
  checkPrivateKey(privateKey);
  checkBytes('digest', digest, 32);
  const recovered = p256.sign(digest, privateKey, { prehash: false, lowS: false, format: 'recovered' });
  return { signature: recovered.subarray(1), recoveryId: recovered[0] ?? 0 };
}

/**
 * Adds a tweak to a private key modulo the order, as SLIP-0010 does.
 * @returns undefined where the tweak is not below the order or the sum is zero.
 */
export function addToP256PrivateKey(privateKey: Uint8Array, tweak: Uint8Array): Uint8Array | undefined {
  checkPrivateKey(privateKey);
  checkBytes('tweak', tweak, p256PrivateKeyLength);
  const scalars = p256.Point.Fn;
  const added = BigInt(`0x${toHex(tweak)}`);
  if (!scalars.isValid(added)) return undefined;
  const sum = scalars.add(scalars.fromBytes(privateKey), added);
  return scalars.is0(sum) ? undefined : scalars.toBytes(sum);
}

/** @returns Compressed SEC 1, 33 bytes. */
export function p256PublicKey(privateKey: Uint8Array): Uint8Array {
  checkPrivateKey(privateKey);
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(privateKey);
  return compressP256(ecdh.getPublicKey());
}

/**
 * The key for WebCrypto, which agrees on a secret with it and gives the private half to no program.
 * @param privateKey 32 bytes.
 * @param publicKey Its own, uncompressed SEC 1, 65 bytes.
 */
export async function p256KeyPair(privateKey: Uint8Array, publicKey: Uint8Array): Promise<CryptoKeyPair> {
  checkPrivateKey(privateKey);
  checkBytes('publicKey', publicKey, uncompressedLength);
  const curve = { name: 'ECDH', namedCurve: 'P-256' };
  const pkcs8 = concatBytes(pkcs8Prefix, privateKey);
  try {
    const [own, shared] = await Promise.all([
      crypto.subtle.importKey('pkcs8', pkcs8, curve, false, ['deriveBits']),
      crypto.subtle.importKey('raw', copyOfBytes(publicKey), curve, true, []),
    ]);
    return { privateKey: own, publicKey: shared };
  } finally {
    pkcs8.fill(0);
  }
}

/**
 * @param privateKey 32 bytes.
 * @returns DER in lowercase hex. The nonce is random, so that two signatures of one message differ.
 */
export const signP256 = (privateKey: Uint8Array, message: Uint8Array): string =>
  toHex(signMessage(privateKey, message, 'der'));

/**
 * As `signP256`, in the form that JSON Web Signatures have (RFC 7518, section 3.4).
 * @returns r and s, 32 bytes each.
 */
export const signP256Raw = (privateKey: Uint8Array, message: Uint8Array): Uint8Array =>
  signMessage(privateKey, message, 'ieee-p1363');

function signMessage(
  privateKey: Uint8Array,
  message: Uint8Array,
  dsaEncoding: 'der' | 'ieee-p1363',
): Uint8Array {
  checkPrivateKey(privateKey);
  checkBytes('message', message);
  const sec1 = concatBytes(sec1Prefix, privateKey, sec1Suffix);
  try {
    const key = createPrivateKey({ key: Buffer.from(sec1.buffer), format: 'der', type: 'sec1' });
    return asUint8Array(sign('sha256', message, { key, dsaEncoding }));
  } finally {
    sec1.fill(0);
  }
}

/**
 * Verifies a signature over SHA-256 of a message. High s is accepted: WebCrypto does not normalise it.
 * @param publicKey Compressed SEC 1 in hex, 66 characters.
 * @param signature DER.
 * @returns false for any signature or key that does not hold, malformed ones included.
 */
export function verifyP256(publicKey: string, signature: Uint8Array, message: Uint8Array): boolean {
  checkBytes('signature', signature);
  checkBytes('message', message);
  const key = importPublicKey(publicKey);
  return key !== undefined && verify('sha256', message, key, signature);
}

/** As `verifyP256`, in a thread of the platform. What is given may be changed meanwhile: it has copies. */
export async function verifyP256Aside(
  publicKey: string,
  signature: Uint8Array,
  message: Uint8Array,
): Promise<boolean> {
  checkBytes('signature', signature);
  checkBytes('message', message);
  const key = importPublicKey(publicKey);
  return key !== undefined && verifyInThread('sha256', message, key, signature);
}

/** As `verifyP256`, for a signature of r and s, 32 bytes each. */
export function verifyP256Raw(publicKey: string, signature: Uint8Array, message: Uint8Array): boolean {
  checkBytes('signature', signature);
  checkBytes('message', message);
  const key = importPublicKey(publicKey);
  return key !== undefined && verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/**
 * Compresses a public key.
 * @param publicKey Uncompressed SEC 1, 65 bytes, a point of the curve.
 * @param field The key's name in the request, for errors.
 * @returns 33 bytes.
 * @throws KeyhearthError INVALID_ARGUMENT when it is not a point of the curve.
 */
export function compressP256(publicKey: Uint8Array, field = 'publicKey'): Uint8Array {
  checkBytes(field, publicKey, uncompressedLength);
  return point(publicKey, field).toBytes(true);
}

/**
 * @param publicKey Compressed SEC 1, 33 bytes.
 * @param field The key's name in the request, for errors.
 * @returns 65 bytes.
 * @throws KeyhearthError INVALID_ARGUMENT when it is not a point of the curve.
 */
export function uncompressP256(publicKey: Uint8Array, field = 'publicKey'): Uint8Array {
  checkBytes(field, publicKey, compressedLength);
  return point(publicKey, field).toBytes(false);
}

function point(bytes: Uint8Array, field: string): { toBytes(compressed: boolean): Uint8Array } {
  try {
    return p256.Point.fromBytes(bytes);
  } catch {
    throw invalid(field, 'expected a point of P-256 in SEC 1 form, got bytes that are none');
  }
}

function checkPrivateKey(privateKey: Uint8Array): void {
  checkBytes('privateKey', privateKey, p256PrivateKeyLength);
  if (!isP256PrivateKey(privateKey)) {
    throw new TypeError('privateKey: expected a P-256 scalar from 1 to n-1, got one out of range');
  }
}

function importPublicKey(publicKey: string): KeyObject | undefined {
  const known = publicKeys.get(publicKey);
  if (known) return known;
  if (!/^0[23][0-9a-f]{64}$/i.test(publicKey)) return undefined;
  let uncompressed: Uint8Array;
  try {
    uncompressed = uncompressP256(asUint8Array(Buffer.from(publicKey, 'hex')));
  } catch {
    return undefined;
  }
  const key = createPublicKey({
    key: Buffer.concat([spkiPrefix, uncompressed]),
    format: 'der',
    type: 'spki',
  });
  publicKeys.set(publicKey, key);
  return key;
}
