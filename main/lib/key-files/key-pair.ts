/** A private key out of a file, proven to belong to the public keys beside it. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { areEqual, damaged, refuse } from './byte-reader.ts';

type KeyCurve = 'CURVE_ED25519' | 'CURVE_P256';

export interface KeyPair {
  readonly curve: KeyCurve;
  /** 32 bytes, which the caller erases. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** Ed25519's 32 bytes, or compressed SEC 1. */
  readonly publicKey: Uint8Array;
  /** The comment of the file; empty where the format has none. */
  readonly comment: string;
}

/**
 * @param secret Copied; 32 bytes, or fewer of P-256, high byte first.
 * @param shown The public keys in the file: 32 bytes, or SEC 1.
 * @throws UnreadableKey for other bytes, or where a public key is not its own.
 */
export function keyPair(
  curve: KeyCurve,
  secret: Uint8Array,
  shown: readonly Uint8Array[],
  comment = '',
): KeyPair {
  const copy = new Uint8Array(32);
  try {
    const start = secret.findIndex((byte) => byte !== 0);
    const digits = curve === 'CURVE_P256' ? secret.subarray(start < 0 ? secret.length : start) : secret;
    if (digits.length > 32 || (curve === 'CURVE_ED25519' && digits.length !== 32)) refuse(damaged);
    copy.set(digits, 32 - digits.length);
    if (curve === 'CURVE_P256' && !p256.utils.isValidSecretKey(copy)) refuse(damaged);
    const forms =
      curve === 'CURVE_P256'
        ? [p256.getPublicKey(copy, true), p256.getPublicKey(copy, false)]
        : [ed25519.getPublicKey(copy)];
    if (!shown.every((key) => forms.some((form) => areEqual(form, key)))) {
      refuse('The public key in the file does not belong to the private key. Use another copy of the file.');
    }
    const [publicKey = new Uint8Array()] = forms;
    return { curve, secret: copy, publicKey, comment };
  } catch (error) {
    copy.fill(0);
    throw error;
  }
}
