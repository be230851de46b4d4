import { expect, test } from 'vitest';
import { findNamed } from './named.ts';
import { Option } from 'commander';
import { didYouMean, suggestChoices } from './suggestions.ts';

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

test('of a choice follows what is expected', () => {
  const option = new Option('--effect <effect>').choices(['allow', 'deny']);
  suggestChoices(option);
  expect(option.parseArg?.('allow', '')).toBe('allow');
  expect(() => option.parseArg?.('alow', '')).toThrow(
    expect.objectContaining({ message: 'expected allow or deny. Did you mean "allow"?' }),
  );
});

test('of many, names the command that lists all', () => {
  const many = Array.from({ length: 12 }, (_, index) => ({ id: `${String(index)}-page` }));
  expect(() => findNamed('page', 'nix', many, (each) => each, 'keyhearth docs')).toThrow(
    /^no page has the id "nix": there are 0-page, .* and 2 more: `keyhearth docs` lists all$/,
  );
});

const wallets = ['Daily', 'Savings'].map((name, index) => ({ id: `0000000${String(index)}-wallet`, name }));

test.each([
  [
    2,
    'Dayly',
    'no wallet has the id or the name "Dayly": there are "Daily", "Savings". Did you mean "Daily"?',
  ],
  [2, 'Home', 'no wallet has the id or the name "Home": there are "Daily", "Savings"'],
  // The only one is not named twice.
  [1, 'Dayly', 'no wallet has the id or the name "Dayly". Did you mean "Daily"?'],
  [1, 'Home', 'no wallet has the id or the name "Home": there is "Daily"'],
  [0, 'Home', 'no wallet has the id or the name "Home": there is none'],
])('of %i wallets, %j is refused with what there is', (number, wanted, message) => {
  expect(() => findNamed('wallet', wanted, wallets.slice(0, number), (each) => each)).toThrow(
    expect.objectContaining({ message }),
  );
});
