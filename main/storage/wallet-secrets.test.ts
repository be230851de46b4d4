import { randomBytes } from 'node:crypto';
import { mnemonicToSeedSync } from 'bip39';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import vectors from '../../test/vectors/bip39.json' with { type: 'json' };
import { decodeHex, toHex } from '../crypto/encodings.ts';
import { mnemonicFromEntropy } from '../crypto/keys/mnemonics.ts';
import type { WalletRow } from './tables/wallets.ts';
import { Keyring } from '../keys/keyring.ts';
import { systemClock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import {
  phraseBytes,
  readPhrase,
  seedOf,
  walletContext,
  withSeed,
  type WalletPhrase,
} from './wallet-secrets.ts';

const abandon = `${'abandon '.repeat(11)}about`;
const field = 'parameters.encryptedBundle';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'));
const text = (secret: Uint8Array): string => Buffer.from(secret).toString('utf8');
/** A phrase as texts, which are compared and read more easily. */
interface Texts {
  readonly mnemonic: string;
  readonly passphrase: string;
}
const phraseOf = ({ mnemonic, passphrase }: Texts): WalletPhrase => ({
  mnemonic: bytes(mnemonic),
  passphrase: bytes(passphrase),
});
const read = (imported: string): Texts => {
  const { mnemonic, passphrase } = readPhrase(bytes(imported), field);
  return { mnemonic: text(mnemonic), passphrase: text(passphrase) };
};

/** Words and passphrases as people may have them: any script, lines, and what looks like the separator. */
const phrases = fc.record({
  mnemonic: fc.uint8Array({ minLength: 16, maxLength: 16 }).map(mnemonicFromEntropy),
  passphrase: fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc
      .array(fc.constantFrom('\n', '--PASS--', ' ', 'abandon', 'é', '\r\n', '𝛑'), { maxLength: 8 })
      .map((parts) => parts.join('')),
  ),
});

describe('readPhrase', () => {
  test('takes a mnemonic alone', () => {
    expect(read(abandon)).toEqual({ mnemonic: abandon, passphrase: '' });
  });

  test('takes case, white space and Unicode form off the mnemonic', () => {
    const fullWidth = abandon.replace('about', 'ａｂｏｕｔ');
    for (const untidy of [
      `  ${abandon.toUpperCase()}\n`,
      abandon.replaceAll(' ', ' \t '),
      abandon.replaceAll(' ', '\n'),
      abandon.replaceAll(' ', '\r\n'),
      abandon.replaceAll(' ', '\u3000'),
      fullWidth,
    ]) {
      expect(read(untidy)).toEqual({ mnemonic: abandon, passphrase: '' });
    }
  });

  test('takes the passphrase to the letter, from the first separator on', () => {
    for (const passphrase of [
      'TREZOR',
      ' ',
      ' Two  Spaces ',
      'line\nline\n',
      'a\n--PASS--\nb',
      '--PASS--',
      'é',
      'e\u0301',
    ]) {
      expect(read(`${abandon}\n--PASS--\n${passphrase}`)).toEqual({ mnemonic: abandon, passphrase });
    }
    expect(read(`${abandon}\n--PASS--\n`).passphrase).toBe('');
  });

  test('the imported form of any phrase is that phrase', () => {
    fc.assert(
      fc.property(phrases, ({ mnemonic, passphrase }) => {
        expect(read(`${mnemonic}\n--PASS--\n${passphrase}`)).toEqual({ mnemonic, passphrase });
      }),
    );
  });

  test.each([
    ['nothing', '', 'expected 12, 15, 18, 21 or 24 words, got 0'],
    ['white space', ' \n ', 'expected 12, 15, 18, 21 or 24 words, got 0'],
    ['a passphrase without words', '\n--PASS--\nsesame', 'expected 12, 15, 18, 21 or 24 words, got 0'],
    ['eleven words', abandon.replace(' about', ''), 'expected 12, 15, 18, 21 or 24 words, got 11'],
    [
      'a passphrase behind a bare line end',
      `${abandon}\nsesame`,
      'expected 12, 15, 18, 21 or 24 words, got 13',
    ],
    [
      'a word of no list',
      abandon.replace('about', 'sesame'),
      'word 12 is not in the English word list of BIP-39',
    ],
    [
      'a word of another list',
      abandon.replace('abandon', 'abaco'),
      'word 1 is not in the English word list of BIP-39',
    ],
    ['words in another order', `about ${'abandon '.repeat(11)}`, 'the checksum does not match'],
  ])('refuses %s and says what is wrong, never a word', (_name, imported, problem) => {
    const error = thrownBy(() => read(imported));
    expect(error).toBeInstanceOf(KeyhearthError);
    const { code, message, cause } = error as KeyhearthError;
    expect(code).toBe('INVALID_ARGUMENT');
    expect(cause).toBeUndefined();
    expect(message.startsWith(`invalid ${field}: `), message).toBe(true);
    expect(message).toContain(problem);
    expect(message).not.toMatch(/abandon|about|sesame|abaco/);
  });

  test('refuses bytes that are not text, in every field', () => {
    const problem = { code: 'INVALID_ARGUMENT', message: `invalid ${field}: expected UTF-8 text in it` };
    const broken = [
      new Uint8Array(randomBytes(32)).fill(0xff, 0, 4),
      Uint8Array.of(...bytes(abandon), 0xc3),
      // Read leniently, two different passphrases would be the same wallet.
      Uint8Array.of(...bytes(`${abandon}\n--PASS--\n`), 0xff),
    ];
    for (const secret of broken) expect(thrownBy(() => readPhrase(secret, field))).toMatchObject(problem);
  });
});

