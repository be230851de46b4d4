import { randomBytes } from 'node:crypto';
import { bech32m } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mnemonicFromEntropy } from '../../crypto/keys/mnemonics.ts';
import type { Random } from '../../lib/random.ts';
import { findShare, phraseFromShares, sharesFromPhrase } from './shares.ts';

const random: Random = (_purpose, length) => Uint8Array.from(randomBytes(length));
const vaultId = '123e4567-e89b-42d3-a456-426614174000';
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const newPhrase = (): string => mnemonicFromEntropy(random('test', 32));
const phrase = newPhrase();
const twoOfThree = { threshold: 2, count: 3 };
const shares = await sharesFromPhrase(phrase, vaultId, twoOfThree, random);

/** As a secret that opens nothing, unless another code is named. */
const refused = (message: RegExp, code = 'WRONG_SECRET'): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as unknown });

/** Every way to take some of a list, in its order. */
const subsets = <T>(list: readonly T[]): T[][] =>
  list.reduce<T[][]>((all, each) => [...all, ...all.map((some) => [...some, each])], [[]]);

/** A share whose bytes were changed, and its checksum with them. */
function forged(share: string, change: (bytes: Uint8Array) => Uint8Array | undefined): string {
  const bytes = Uint8Array.from(bech32m.decodeToBytes(share).bytes);
  return bech32m.encode('lkshare', bech32m.toWords(change(bytes) ?? bytes), false);
}

describe('shares of a phrase', () => {
  test('are 88 characters each, and begin alike', () => {
    expect(shares.map((share) => share.length)).toEqual([88, 88, 88]);
    for (const share of shares) expect(share).toMatch(/^lkshare1qyfru3t8[02-9ac-hj-np-z]{72}$/);
    expect(new Set(shares).size).toBe(3);
  });

  test('give the phrase back: every subset that is large enough, of every split up to five', async () => {
    for (let count = 2; count <= 5; count += 1) {
      for (let threshold = 2; threshold <= count; threshold += 1) {
        const secret = newPhrase();
        const made = await sharesFromPhrase(secret, vaultId, { threshold, count }, random);
        expect(made).toHaveLength(count);
        for (const some of subsets(made)) {
          if (some.length >= threshold) {
            expect(textOf(await phraseFromShares([...some].reverse(), vaultId))).toBe(secret);
          } else if (some.length > 0) {
            await expect(phraseFromShares(some)).rejects.toEqual(
              refused(new RegExp(`^invalid shares: ${String(threshold)} are needed`)),
            );
          }
        }
      }
    }
  });

  test('up to ten of ten', async () => {
    const made = await sharesFromPhrase(phrase, vaultId, { threshold: 10, count: 10 }, random);
    expect(textOf(await phraseFromShares(made))).toBe(phrase);
    await expect(phraseFromShares(made.slice(1))).rejects.toEqual(refused(/10 are needed, and here are 9$/));
  });

  test('are taken in capitals, with white space, and from the text around them', async () => {
    const [first = '', , third = ''] = shares;
    const typed = `  ${third.toUpperCase().replaceAll(/(.{4})/g, '$1 ')}\n`;
    expect(textOf(await phraseFromShares([typed, first]))).toBe(phrase);
    expect(findShare(`Share 1 of 3: ${first}.\n`)).toBe(first);
    expect(findShare(`<code>${first.toUpperCase()}</code>`)).toBe(first.toUpperCase());
    expect(findShare(' nothing \n')).toBe('nothing');
  });

  test('fewer than needed say nothing: what is shared is spread evenly over every byte', async () => {
    // Of one phrase, many splits: a byte of a first share takes every value, whatever the phrase.
    const seen = Array.from({ length: 36 }, () => new Set<number>());
    for (let count = 0; count < 6000; count += 1) {
      const [first = ''] = await sharesFromPhrase(
        'abandon '.repeat(23).concat('art'),
        vaultId,
        twoOfThree,
        random,
      );
      const bytes = bech32m.decodeToBytes(first).bytes.subarray(9, 45);
      for (const [index, byte] of bytes.entries()) seen[index]?.add(byte);
    }
    expect(seen.every(({ size }) => size === 256)).toBe(true);
  });
});

