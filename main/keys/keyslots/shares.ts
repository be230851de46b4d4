/**
 * Shares of a recovery phrase: Shamir's secret sharing over its entropy, so that any few of them give the phrase back and
 * fewer say nothing about it.
 *
 * A share is a text in Bech32m (BIP-350), `lkshare1…`, 88 characters long and so within what its checksum promises to
 * find. It holds, in bytes: version 1 | the first 4 of the vault's id | a number of 2 that the shares of one split have in
 * common | how many are needed, and how many there are, in 4 bits each | this share's number | 36 of the polynomials |
 * their common x. What is shared is the entropy (32) and the first 4 bytes of a SHA-256 over it, which tells whether what
 * was put together is whole.
 */
import { hash } from 'node:crypto';
import { bech32m } from '@scure/base';
import { combine, split } from 'shamir-secret-sharing';
import { concatBytes, asUint8Array } from '../../crypto/bytes.ts';
import { decodeHex, invalid, toHex } from '../../crypto/encodings.ts';
import { entropyFromMnemonic, sentenceFromEntropy } from '../../crypto/keys/mnemonics.ts';
import { bytesOfSecret, type SecretText } from '../../crypto/secret-text.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Random } from '../../lib/random.ts';

export interface ShareCounts {
  /** Number of shares that restore the phrase: 2 or more. */
  readonly threshold: number;
  /** Number of shares in all: 10 at most. */
  readonly count: number;
}

export const mostShares = 10;

const prefix = 'lkshare';
const version = 1;
const entropyLength = 32;
const digestLength = 4;
const vaultOffset = 1;
const setOffset = 5;
const countsOffset = 7;
const pointOffset = 9;
const shareLength = pointOffset + entropyLength + digestLength + 1;

/** A share, in any text around it: a page, a file with a note in it. */
const shareText = new RegExp(`\\b${prefix}1[02-9ac-hj-np-z]+`, 'i');

/** @returns the share that a text holds, or the text itself, which then is refused for what it is. */
export const findShare = (text: string): string => shareText.exec(text)?.[0] ?? text.trim();

interface Share {
  /** Hex of the first bytes of the vault's id. */
  readonly vault: string;
  readonly set: string;
  readonly threshold: number;
  readonly number: number;
  /** As the library takes it. */
  readonly point: Uint8Array;
}

/**
 * @param phrase 24 words.
 * @param vaultId A UUID.
 * @returns The shares, in the order of their numbers.
 * @throws KeyhearthError INVALID_ARGUMENT naming what is wrong with the phrase or the numbers.
 */
export async function sharesFromPhrase(
  phrase: SecretText,
  vaultId: string,
  { threshold, count }: ShareCounts,
  random: Random,
): Promise<string[]> {
  if (!Number.isInteger(count) || count < 2 || count > mostShares) {
    throw invalid('shares', `expected 2 to ${mostShares} shares, got ${count}`);
  }
  if (!Number.isInteger(threshold) || threshold < 2 || threshold > count) {
    throw invalid('threshold', `expected 2 to ${count}, the number of shares, got ${threshold}`);
  }
  const entropy = entropyFromMnemonic(phrase, 'recovery phrase');
  const secret = concatBytes(entropy, digestOf(entropy));
  try {
    if (entropy.length !== entropyLength) throw invalid('recovery phrase', 'expected 24 words');
    const points = await split(secret, count, threshold);
    const head = concatBytes(
      Uint8Array.of(version),
      vaultBytes(vaultId),
      random('share set', 2),
      Uint8Array.of((threshold << 4) | count),
    );
    return points.map((point, index) => {
      const bytes = concatBytes(head, Uint8Array.of(index + 1), point);
      point.fill(0);
      return bech32m.encode(prefix, bech32m.toWords(bytes));
    });
  } finally {
    entropy.fill(0);
    secret.fill(0);
  }
}

/**
 * Combines shares; more of them than needed are allowed.
 * @param vaultId The vault of the shares, if it is known.
 * @returns The recovery phrase, in bytes that the caller erases after use.
 * @throws KeyhearthError WRONG_SECRET naming the share that does not fit and why, never the share.
 */
