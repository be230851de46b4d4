import { expect, test } from 'vitest';
import { curves } from './curves.ts';
import { toHex } from '../encodings.ts';
import { uncompressP256 } from './p256.ts';
import { readPublicKey } from './public-keys.ts';
import { uncompressed } from './secp256k1.ts';

test('keys of both parities, in every form', () => {
  for (let at = 1; at <= 8; at++) {
    const privateKey = new Uint8Array(32).fill(at);
    const secp256k1 = curves.CURVE_SECP256K1.publicKey(privateKey);
    const p256 = curves.CURVE_P256.publicKey(privateKey);
    for (const [key, long] of [
      [secp256k1, uncompressed(secp256k1)],
      [p256, uncompressP256(p256)],
    ] as const) {
      for (const text of [toHex(key), toHex(long), `0x${toHex(key)}`, toHex(long).toUpperCase()]) {
        expect(readPublicKey(text)).toEqual([
          ['CURVE_SECP256K1', toHex(key)],
          ['CURVE_P256', toHex(key)],
        ]);
      }
    }
    const ed25519 = toHex(curves.CURVE_ED25519.publicKey(privateKey));
    expect(readPublicKey(ed25519.toUpperCase())).toEqual([['CURVE_ED25519', ed25519]]);
  }
});

test.each([
  '',
  '0x',
  'key',
  '02'.repeat(34),
  `05${'11'.repeat(32)}`,
  '11'.repeat(31),
  `04${'11'.repeat(63)}`,
])('%j is none', (text) => {
  expect(readPublicKey(text)).toEqual([]);
});