describe('what is refused', () => {
  test.each<[number, number, RegExp]>([
    [2, 1, /^invalid shares: expected 2 to 10 shares, got 1$/],
    [2, 11, /^invalid shares: expected 2 to 10 shares, got 11$/],
    [1, 3, /^invalid threshold: expected 2 to 3, the number of shares, got 1$/],
    [4, 3, /^invalid threshold: expected 2 to 3, the number of shares, got 4$/],
    [2.5, 3, /^invalid threshold: /],
    [2, Number.NaN, /^invalid shares: /],
  ])('a split into %s of %s', async (threshold, count, message) => {
    await expect(sharesFromPhrase(phrase, vaultId, { threshold, count }, random)).rejects.toEqual(
      refused(message, 'INVALID_ARGUMENT'),
    );
  });

  test('a phrase of another length, or none', async () => {
    for (const wrong of [mnemonicFromEntropy(random('test', 16)), 'no phrase']) {
      await expect(sharesFromPhrase(wrong, vaultId, twoOfThree, random)).rejects.toEqual(
        refused(/^invalid recovery phrase: /, 'INVALID_ARGUMENT'),
      );
    }
  });

  test('the same share twice', async () => {
    const [first = '', second = ''] = shares;
    await expect(phraseFromShares([first, first])).rejects.toEqual(
      refused(/^invalid share at 2: it is number 1, and so is the one at 1$/),
    );
    await expect(phraseFromShares([first, second, first])).rejects.toEqual(refused(/^invalid share at 3: /));
  });

  test('shares of two splits, though of one phrase', async () => {
    let again = await sharesFromPhrase(phrase, vaultId, twoOfThree, random);
    // The number of a split has 16 bits: two are the same once in a long while.
    while (again[0]?.slice(0, 19) === shares[0]?.slice(0, 19)) {
      again = await sharesFromPhrase(phrase, vaultId, twoOfThree, random);
    }
    await expect(phraseFromShares([shares[0] ?? '', again[1] ?? ''])).rejects.toEqual(
      refused(/^invalid share at 2: it was made at another time than the first/),
    );
  });

  test('shares of another vault, named', async () => {
    const other = await sharesFromPhrase(phrase, `ffffffff${vaultId.slice(8)}`, twoOfThree, random);
    await expect(phraseFromShares(other, vaultId)).rejects.toEqual(
      refused(/^invalid share at 1: it is of the vault ffffffff…, and this vault is 123e4567…$/),
    );
    await expect(phraseFromShares([shares[0] ?? '', other[1] ?? ''])).rejects.toEqual(
      refused(/^invalid share at 2: it is of the vault ffffffff…, and the first is of the vault 123e4567…$/),
    );
    expect(textOf(await phraseFromShares(other))).toBe(phrase);
  });

  test('a share that is any one, two, three or four characters off', async () => {
    const [first = '', second = ''] = shares;
    const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat({ max: 79 }), { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 31 })),
        async (positions, shifts) => {
          const characters = first.split('');
          for (const position of positions) {
            const at = position + 8;
            const shift = Number(shifts.next().value);
            characters[at] = alphabet[(alphabet.indexOf(characters[at] ?? '') + shift) % 32] ?? '';
          }
          await expect(phraseFromShares([characters.join(''), second])).rejects.toEqual(
            refused(/^invalid share at 1: its checksum does not match/),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  test('no share at all, a shortened one, one with capitals here and there: the error never quotes it', async () => {
    const [first = '', second = ''] = shares;
    for (const [text, message] of [
      ['', /expected a text that begins with lkshare1, got 0 characters$/],
      [phrase, /expected a text that begins with lkshare1/],
      [first.slice(0, -1), /its checksum does not match/],
      [`${first}q`, /its checksum does not match/],
      [first.slice(0, 40) + first.slice(40).toUpperCase(), /its checksum does not match/],
      [first.replace('lkshare1', 'lkshare1b'), /its checksum does not match/],
    ] as const) {
      const error = await phraseFromShares([text, second]).catch((thrown: unknown) => thrown);
      expect(error).toEqual(refused(message));
      expect(String(error)).not.toContain(text === '' ? first : text.slice(8));
    }
    await expect(phraseFromShares([])).rejects.toEqual(
      refused(/^invalid shares: expected two or more, got none$/),
    );
  });

  test('a share that was made up: every field of it', async () => {
    const [first = '', second = ''] = shares;
    const set =
      (index: number, value: number) =>
      (bytes: Uint8Array): undefined => {
        bytes[index] = value;
      };
    for (const [change, message] of [
      [set(0, 2), /its version is 2, and this program reads 1$/],
      [(bytes: Uint8Array) => bytes.slice(0, -1), /expected 46 bytes, got 45$/],
      [set(7, 0x13), /it says that it is number 1 of 3, of which 1 are needed$/],
      [set(7, 0x43), /number 1 of 3, of which 4 are needed$/],
      [set(7, 0x2f), /number 1 of 15, of which 2 are needed$/],
      [set(8, 0), /number 0 of 3/],
      [set(8, 4), /number 4 of 3/],
    ] as const) {
      await expect(phraseFromShares([forged(first, change), second])).rejects.toEqual(refused(message));
    }
    // The digest in the secret reveals a change of the secret.
    for (let index = 9; index < 46; index += 1) {
      const wrong = forged(first, (bytes) => {
        bytes[index] = (bytes[index] ?? 0) ^ 1;
        return undefined;
      });
      await expect(phraseFromShares([wrong, second])).rejects.toEqual(
        refused(/^invalid shares: put together they give no recovery phrase/),
      );
    }
    const sameX = forged(first, (bytes) => {
      bytes[45] = bech32m.decodeToBytes(second).bytes[45] ?? 0;
      return undefined;
    });
    await expect(phraseFromShares([sameX, second])).rejects.toEqual(refused(/^invalid shares: put together/));
  });
});