describe('seedOf', () => {
  test.each(vectors.english)('$entropy', ({ mnemonic, seed }) => {
    expect(toHex(seedOf(phraseOf({ mnemonic, passphrase: vectors.passphrase })))).toBe(seed);
    const imported = read(`${mnemonic}\n--PASS--\n${vectors.passphrase}`);
    expect(toHex(seedOf(phraseOf(imported)))).toBe(seed);
  });

  test('an empty passphrase is none, as BIP-39 has it', () => {
    expect(toHex(seedOf(phraseOf({ mnemonic: abandon, passphrase: '' })))).toBe(
      mnemonicToSeedSync(abandon).toString('hex'),
    );
  });
});

describe('what is sealed', () => {
  const keyrings: Keyring[] = [];
  // A keyring that holds opened keys has a timer.
  afterEach(() => {
    for (const keyring of keyrings.splice(0)) keyring.lock();
  });

  const newKeyring = (): Keyring => {
    const keyring = new Keyring({
      random: (_purpose, length) => new Uint8Array(randomBytes(length)),
      clock: systemClock,
    });
    keyring.unlock(decodeHex('master key', '42'.repeat(32)));
    keyrings.push(keyring);
    return keyring;
  };

  const walletOf = (keyring: Keyring, phrase: Texts, id = 'wallet'): WalletRow => ({
    id,
    organizationId: 'organization',
    name: 'Wallet',
    sealed: keyring.seal(
      walletContext({ id, organizationId: 'organization' }),
      phraseBytes(phraseOf(phrase)),
    ),
    exported: 0,
    imported: 1,
    createdAt: 0,
    updatedAt: 0,
  });

  test('is the mnemonic and, only where there is one, the passphrase on a line of its own', () => {
    expect(text(phraseBytes(phraseOf({ mnemonic: abandon, passphrase: '' })))).toBe(abandon);
    expect(text(phraseBytes(phraseOf({ mnemonic: abandon, passphrase: 'TREZOR' })))).toBe(
      `${abandon}\nTREZOR`,
    );
    expect(text(phraseBytes(phraseOf({ mnemonic: abandon, passphrase: 'a\nb\n' })))).toBe(
      `${abandon}\na\nb\n`,
    );
  });

  test('opens to the seed of the phrase that went in', () => {
    const keyring = newKeyring();
    fc.assert(
      fc.property(phrases, (phrase) => {
        const opened = withSeed(keyring, walletOf(keyring, phrase), toHex);
        expect(opened).toBe(mnemonicToSeedSync(phrase.mnemonic, phrase.passphrase).toString('hex'));
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  test('opens in its own row only', () => {
    const keyring = newKeyring();
    const wallet = walletOf(keyring, { mnemonic: abandon, passphrase: '' });
    for (const moved of [{ id: 'another' }, { organizationId: 'another' }]) {
      expect(thrownBy(() => withSeed(keyring, { ...wallet, ...moved }, toHex))).toMatchObject({
        code: 'INTERNAL',
      });
    }
  });

  test('does not open while the vault is locked', () => {
    const keyring = newKeyring();
    const wallet = walletOf(keyring, { mnemonic: abandon, passphrase: '' });
    keyring.lock();
    expect(thrownBy(() => withSeed(keyring, wallet, toHex))).toMatchObject({ code: 'VAULT_LOCKED' });
  });

  test('is wiped after use, and after a use that fails', () => {
    const keyring = newKeyring();
    const wallet = walletOf(keyring, { mnemonic: abandon, passphrase: 'TREZOR' });
    const wiped = new Uint8Array(64);
    expect(withSeed(keyring, wallet, (seed) => seed)).toEqual(wiped);
    let kept: Uint8Array = new Uint8Array();
    const failing = (): never =>
      withSeed(keyring, wallet, (seed) => {
        kept = seed;
        throw new RangeError('no such path');
      });
    expect(failing).toThrow(RangeError);
    expect(kept).toEqual(wiped);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
