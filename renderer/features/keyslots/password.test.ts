import { expect, test } from 'vitest';
import { passwordStrength } from './password.ts';

test.each([
  ['', 0],
  ['short', 0],
  ['aaaaaaaaaaaa', 1],
  ['abcdefghijkl', 1],
  ['1234567890', 1],
  ['Password123', 1],
  ['tr0ub4dor', 2],
  ['correct horse battery staple', 4],
  ['V7#kq!m2Zp9$', 4],
])('%j has level %i', (password, level) => {
  expect(passwordStrength(password).level).toBe(level);
});

test('what is missing is counted', () => {
  expect(passwordStrength('1234567').hint).toBe('Add at least 1 character.');
  expect(passwordStrength('123').hint).toBe('Add at least 5 characters.');
});
