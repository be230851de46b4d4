/**
 * ECDSA over secp256k1 (SEC 2): deterministic nonces (RFC 6979 with SHA-256), low s. libsecp256k1 in WebAssembly does
 * the work several times faster than JavaScript; noble is the reference, whose answers it is checked against at start.
 */
import { secp256k1 as reference } from '@noble/curves/secp256k1.js';
import * as accelerator from 'tiny-secp256k1';
import { checkBytes, concatBytes, asUint8Array } from '../bytes.ts';
import { invalid, toHex } from '../encodings.ts';
import { taggedHash } from '../hashes.ts';

export const secp256k1PrivateKeyLength = 32;
const publicKeyLength = 33;
const digestLength = 32;
const compactLength = 64;

const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

export interface RecoverableSignature {
  /** r and s, 32 bytes each; s is at most half the order. */
  readonly signature: Uint8Array;
  /** 0 or 1; 2 and 3 need an r that has never been found. */
  readonly recoveryId: 0 | 1 | 2 | 3;
}

/** True for 32 bytes in the range 1 to n-1. */
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
  const point = asUint8Array(Buffer.from(publicKey, 'hex'));
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
 * @throws KeyhearthError INVALID_ARGUMENT when no key can have made it.
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
 * @throws KeyhearthError INVALID_ARGUMENT when it is not a point of the curve.
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

/** The reference's answers for one private key; all in hex. */
interface KnownAnswers {
  readonly privateKey: string;
  /** Compressed SEC 1. */
  readonly publicKey: string;
  /** By digest: recovery id, r and s. */
  readonly signatures: Readonly<Record<string, string>>;
}

const ordinaryKey = 'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721';
/** SHA-256 of "keyhearth". */
const ordinaryDigest = '03e759a06bdcbf94112732b9439cf6889f4c7c295159eb1a21c8a0ac7ecb2e42';
const orderDigest = toHex(order);

/** The extremes of keys and digests, where implementations differ if they do, and something ordinary. */
export const knownEcdsa: readonly KnownAnswers[] = [
  {
    privateKey: '0000000000000000000000000000000000000000000000000000000000000001',
    publicKey: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    signatures: {
      ['00'.repeat(32)]:
        '01a0b37f8fba683cc68f6574cd43b39f0343a50008bf6ccea9d13231d9e7e2e1e411edc8d307254296264aebfc3dc76cd8b668373a072fd64665b50000e9fcce52',
      [orderDigest]:
        '01a0b37f8fba683cc68f6574cd43b39f0343a50008bf6ccea9d13231d9e7e2e1e411edc8d307254296264aebfc3dc76cd8b668373a072fd64665b50000e9fcce52',
    },
  },
  {
    privateKey: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140',
    publicKey: '0379be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    signatures: {
      [orderDigest]:
        '00919026f3e239ea52cf530eb6d345dc2b56ef0928f1e9ad20d8f360284dc6504814395e7137e2204f15b69239010f3c34fbb3c858a29b0d106b1fa65bc0047263',
      ['ff'.repeat(32)]:
        '00a7f83b5963eaf5332c633327cc967be8f4166d3f1e0b77f9761d8f4e42211e9a58aae31be1eb1e496923bbe8ca5e843cfb89f4d986d61d4edfd7d6fc3c9cf62c',
    },
  },
  {
    privateKey: ordinaryKey,
    publicKey: '032c8c31fc9f990c6b55e3865a184a4ce50e09481f2eaeb3e60ec1cea13a6ae645',
    signatures: {
      ['ff'.repeat(32)]:
        '000f3dc2db1f3cc8669775d00fbaef097fe5149a11223e1385b78014055a5bb56431956be8f43c54eb558cf3f446c6be775cc7e631ba5b296ed4bc16c065df2976',
      [ordinaryDigest]:
        '00250d233b42d86bf176731a27c0026224b9314e8c8ef2c4041566af0e2873d29f5dde83f509bb34dcbe481b35e61eadb84605cd2d8a062b824a88ca3aa7782c66',
    },
  },
];

/** BIP-340 without randomness; all in hex. */
export const knownSchnorr = {
  privateKey: ordinaryKey,
  digest: ordinaryDigest,
  signature:
    'b7f8c4300b986719f69cd7ced3b75687ec1bd0edbdbe416574cb97d33cc912a473a94cf2037385c431bde89a6693faf020890931ae95ee1a9db47188c00db25d',
} as const;

/**
 * Compares the accelerator with known answers of the reference. Called once at start, and so without the reference itself, which
 * would take a hundred times as long: a test compares the known answers with it.
 * @param sign Stands in for the accelerator in tests.
 * @param signSchnorr As well.
 * @throws Error on any difference: nothing may be signed then.
 */
export function checkSecp256k1Accelerator(sign = signRecoverable, signSchnorr = signBip340): void {
  for (const known of knownEcdsa) {
    const privateKey = bytesOf(known.privateKey);
    if (toHex(publicKeyFromPrivate(privateKey)) !== known.publicKey) {
      throw new Error(
        `secp256k1 self-test: the accelerator's public key ${known.publicKey} differs from the reference`,
      );
    }
    for (const [digest, expected] of Object.entries(known.signatures)) {
      const { signature, recoveryId } = sign(privateKey, bytesOf(digest));
      if (toHex(Uint8Array.of(recoveryId, ...signature)) !== expected) {
        throw new Error(
          `secp256k1 self-test: the accelerator's signature of ${digest} by ${known.publicKey} differs from the reference`,
        );
      }
    }
  }
  const schnorr = signSchnorr(bytesOf(knownSchnorr.privateKey), bytesOf(knownSchnorr.digest));
  if (toHex(schnorr) !== knownSchnorr.signature) {
    throw new Error("secp256k1 self-test: the accelerator's Schnorr signature differs from the reference");
  }
}

const bytesOf = (hex: string): Uint8Array => asUint8Array(Buffer.from(hex, 'hex'));

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
