import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fromBase64Url, toHex } from '../../ui/text/bytes.ts';
import type { Curve } from './chains.ts';
import { keyTexts, readKey } from './key-text.ts';

const problem = (text: string, curve: Curve): string => {
  const reading = readKey(text, curve);
  if (reading.ok) throw new Error(`${text} was read`);
  return reading.problem;
};

/** RFC 8032, section 7.1, test 1; in base58 as Solana's wallets write it. */
const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const solana = '49W385L4rePHy6PAaQUovbD2aacgN4HsKXSMeUzRg4fmwXszN91JuMFrQRj3vMDpZuRF3ZknQBuRBoWQJEfXstMw';

describe('reading', () => {
  test.each(['CURVE_SECP256K1', 'CURVE_ED25519'] as const)('64 hex digits are a key of %s', (curve) => {
    for (const text of [seed, seed.toUpperCase(), `0x${seed}`, ` ${seed}\n`]) {
      const reading = readKey(text, curve);
      expect(reading.ok && toHex(reading.bytes)).toBe(seed);
    }
  });

  test('Ed25519 also comes with its public half', () => {
    for (const text of [seed + publicKey, solana]) {
      const reading = readKey(text, 'CURVE_ED25519');
      expect(reading.ok && toHex(reading.bytes)).toBe(seed);
    }
  });

  test('halves that do not belong together are refused', () => {
    expect(problem(seed + seed, 'CURVE_ED25519')).toContain('don’t match');
    expect(problem(solana.replace(/w$/, 'x'), 'CURVE_ED25519')).toContain('don’t match');
  });

  test('what is wrong is said, and the key is not', () => {
    expect(problem('', 'CURVE_SECP256K1')).toContain('Enter the private key');
    expect(problem(seed.slice(1), 'CURVE_SECP256K1')).toContain('this has 63');
    expect(problem(seed.replace('9d', 'xy'), 'CURVE_SECP256K1')).toContain('0–9, a–f');
    for (const text of [seed.slice(1), 'not a key', publicKey.repeat(3)]) {
      expect(problem(text, 'CURVE_ED25519')).toContain('Enter 64 hex digits, or the base58');
      expect(problem(text, 'CURVE_ED25519')).not.toContain(text);
    }
  });
});

describe('writing', () => {
  test('is hex, and base58 of both halves for Ed25519', () => {
    expect(keyTexts(Buffer.from(seed, 'hex'), 'CURVE_SECP256K1')).toEqual([
      ['Private key, hex', seed, 'Copy private key, hex'],
    ]);
    expect(keyTexts(Buffer.from(seed, 'hex'), 'CURVE_ED25519')).toEqual([
      ['Private key, hex', seed, 'Copy private key, hex'],
      ['For Solana wallets, base58', solana, 'Copy private key, base58 for Solana wallets'],
    ]);
  });

  test('its public half is Node’s', () => {
    for (let count = 0; count < 5; count += 1) {
      const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
      const text = keyTexts(fromBase64Url(d), 'CURVE_ED25519')[1]?.[1] ?? '';
      const reading = readKey(text, 'CURVE_ED25519');
      expect(reading.ok && toHex(reading.bytes)).toBe(toHex(fromBase64Url(d)));
      expect(readKey(toHex(fromBase64Url(d)) + toHex(fromBase64Url(x)), 'CURVE_ED25519').ok).toBe(true);
    }
  });
});
