import { describe, expect, test } from 'vitest';
import { KeyhearthError } from '../../lib/errors.ts';
import { ed25519PublicKey } from './ed25519.ts';
import { toHex } from '../encodings.ts';
import { p256PublicKey } from './p256.ts';
import { publicKeyFromPrivate } from './secp256k1.ts';
import { verifyingKeys, type VerifyingCurve } from './verifying-keys.ts';

const privateKey = new Uint8Array(32).fill(1);
const good: Record<VerifyingCurve, string> = {
  API_KEY_CURVE_P256: toHex(p256PublicKey(privateKey)),
  API_KEY_CURVE_SECP256K1: toHex(publicKeyFromPrivate(privateKey)),
  API_KEY_CURVE_ED25519: toHex(ed25519PublicKey(privateKey)),
};

describe.each(Object.keys(good) as VerifyingCurve[])('%s', (curve) => {
  const check = (key: string) => () => {
    verifyingKeys[curve].check('parameters.apiKeys[0].publicKey', key);
  };

  test('a key of the curve', () => {
    expect(check(good[curve])).not.toThrow();
    expect(check(good[curve].toUpperCase())).not.toThrow();
    expect(verifyingKeys[curve].publicKeyLength).toBe(good[curve].length / 2);
  });

  test('what is none is refused by name', () => {
    const wrong = [
      '',
      good[curve].slice(2),
      `${good[curve]}00`,
      `0x${good[curve].slice(2)}`,
      'ff'.repeat(good[curve].length / 2),
    ];
    for (const key of wrong) {
      expect(check(key)).toThrow(KeyhearthError);
      expect(check(key)).toThrow(/^invalid parameters\.apiKeys\[0\]\.publicKey: expected a /);
    }
  });
});

test('an x that the curve does not have', () => {
  expect(() => {
    verifyingKeys.API_KEY_CURVE_P256.check('publicKey', `02${'00'.repeat(31)}01`);
  }).toThrow('no usable point of the curve');
  expect(() => {
    verifyingKeys.API_KEY_CURVE_SECP256K1.check('publicKey', `02${'00'.repeat(32)}`);
  }).toThrow('no usable point of the curve');
});

test.each([
  ['zero', '00'.repeat(32)],
  ['the identity', `01${'00'.repeat(31)}`],
  ['order 2', `ec${'ff'.repeat(30)}7f`],
])('Ed25519: a point of small order (%s)', (_, key) => {
  expect(() => {
    verifyingKeys.API_KEY_CURVE_ED25519.check('publicKey', key);
  }).toThrow('no usable point of the curve');
});
