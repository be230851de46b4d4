import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { storageTexts } from '../../files/storage-causes.ts';
import { reasonOf } from './reasons.ts';

/** As Node creates it for a number that it has no name for. */
const unnamed = (number: number): Error =>
  Object.assign(new Error('write'), { errno: -number, code: `Unknown system error -${String(number)}` });

// The class: a state of the disk that the vault names, shown as a fault of the program.
test.each([
  ['EDQUOT', constants.errno.EDQUOT, storageTexts.quota.what],
  ['ESTALE', constants.errno.ESTALE, storageTexts.failing.what],
])('%s, which has no name in Node, is a state of the disk', (_, number, what) => {
  expect(reasonOf(unnamed(number))).toBe(what);
});

test('any other number is a fault with its place, in none of its words', () => {
  const reason = reasonOf(unnamed(9999));
  expect(reason).toMatch(/^something went wrong inside Keyhearth \(Error/);
  expect(reason).not.toContain('9999');
});
