import { mnemonicToSeedSync } from 'bip39';
import fc from 'fast-check';
import { HDKey } from '@scure/bip32';
import { describe, expect, test } from 'vitest';
import vectors from '../../../test/vectors/bip39.json' with { type: 'json' };
import { KeyhearthError } from '../../lib/errors.ts';
import { decodeHex, toHex } from '../encodings.ts';
import {
  checkMnemonic,
  entropyFromMnemonic,
  entropyLength,
  mnemonicFromEntropy,
  seedFromMnemonic,
  wordCounts,
} from './mnemonics.ts';

const abandon = `${'abandon '.repeat(11)}about`;

describe('BIP-39', () => {
  test('all 24 English ones are there, of 12, 18 and 24 words', () => {
    expect(vectors.english).toHaveLength(24);
    expect(new Set(vectors.english.map(({ mnemonic }) => mnemonic.split(' ').length))).toEqual(
      new Set([12, 18, 24]),
    );
  });

  test.each(vectors.english)('$entropy', ({ entropy, mnemonic, seed, masterKey }) => {
    expect(mnemonicFromEntropy(decodeHex('entropy', entropy))).toBe(mnemonic);
    expect(toHex(entropyFromMnemonic(mnemonic))).toBe(entropy);
    expect(() => {
      checkMnemonic(mnemonic);
    }).not.toThrow();
    const made = seedFromMnemonic(mnemonic, vectors.passphrase);
    expect(toHex(made)).toBe(seed);
    expect(HDKey.fromMasterSeed(made).privateExtendedKey).toBe(masterKey);
  });
});

test.each(wordCounts)('%i words: entropy comes back, many times', (words) => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: entropyLength(words), maxLength: entropyLength(words) }),
      (entropy) => {
        const mnemonic = mnemonicFromEntropy(entropy);
        expect(mnemonic.split(' ')).toHaveLength(words);
        expect(entropyFromMnemonic(mnemonic)).toEqual(entropy);
      },
    ),
    { numRuns: 200 },
  );
});

test('seeds agree with the package, with passphrases of any script', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      fc.string({ unit: 'grapheme' }),
      (entropy, passphrase) => {
        const mnemonic = mnemonicFromEntropy(entropy);
        expect(toHex(seedFromMnemonic(mnemonic, passphrase))).toBe(
          mnemonicToSeedSync(mnemonic, passphrase).toString('hex'),
        );
      },
    ),
    { numRuns: 30 },
  );
}, 60_000);

test('case and white space of the words do not matter; those of the passphrase do', () => {
  const untidy = `  ${abandon.toUpperCase().replaceAll(' ', ' \n')} `;
  expect(seedFromMnemonic(untidy)).toEqual(seedFromMnemonic(abandon));
  expect(toHex(seedFromMnemonic(abandon, 'a'))).not.toBe(toHex(seedFromMnemonic(abandon, 'A ')));
});

test.each([
  ['', 'expected 12, 15, 18, 21 or 24 words, got 0'],
  ['abandon', 'expected 12, 15, 18, 21 or 24 words, got 1'],
  [abandon.replace(' about', ''), 'expected 12, 15, 18, 21 or 24 words, got 11'],
  [
    `${abandon} about about about about about about about about about about about about about`,
    'expected 12, 15, 18, 21 or 24 words, got 25',
  ],
  [abandon.replace('about', 'abuot'), 'word 12 is not in the English word list of BIP-39'],
  [`hunter2 ${abandon.slice(8)}`, 'word 1 is not in the English word list of BIP-39'],
  [`constructor ${abandon.slice(8)}`, 'word 1 is not in the English word list of BIP-39'],
  [
    abandon.replace('about', 'abandon'),
    'the checksum does not match: a word is wrong, or the words are not in their order',
  ],
])('%j is refused', (mnemonic, message) => {
  const expected = new KeyhearthError('INVALID_ARGUMENT', `invalid recoveryPhrase: ${message}`);
  expect(() => {
    checkMnemonic(mnemonic, 'recoveryPhrase');
  }).toThrow(expected);
  expect(() => entropyFromMnemonic(mnemonic, 'recoveryPhrase')).toThrow(expected);
  expect(() => seedFromMnemonic(mnemonic)).toThrow(`invalid mnemonic: ${message}`);
});

test('errors hold no word of the mnemonic', () => {
  const secret = mnemonicFromEntropy(new Uint8Array(32).fill(0xa5)).split(' ');
  for (const wrong of [secret.slice(1), secret.with(3, 'zzzz'), secret.toReversed()]) {
    try {
      checkMnemonic(wrong.join(' '));
      expect.unreachable();
    } catch (error) {
      const text = String(error);
      expect(secret.filter((word) => text.split(/[^a-z]+/).includes(word))).toEqual([]);
      expect(text).not.toContain('zzzz');
    }
  }
});

test('entropy of another length is refused by name', () => {
  for (const length of [0, 12, 15, 17, 36]) {
    expect(() => mnemonicFromEntropy(new Uint8Array(length))).toThrow(
      `entropy: expected 16, 20, 24, 28 or 32 bytes, got ${String(length)}`,
    );
  }
});
