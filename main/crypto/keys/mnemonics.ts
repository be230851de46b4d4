/**
 * Mnemonics (BIP-39), English, as bytes: words are found and written without a string of the phrase. The word list is the
 * package's; the seed's PBKDF2 is the platform's, eight times faster.
 */
import { hash, pbkdf2Sync } from 'node:crypto';
import { wordlists } from 'bip39';
import { once } from '../../lib/once.ts';
import { checkBytes, asUint8Array } from '../bytes.ts';
import { invalid } from '../encodings.ts';
import { bytesOfSecret, copyOfBytes, normalized, ownBytes, type SecretText } from '../secret-text.ts';

/** Allowed numbers of words in a mnemonic. */
export const wordCounts = [12, 15, 18, 21, 24] as const;

export type WordCount = (typeof wordCounts)[number];

/** In the list's order, which is that of their bytes. */
const english: readonly Uint8Array[] = (wordlists['english'] ?? []).map((word) =>
  Buffer.from(word, 'latin1'),
);
const nothing = new Uint8Array(0);
const bitsOfWord = 11;
const longestWord = 8;
const space = 0x20;

/** @returns the bytes of entropy behind that many words: 16, 20, 24, 28 or 32. */
export const entropyLength = (words: WordCount): number => (words * 4) / 3;

const orList = once(() => new Intl.ListFormat('en-GB', { type: 'disjunction' }));

const isWordCount = (count: number): count is WordCount => wordCounts.some((known) => known === count);

/** @param entropy 16, 20, 24, 28 or 32 bytes, for 12 to 24 words. */
export function mnemonicFromEntropy(entropy: Uint8Array): string {
  const sentence = sentenceFromEntropy(entropy);
  try {
    return Buffer.from(sentence.buffer).toString('latin1');
  } finally {
    sentence.fill(0);
  }
}

/**
 * @param entropy 16, 20, 24, 28 or 32 bytes, for 12 to 24 words.
 * @returns The words with a space between them, which the caller erases after use.
 */
export function sentenceFromEntropy(entropy: Uint8Array): Uint8Array<ArrayBuffer> {
  checkBytes('entropy', entropy);
  const count = (entropy.length * 3) / 4;
  if (!isWordCount(count)) {
    throw new TypeError(`entropy: expected 16, 20, 24, 28 or 32 bytes, got ${String(entropy.length)}`);
  }
  const bits = withChecksum(entropy);
  const words = Array.from({ length: count }, (_, at) => english[readWord(bits, at)] ?? nothing);
  bits.fill(0);
  const sentence = ownBytes(words.reduce((length, word) => length + word.length + 1, -1)).fill(space);
  let offset = 0;
  for (const word of words) {
    sentence.set(word, offset);
    offset += word.length + 1;
  }
  return sentence;
}

/**
 * @param counts How many words it may have.
 * @returns 16 to 32 bytes, which the caller erases after use.
 * @throws KeyhearthError INVALID_ARGUMENT as `checkMnemonic` does.
 */
export function entropyFromMnemonic(
  mnemonic: SecretText,
  field = 'mnemonic',
  counts: readonly WordCount[] = wordCounts,
): Uint8Array<ArrayBuffer> {
  const bytes = bytesOfSecret(field, mnemonic);
  const tidy = tidied(bytes);
  bytes.fill(0);
  try {
    return readTidied(tidy, field, counts);
  } finally {
    tidy.fill(0);
  }
}

/** @param tidy Words in small letters, each with a space behind it. */
function readTidied(tidy: Uint8Array, field: string, counts: readonly WordCount[]): Uint8Array<ArrayBuffer> {
  const found = tidy.reduce((spaces, byte) => (byte === space ? spaces + 1 : spaces), 0);
  const count = counts.find((known) => known === found);
  if (count === undefined) {
    throw invalid(field, `expected ${orList().format(counts.map(String))} words, got ${String(found)}`);
  }
  const length = entropyLength(count);
  // The bits after the entropy are the checksum.
  const bits = ownBytes(length + 1);
  try {
    for (let word = 0, from = 0; word < count; word += 1) {
      const to = tidy.indexOf(space, from);
      const index = indexOfWord(tidy.subarray(from, to));
      if (index === -1) {
        throw invalid(field, `word ${String(word + 1)} is not in the English word list of BIP-39`);
      }
      writeWord(bits, word, index);
      from = to + 1;
    }
    const entropy = copyOfBytes(bits.subarray(0, length));
    const expected = withChecksum(entropy);
    const isRight = expected[length] === bits[length];
    expected.fill(0);
    if (isRight) return entropy;
    entropy.fill(0);
    throw invalid(field, 'the checksum does not match: a word is wrong, or the words are not in their order');
  } finally {
    bits.fill(0);
  }
}

/**
 * Case and white space do not matter.
 * @param field The mnemonic's name in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT naming the number of words, the position of an unknown one, or the checksum; never a word.
 */
