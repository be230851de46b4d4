/** The curves of credentials' public keys, a row each: what a key must be before it is registered. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { asUint8Array } from '../bytes.ts';
import { invalid } from '../encodings.ts';
import { uncompressP256 } from './p256.ts';
import { uncompressed } from './secp256k1.ts';

export type VerifyingCurve = 'API_KEY_CURVE_P256' | 'API_KEY_CURVE_SECP256K1' | 'API_KEY_CURVE_ED25519';

interface VerifyingKey {
  /** In bytes: compressed SEC 1, or Ed25519's only form. */
  readonly publicKeyLength: number;
  /**
   * @param publicKey Hex in either case, without 0x.
   * @throws KeyhearthError INVALID_ARGUMENT naming the field when the text is not a public key of the curve.
   */
  check(field: string, publicKey: string): void;
}

export const verifyingKeys: Readonly<Record<VerifyingCurve, VerifyingKey>> = {
  API_KEY_CURVE_P256: entry('P-256', 33, uncompressP256),
  API_KEY_CURVE_SECP256K1: entry('secp256k1', 33, uncompressed),
  API_KEY_CURVE_ED25519: entry('Ed25519', 32, (bytes) => {
    // For a point of small order, anyone can forge signatures.
    if (ed25519.Point.fromBytes(bytes).isSmallOrder()) throw new Error('a point of small order');
  }),
};

function entry(name: string, publicKeyLength: number, decode: (bytes: Uint8Array) => unknown): VerifyingKey {
  const form = `${name} public key of ${String(publicKeyLength * 2)} hex characters`;
  return {
    publicKeyLength,
    check(field, publicKey) {
      if (publicKey.length !== publicKeyLength * 2 || !/^[0-9a-f]+$/i.test(publicKey)) {
        throw invalid(field, `expected a ${form}, got ${String(publicKey.length)} characters`);
      }
      try {
        decode(asUint8Array(Buffer.from(publicKey, 'hex')));
      } catch {
        throw invalid(field, `expected a ${form}, got a text that is no usable point of the curve`);
      }
    },
  };
}
