/**
 * ECDSA over secp256k1 (SEC 2): deterministic nonces (RFC 6979 with SHA-256), low s. libsecp256k1 in WebAssembly does
 * the work several times faster than JavaScript; noble is the reference that it is checked against at start.
 */
import { schnorr as schnorrReference, secp256k1 as reference } from '@noble/curves/secp256k1.js';
import * as accelerator from 'tiny-secp256k1';
import { checkBytes, concatBytes, plain } from './bytes.ts';
import { invalid, toHex } from './encodings.ts';
import { sha256, taggedHash } from './hashes.ts';

export const secp256k1PrivateKeyLength = 32;
const publicKeyLength = 33;
const digestLength = 32;
const compactLength = 64;

const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

export interface RecoverableSignature {
  /** r and s, 32 bytes each; s is at most half the order. */
  readonly signature: Uint8Array;
  /** 0 or 1; 2 and 3 need an r that nobody has ever found. */
  readonly recoveryId: 0 | 1 | 2 | 3;
}

/** Whether these are 32 bytes in the range 1 to n-1. */
export const isSecp256k1PrivateKey = (bytes: Uint8Array): boolean =>
  bytes.length === secp256k1PrivateKeyLength && accelerator.isPrivate(bytes);

/** @returns Compressed SEC 1, 33 bytes. */
export function publicKeyFromPrivate(privateKey: Uint8Array): Uint8Array {
  checkPrivateKey(privateKey);
  const publicKey = accelerator.pointFromScalar(privateKey, true);
  if (publicKey === null) throw new Error('privateKey: no public key came of a scalar in range');
  return publicKey;
}

/** @param digest 32 bytes, any: it is taken modulo the order as RFC 6979 says. */
export function signRecoverable(privateKey: Uint8Array, digest: Uint8Array): RecoverableSignature {
  checkPrivateKey(privateKey);
  checkBytes('digest', digest, digestLength);
  return accelerator.signRecoverable(digest, privateKey);
}

/**
 * BIP-340, with no randomness added: one digest has one signature.
 * @param digest 32 bytes.
 * @returns R's x and s, 32 bytes each.
 */
export function signBip340(privateKey: Uint8Array, digest: Uint8Array): Uint8Array {
  checkPrivateKey(privateKey);
  checkBytes('digest', digest, digestLength);
  return accelerator.signSchnorr(digest, privateKey);
}

const withoutScripts = new Uint8Array();

/**
 * The key that a Taproot output is locked with (BIP-341, BIP-86).
 * @param publicKey Compressed SEC 1, 33 bytes.
 * @param scripts The root of the output's scripts, 32 bytes, where it has any.
 * @returns its x, 32 bytes.
 */
export function taprootOutputKey(publicKey: Uint8Array, scripts: Uint8Array = withoutScripts): Uint8Array {
  checkBytes('publicKey', publicKey, publicKeyLength);
  const tweaked = accelerator.xOnlyPointAddTweak(publicKey.subarray(1), taprootTweak(publicKey, scripts));
  if (tweaked === null) throw new Error('publicKey: BIP-341 has no output key for it');
  return tweaked.xOnlyPubkey;
}

/** @returns the private key of `taprootOutputKey`, 32 bytes, which the caller erases after use. */
export function taprootPrivateKey(privateKey: Uint8Array, scripts: Uint8Array = withoutScripts): Uint8Array {
  const publicKey = publicKeyFromPrivate(privateKey);
  // The internal key stands for the point with an even y.
  const even = publicKey[0] === 2 ? privateKey.slice() : accelerator.privateNegate(privateKey);
  try {
    const tweaked = addToPrivateKey(even, taprootTweak(publicKey, scripts));
    if (tweaked === undefined) throw new Error('privateKey: BIP-341 has no output key for it');
    return tweaked;
  } finally {
    even.fill(0);
  }
}

const taprootTweak = (publicKey: Uint8Array, scripts: Uint8Array): Uint8Array =>
  taggedHash('TapTweak', concatBytes(publicKey.subarray(1), scripts));

/**
 * Verifies a signature over a digest. High s is accepted.
 * @param publicKey Compressed SEC 1 in hex, 66 characters.
 * @param signature DER, or r and s of 32 bytes each.
 * @param digest 32 bytes.
 * @returns false for any signature or key that does not hold, malformed ones included.
 */
export function verifySecp256k1(publicKey: string, signature: Uint8Array, digest: Uint8Array): boolean {
  checkBytes('signature', signature);
  checkBytes('digest', digest, digestLength);
  if (!/^0[23][0-9a-f]{64}$/i.test(publicKey)) return false;
  const point = plain(Buffer.from(publicKey, 'hex'));
  if (!accelerator.isPoint(point)) return false;
  // DER of 64 bytes exists for r and s that happen to be short, so that both readings are tried.
  return [compactOf(signature), compactOfDer(signature)].some(
    (compact) => compact !== undefined && accelerator.verify(digest, point, compact),
  );
}

/**
 * @param signature r and s, 32 bytes each.
 * @param digest 32 bytes.
 * @returns The compressed public key (33 bytes) that made the signature.
 * @throws LatchkeyError INVALID_ARGUMENT when no key can have made it.
 */
