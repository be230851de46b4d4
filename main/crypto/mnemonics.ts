/** Mnemonics (BIP-39), English. Words and checksums are the package's; the seed's PBKDF2 is the platform's, eight times faster. */
import { pbkdf2Sync } from 'node:crypto';
import { entropyToMnemonic, mnemonicToEntropy, wordlists } from 'bip39';
import { checkBytes, plain } from './bytes.ts';
import { invalid } from './encodings.ts';

/** How many words a mnemonic may have. */
export const wordCounts = [12, 15, 18, 21, 24] as const;

export type WordCount = (typeof wordCounts)[number];

const english = wordlists['english'] ?? [];
const englishWords: ReadonlySet<string> = new Set(english);

/** @returns the bytes of entropy behind that many words: 16, 20, 24, 28 or 32. */
export const entropyLength = (words: WordCount): number => (words * 4) / 3;

/** @param entropy 16, 20, 24, 28 or 32 bytes, for 12 to 24 words. */
export function mnemonicFromEntropy(entropy: Uint8Array): string {
  checkBytes('entropy', entropy);
  if (!wordCounts.some((words) => entropyLength(words) === entropy.length)) {
    throw new TypeError(`entropy: expected 16, 20, 24, 28 or 32 bytes, got ${String(entropy.length)}`);
  }
  const copy = Buffer.from(entropy);
  try {
    return entropyToMnemonic(copy, english);
  } finally {
    copy.fill(0);
  }
}

/**
 * @returns 16 to 32 bytes, which the caller erases after use.
 * @throws LatchkeyError INVALID_ARGUMENT as `checkMnemonic` does.
 */
export function entropyFromMnemonic(mnemonic: string, field = 'mnemonic'): Uint8Array {
  const words = normalize(mnemonic, field);
  if (!wordCounts.some((count) => count === words.length)) {
    throw invalid(field, `expected 12, 15, 18, 21 or 24 words, got ${String(words.length)}`);
  }
  const unknown = words.findIndex((word) => !englishWords.has(word));
  if (unknown !== -1)
    throw invalid(field, `word ${String(unknown + 1)} is not in the English word list of BIP-39`);
  try {
    return new Uint8Array(Buffer.from(mnemonicToEntropy(words.join(' '), english), 'hex'));
  } catch {
    throw invalid(field, 'the checksum does not match: a word is wrong, or the words are not in their order');
  }
}

/**
 * Case and white space do not matter.
 * @param field The mnemonic's name in the request, for errors.
 * @throws LatchkeyError INVALID_ARGUMENT naming the number of words, the position of an unknown one, or the checksum; never a word.
 */
export function checkMnemonic(mnemonic: string, field = 'mnemonic'): void {
  entropyFromMnemonic(mnemonic, field).fill(0);
}

/**
 * @param passphrase Taken as it is but for Unicode's NFKD.
 * @returns 64 bytes, which the caller erases after use.
 * @throws LatchkeyError INVALID_ARGUMENT as `checkMnemonic` does.
 */
export function seedFromMnemonic(mnemonic: string, passphrase = ''): Uint8Array {
  checkMnemonic(mnemonic);
  const sentence = normalize(mnemonic, 'mnemonic').join(' ');
  return plain(pbkdf2Sync(sentence, `mnemonic${passphrase.normalize('NFKD')}`, 2048, 64, 'sha512'));
}

function normalize(mnemonic: string, field: string): string[] {
  if (typeof mnemonic !== 'string') throw invalid(field, `expected text, got ${typeof mnemonic}`);
  return mnemonic
    .normalize('NFKD')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}
