import { expect, test } from 'vitest';
import { freeName, nameHint, nameProblem } from './names.ts';

test('the first free number is taken', () => {
  expect(freeName('Wallet', [])).toBe('Wallet 1');
  expect(freeName('Wallet', ['wallet 1', 'Wallet 3', 'Savings'])).toBe('Wallet 2');
});

test('a name is there, and is not taken', () => {
  expect(nameProblem(' ', 'wallet')).toBe('Give the wallet a name.');
  expect(nameProblem(' Savings ', 'wallet', ['Savings'])).toBe('There is a wallet with this name already.');
  expect(nameProblem('savings', 'wallet', ['Savings'])).toBeNull();
});

test.each([
  ['Pаypal', 'It looks like “Paypal”.'],
  ['paypal', 'It looks like “Paypal”.'],
  ['Ada\u3164', 'Some of its characters are not visible. It is shown as “Ada⟨U+3164⟩”.'],
  ['Gооgle', 'It has letters that look like others: it may be taken for another name.'],
  ['Paypal', null],
  ['Счёт', null],
  ['می\u200cخواهم', null],
])('of %j shows %j', (name, hint) => {
  expect(nameHint(name, ['Paypal'])).toBe(hint);
});
