import { expect, test } from 'vitest';
import { didYouMean } from './suggestions.ts';

const formats = ['ethereum', 'bitcoin', 'bitcoin-taproot', 'solana', 'sui', 'sei'];

test.each([
  ['etherium', '. Did you mean "ethereum"?'],
  ['Ethereum', '. Did you mean "ethereum"?'],
  ['bticoin', '. Did you mean "bitcoin"?'],
  ['soi', '. Did you mean "sui" or "sei"?'],
  ['cardano', ''],
  ['', ''],
  ['x'.repeat(100_000), ''],
])('of %j', (wanted, expected) => {
  expect(didYouMean(wanted, formats)).toBe(expected);
});

// The class: a name that others chose reaches the terminal as it is.
test('quotes a name, whatever is in it', () => {
  expect(didYouMean('Safe1', ['Safe\u001b'])).toBe('. Did you mean "Safe\\u001b"?');
});
