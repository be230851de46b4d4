import { expect, test } from 'vitest';
import { freeName, nameHint, nameProblem } from './names.ts';

test('the first free number is taken', () => {
  expect(freeName('Wallet', [])).toBe('Wallet 1');
  expect(freeName('Wallet', ['wallet 1', 'Wallet 3', 'Savings'])).toBe('Wallet 2');
});

test('a name is there, and is not taken', () => {
  expect(nameProblem(' ')).toBe('Enter a name.');
  expect(nameProblem(' Savings ', ['Savings'])).toBe('This name is taken.');
  expect(nameProblem('savings', ['Savings'])).toBeNull();
});

test.each([
  ['Pаypal', 'Looks like “Paypal”.'],
  ['paypal', 'Looks like “Paypal”.'],
  ['Ada\u3164', 'Contains invisible characters. Shown as “Ada⟨U+3164⟩”.'],
  ['Gооgle', 'Contains letters that look like others.'],
  ['Paypal', null],
  ['Счёт', null],
  ['می\u200cخواهم', null],
])('of %j shows %j', (name, hint) => {
  expect(nameHint(name, ['Paypal'])).toBe(hint);
});
