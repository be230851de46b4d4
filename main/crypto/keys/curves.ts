/** The curves of keys and accounts, a row each. */
import { checkBytes } from '../bytes.ts';
import { ed25519PublicKey, signEd25519 } from './ed25519.ts';
import { invalid, toHex } from '../encodings.ts';
import { isP256PrivateKey, p256PrivateKeyLength, p256PublicKey, signP256Digest } from './p256.ts';
import { generatePrivateKey } from './scalars.ts';
import {
  isSecp256k1PrivateKey,
  publicKeyFromPrivate,
  secp256k1PrivateKeyLength,
  signBip340,
  signRecoverable,
  taprootPrivateKey,
} from './secp256k1.ts';

export type Curve = 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';

/** Lowercase hex without 0x: r and s of 64 characters each, v of two. */
export interface Signature {
  readonly r: string;
  readonly s: string;
  /** The recovery id, '00' or '01'; '00' where the scheme has none. */
  readonly v: string;
}

export interface CurveEntry {
  /** In bytes. */
  readonly privateKeyLength: number;
  /** In bytes: compressed SEC 1, or the key itself where it has one form only. */
  readonly publicKeyLength: number;
  /**
   * True if `sign` expects a digest of 32 bytes. Otherwise it expects the whole message, and a hash function
   * is refused.
   */
  readonly requiresDigest: boolean;
  /**
   * @param random Answers that many fresh bytes at each call; bytes that are not a private key are replaced
   * by new ones.
   */
  generate(random: (length: number) => Uint8Array): Uint8Array;
  readonly isPrivateKey: (bytes: Uint8Array) => boolean;
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** @throws KeyhearthError INVALID_ARGUMENT for a digest of another length than 32 bytes. */
  readonly sign: (privateKey: Uint8Array, bytes: Uint8Array) => Signature;
}

export const curves: Readonly<Record<Curve, CurveEntry>> = {
  CURVE_SECP256K1: {
    privateKeyLength: secp256k1PrivateKeyLength,
    publicKeyLength: 33,
    requiresDigest: true,
    generate: (random) => generatePrivateKey(random, secp256k1PrivateKeyLength, isSecp256k1PrivateKey),
    isPrivateKey: isSecp256k1PrivateKey,
    publicKey: publicKeyFromPrivate,
    sign(privateKey, digest) {
      checkDigest(digest);
      const { signature, recoveryId } = signRecoverable(privateKey, digest);
      return split(signature, recoveryId);
    },
  },
  CURVE_ED25519: {
    privateKeyLength: 32,
    publicKeyLength: 32,
    requiresDigest: false,
    generate: (random) => generatePrivateKey(random, 32, isSeed),
    isPrivateKey: isSeed,
    publicKey: ed25519PublicKey,
    sign: (privateKey, message) => split(signEd25519(privateKey, message), 0),
  },
  CURVE_P256: {
    privateKeyLength: p256PrivateKeyLength,
    publicKeyLength: 33,
    requiresDigest: true,
    generate: (random) => generatePrivateKey(random, p256PrivateKeyLength, isP256PrivateKey),
    isPrivateKey: isP256PrivateKey,
    publicKey: p256PublicKey,
    sign(privateKey, digest) {
      checkDigest(digest);
      const { signature, recoveryId } = signP256Digest(privateKey, digest);
      return split(signature, recoveryId);
    },
  },
};

/** BIP-340 with a secp256k1 key as it is: r is the x of R. */
export function signSchnorr(privateKey: Uint8Array, digest: Uint8Array): Signature {
  checkDigest(digest);
  return split(signBip340(privateKey, digest), 0);
}

/**
 * BIP-340 with the key that spends the Taproot output of a secp256k1 key (BIP-341).
 * @param scripts The root of the output's scripts, where it has any.
 */
export function signTaproot(privateKey: Uint8Array, digest: Uint8Array, scripts?: Uint8Array): Signature {
  checkDigest(digest);
  const tweaked = taprootPrivateKey(privateKey, scripts);
  try {
    return split(signBip340(tweaked, digest), 0);
  } finally {
    tweaked.fill(0);
  }
}

/** RFC 8032 hashes the private key, so that any 32 bytes are one. */
function isSeed(bytes: Uint8Array): boolean {
  return bytes.length === 32;
}

function checkDigest(bytes: Uint8Array): void {
  checkBytes('digest', bytes);
  if (bytes.length === 32) return;
  throw invalid('payload', `expected a 32-bytes-long digest, got ${String(bytes.length)} bytes`);
}

const split = (signature: Uint8Array, recoveryId: number): Signature => ({
  r: toHex(signature.subarray(0, 32)),
  s: toHex(signature.subarray(32)),
  v: recoveryId.toString(16).padStart(2, '0'),
});