export function checkMnemonic(mnemonic: SecretText, field = 'mnemonic'): void {
  entropyFromMnemonic(mnemonic, field).fill(0);
}

/**
 * @param passphrase Taken as it is but for Unicode's NFKD.
 * @returns 64 bytes, which the caller erases after use.
 * @throws KeyhearthError INVALID_ARGUMENT as `checkMnemonic` does.
 */
export function seedFromMnemonic(mnemonic: SecretText, passphrase: SecretText = ''): Uint8Array {
  const entropy = entropyFromMnemonic(mnemonic);
  const sentence = sentenceFromEntropy(entropy);
  entropy.fill(0);
  const given = bytesOfSecret('passphrase', passphrase);
  const suffix = normalized(given, 'NFKD');
  const salt = ownBytes(saltPrefix.length + suffix.length);
  salt.set(saltPrefix);
  salt.set(suffix, saltPrefix.length);
  try {
    return asUint8Array(pbkdf2Sync(sentence, salt, 2048, 64, 'sha512'));
  } finally {
    for (const secret of [sentence, given, suffix, salt]) secret.fill(0);
  }
}

/**
 * Compares a word with the one at a position of a sentence, ignoring case and surrounding white space.
 * @param sentence Words with a space between them.
 * @param position Counts from 1.
 */
export function hasWordAt(sentence: Uint8Array, position: number, word: SecretText): boolean {
  const given = bytesOfSecret('word', word);
  const tidy = tidied(given);
  try {
    let start = 0;
    for (let left = position - 1; left > 0; left -= 1) {
      const at = sentence.indexOf(space, start);
      if (at === -1) return false;
      start = at + 1;
    }
    const next = sentence.indexOf(space, start);
    const end = next === -1 ? sentence.length : next;
    return Buffer.compare(sentence.subarray(start, end), tidy.subarray(0, -1)) === 0;
  } finally {
    given.fill(0);
    tidy.fill(0);
  }
}

const saltPrefix = Buffer.from('mnemonic', 'latin1');

/** The entropy, and in a byte behind it as many bits of its hash as BIP-39 takes, from the top. */
function withChecksum(entropy: Uint8Array): Uint8Array<ArrayBuffer> {
  const bits = ownBytes(entropy.length + 1);
  bits.set(entropy);
  const digest = hash('sha256', entropy, 'buffer');
  bits[entropy.length] = (digest[0] ?? 0) & (0xff00 >> (entropy.length / 4));
  digest.fill(0);
  return bits;
}

function readWord(bits: Uint8Array, at: number): number {
  let index = 0;
  for (let bit = at * bitsOfWord; bit < (at + 1) * bitsOfWord; bit += 1) {
    index = (index << 1) | (((bits[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
  }
  return index;
}

function writeWord(bits: Uint8Array, at: number, index: number): void {
  for (let offset = 0; offset < bitsOfWord; offset += 1) {
    const bit = at * bitsOfWord + offset;
    const value = (index >> (bitsOfWord - 1 - offset)) & 1;
    bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (value << (7 - (bit & 7)));
  }
}

/** @returns -1 where the list does not have it. */
function indexOfWord(word: Uint8Array): number {
  let [from, to] = [0, english.length - 1];
  while (from <= to) {
    const middle = (from + to) >> 1;
    const order = Buffer.compare(word, english[middle] ?? nothing);
    if (order === 0) return middle;
    if (order < 0) to = middle - 1;
    else from = middle + 1;
  }
  return -1;
}

/**
 * Writes words in small letters, each with one space behind it. What follows the length of the longest word is left out:
 * such a word is in no list, whatever it goes on with.
 * @param text UTF-8.
 */
function tidied(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const tidy = ownBytes(text.length + 1);
  let [length, ofWord] = [0, 0];
  const endWord = (): void => {
    if (ofWord > 0) tidy[length++] = space;
    ofWord = 0;
  };
  const add = (byte: number): void => {
    if (byte === space || (byte >= 0x09 && byte <= 0x0d)) endWord();
    else if (ofWord++ <= longestWord) tidy[length++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
  };
  for (let at = 0; at < text.length;) {
    const size = sizeOfCharacter(text[at] ?? 0);
    if (size === 1) add(text[at] ?? 0);
    else for (const unit of foldedCharacter(text.subarray(at, at + size))) add(unit);
    at += size;
  }
  endWord();
  const result = copyOfBytes(tidy.subarray(0, length));
  tidy.fill(0);
  return result;
}

const sizeOfCharacter = (first: number): number =>
  first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

/** One character beyond ASCII, as the letters and blanks that it stands for, or as one that no word has. */
function* foldedCharacter(character: Uint8Array): Generator<number, void, undefined> {
  for (const unit of Buffer.from(character).toString('utf8').normalize('NFKD').toLowerCase()) {
    if (/\s/.test(unit)) yield space;
    else yield unit < '\u0080' ? unit.charCodeAt(0) : noLetter;
  }
}

/** No word of the list has it, and no blank is it. */
const noLetter = 0x7f;