export async function phraseFromShares(texts: readonly SecretText[], vaultId?: string): Promise<Uint8Array> {
  const shares = texts.map(readShare);
  const [first] = shares;
  if (first === undefined) throw unfit('shares', 'expected two or more, got none');
  const expected = vaultId === undefined ? first.vault : toHex(vaultBytes(vaultId));
  for (const [index, share] of shares.entries()) {
    if (share.vault !== expected) {
      throw unfit(
        nameOf(index),
        vaultId === undefined
          ? `it is of the vault ${share.vault}…, and the first is of the vault ${expected}…`
          : `it is of the vault ${share.vault}…, and this vault is ${expected}…`,
      );
    }
    if (share.set !== first.set || share.threshold !== first.threshold) {
      throw unfit(
        nameOf(index),
        'it was made at another time than the first: shares work with those of their own set',
      );
    }
    const twin = shares.findIndex(({ number }) => number === share.number);
    if (twin !== index) {
      throw unfit(nameOf(index), `it is number ${share.number}, and so is the one at ${twin + 1}`);
    }
  }
  if (shares.length < first.threshold) {
    throw unfit(
      'shares',
      `${first.threshold} are needed, and ${shares.length === 1 ? 'here is one' : `here are ${shares.length}`}`,
    );
  }
  return assemble(shares.map(({ point }) => point));
}

async function assemble(points: Uint8Array[]): Promise<Uint8Array> {
  const secret = await combined(points);
  for (const point of points) point.fill(0);
  const entropy = secret.slice(0, entropyLength);
  try {
    if (!Buffer.from(digestOf(entropy)).equals(secret.subarray(entropyLength))) throw doNotFit();
    return sentenceFromEntropy(entropy);
  } finally {
    entropy.fill(0);
    secret.fill(0);
  }
}

async function combined(points: Uint8Array[]): Promise<Uint8Array> {
  try {
    return await combine(points);
  } catch (error) {
    // Two shares at one x, which no split makes.
    throw doNotFit(error);
  }
}

const doNotFit = (cause?: unknown): KeyhearthError =>
  new KeyhearthError(
    'WRONG_SECRET',
    'invalid shares: put together they give no recovery phrase, so one of them is not what it says',
    { cause },
  );

function readShare(share: SecretText, index: number): Share {
  // The checksum's library reads texts alone: a share is a string for that long.
  const given = bytesOfSecret(nameOf(index), share);
  const bytes = decodeShare(Buffer.from(given.buffer).toString('utf8'), index);
  given.fill(0);
  const [, , , , , , , counts = 0, number = 0] = bytes;
  const [threshold, count] = [counts >> 4, counts & 15];
  if (threshold < 2 || threshold > count || number < 1 || number > count || count > mostShares) {
    throw unfit(
      nameOf(index),
      `it says that it is number ${number} of ${count}, of which ${threshold} are needed`,
    );
  }
  const read = {
    vault: toHex(bytes.subarray(vaultOffset, setOffset)),
    set: toHex(bytes.subarray(setOffset, countsOffset)),
    threshold,
    number,
    point: bytes.slice(pointOffset),
  };
  bytes.fill(0);
  return read;
}

function decodeShare(text: string, index: number): Uint8Array {
  const trimmed = text.replaceAll(/\s+/g, '');
  if (!trimmed.toLowerCase().startsWith(`${prefix}1`)) {
    throw unfit(
      nameOf(index),
      `expected a text that begins with ${prefix}1, got ${trimmed.length} characters`,
    );
  }
  let bytes: Uint8Array;
  try {
    bytes = bech32m.decodeToBytes(trimmed).bytes;
  } catch {
    // The library quotes what it was given.
    throw unfit(nameOf(index), 'its checksum does not match: a character is wrong, missing or too many');
  }
  if (bytes[0] !== version) {
    throw unfit(nameOf(index), `its version is ${bytes[0] ?? 'missing'}, and this program reads ${version}`);
  }
  if (bytes.length !== shareLength) {
    throw unfit(nameOf(index), `expected ${shareLength} bytes, got ${bytes.length}`);
  }
  return bytes;
}

/** Shares that are none, or do not belong together, open nothing: that is what they are refused for. */
const unfit = (field: string, problem: string): KeyhearthError =>
  new KeyhearthError('WRONG_SECRET', invalid(field, problem).message);

const nameOf = (index: number): string => `share at ${index + 1}`;

const vaultBytes = (vaultId: string): Uint8Array =>
  decodeHex('vault id', vaultId.replaceAll('-', '').slice(0, 2 * (setOffset - vaultOffset)), 4);

const digestOf = (entropy: Uint8Array): Uint8Array =>
  asUint8Array(hash('sha256', concatBytes(Buffer.from('latchkey recovery shares'), entropy), 'buffer')).slice(
    0,
    digestLength,
  );
