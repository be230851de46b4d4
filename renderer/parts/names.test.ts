import { expect, test } from 'vitest';
import { freeName, nameProblem } from './names.ts';

test('the first free number is taken', () => {
  expect(freeName('Wallet', [])).toBe('Wallet 1');
  expect(freeName('Wallet', ['wallet 1', 'Wallet 3', 'Savings'])).toBe('Wallet 2');
});

test('a name is there, and is not taken', () => {
  expect(nameProblem(' ', 'wallet')).toBe('Give the wallet a name.');
  expect(nameProblem(' Savings ', 'wallet', ['Savings'])).toBe('There is a wallet with this name already.');
  expect(nameProblem('savings', 'wallet', ['Savings'])).toBeNull();
});