export function recoverPublicKey(
  signature: Uint8Array,
  recoveryId: 0 | 1 | 2 | 3,
  digest: Uint8Array,
): Uint8Array {
  checkBytes('signature', signature, compactLength);
  checkBytes('digest', digest, digestLength);
  const compact = compactOf(signature);
  const publicKey = compact && recover(compact, recoveryId, digest);
  if (!publicKey) {
    throw invalid('signature', 'expected one that a secp256k1 key has made, got one that none can have made');
  }
  return publicKey;
}

/**
 * @param publicKey Compressed SEC 1, 33 bytes.
 * @returns 65 bytes.
 * @throws LatchkeyError INVALID_ARGUMENT when it is no point of the curve.
 */
export function uncompressed(publicKey: Uint8Array): Uint8Array {
  checkBytes('publicKey', publicKey, publicKeyLength);
  if (!accelerator.isPoint(publicKey)) {
    throw invalid(
      'publicKey',
      'expected a point of secp256k1 in compressed SEC 1 form, got bytes that are none',
    );
  }
  return accelerator.pointCompress(publicKey, false);
}

/**
 * Adds a tweak to a private key modulo the order, as BIP-32 does.
 * @returns undefined where the tweak is not below the order or the sum is zero.
 */
export function addToPrivateKey(privateKey: Uint8Array, tweak: Uint8Array): Uint8Array | undefined {
  checkPrivateKey(privateKey);
  checkBytes('tweak', tweak, secp256k1PrivateKeyLength);
  if (!isBelowOrder(tweak)) return undefined;
  return accelerator.privateAdd(privateKey, tweak) ?? undefined;
}

/** The extremes of keys and digests, where implementations differ if they do, and something ordinary. */
const checkedKeys = [
  '0000000000000000000000000000000000000000000000000000000000000001',
  'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140',
  'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721',
];
const checkedDigests = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  toHex(sha256(Buffer.from('latchkey'))),
];

/**
 * Signs fixed digests with the accelerator and with the reference. Called once at start.
 * @param sign Stands in for the accelerator in tests.
 * @param signSchnorr As well.
 * @throws Error on any difference: nothing may be signed then.
 */
export function checkSecp256k1Accelerator(sign = signRecoverable, signSchnorr = signBip340): void {
  checkedKeys.forEach((key, index) => {
    const privateKey = plain(Buffer.from(key, 'hex'));
    if (toHex(publicKeyFromPrivate(privateKey)) !== toHex(reference.getPublicKey(privateKey, true))) {
      throw new Error(
        `secp256k1 self-test: the accelerator's public key ${String(index)} differs from the reference`,
      );
    }
    // The reference takes milliseconds where the accelerator takes microseconds: each key signs two of the digests.
    for (const digest of [index, index + 1].map((at) => checkedDigests[at] ?? '')) {
      const bytes = plain(Buffer.from(digest, 'hex'));
      const { signature, recoveryId } = sign(privateKey, bytes);
      const expected = reference.sign(bytes, privateKey, { prehash: false, format: 'recovered' });
      if (toHex(Uint8Array.of(recoveryId, ...signature)) !== toHex(expected)) {
        throw new Error(
          `secp256k1 self-test: the accelerator's signature of ${digest} by key ${String(index)} differs from the reference`,
        );
      }
    }
  });
  const [privateKey, digest] = [checkedKeys.at(-1), checkedDigests.at(-1)].map((text = '') =>
    plain(Buffer.from(text, 'hex')),
  );
  if (privateKey === undefined || digest === undefined) throw new Error('unreachable: both are there');
  const expected = schnorrReference.sign(digest, privateKey, new Uint8Array(32));
  if (toHex(signSchnorr(privateKey, digest)) !== toHex(expected)) {
    throw new Error("secp256k1 self-test: the accelerator's Schnorr signature differs from the reference");
  }
}

function checkPrivateKey(privateKey: Uint8Array): void {
  checkBytes('privateKey', privateKey, secp256k1PrivateKeyLength);
  if (!accelerator.isPrivate(privateKey)) {
    throw new TypeError('privateKey: expected a secp256k1 scalar from 1 to n-1, got one out of range');
  }
}

/** Ids 2 and 3 stand for an r above the order, which few r allow: the accelerator throws for the others. */
function recover(compact: Uint8Array, recoveryId: 0 | 1 | 2 | 3, digest: Uint8Array): Uint8Array | undefined {
  try {
    return accelerator.recover(digest, compact, recoveryId, true) ?? undefined;
  } catch {
    return undefined;
  }
}

/** The accelerator throws on an r or s of the order and above: they are sorted out before. */
function compactOf(signature: Uint8Array): Uint8Array | undefined {
  if (signature.length !== compactLength) return undefined;
  return isBelowOrder(signature.subarray(0, 32)) && isBelowOrder(signature.subarray(32))
    ? signature
    : undefined;
}

function compactOfDer(signature: Uint8Array): Uint8Array | undefined {
  try {
    return reference.Signature.fromBytes(signature, 'der').toBytes('compact');
  } catch {
    return undefined;
  }
}

const isBelowOrder = (scalar: Uint8Array): boolean => Buffer.compare(scalar, order) < 0;
