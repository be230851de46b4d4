import { expect, test } from 'vitest';
import { readable } from './readable.ts';

test.each([
  [
    'invalid parameters.walletName: wallet name must be unique, "Savings" is taken',
    'Wallet name must be unique, "Savings" is taken',
  ],
  ['missing field vault.confirmedWords[2].word: expected a string', 'Expected a string'],
  ['The vault is locked.', 'The vault is locked.'],
  ['invalid path: component 3 is "x"', 'Invalid path: component 3 is "x"'],
  ['', ''],
])('%j reads %j', (message, expected) => {
  expect(readable(message)).toBe(expected);
});
