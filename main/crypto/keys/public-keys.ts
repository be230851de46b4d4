/** Public keys as text that names a key. */
import type { Curve } from './curves.ts';
import { toHex } from '../encodings.ts';

/**
 * Reads hex in either case, with or without 0x: compressed or uncompressed SEC 1, or 32 bytes of Ed25519. Nothing is said
 * of whether it is a point of a curve: it is compared with keys that are.
 * @returns each curve that it may be of, with the key as it is kept: compressed, lowercase hex; none for any other text.
 */
export function readPublicKey(text: string): readonly (readonly [Curve, string])[] {
  const hex = text.replace(/^0x/i, '').toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hex)) return [['CURVE_ED25519', hex]];
  const compressed = /^0[23][0-9a-f]{64}$/.test(hex) ? hex : compress(hex);
  if (compressed === undefined) return [];
  return [
    ['CURVE_SECP256K1', compressed],
    ['CURVE_P256', compressed],
  ];
}

function compress(hex: string): string | undefined {
  if (!/^04[0-9a-f]{128}$/.test(hex)) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  return toHex(Uint8Array.of((bytes[64] ?? 0) % 2 === 0 ? 2 : 3, ...bytes.subarray(1, 33)));
}
