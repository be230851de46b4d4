import { expect, test } from 'vitest';
import { refusalOf, strengthOf, tooShort } from './password.ts';
import { guessesFor } from './password-guesses.ts';

test.each([
  ['aaaaaaaaaaaa', 1, /Repeated characters/],
  ['abcdefghijkl', 1, /Keys in a row/],
  ['qwertzuiop', 1, /Keys in a row/],
  ['Password123', 1, /common password/],
  ['P4ssw0rd!', 1, /common password/],
  ['Anderson', 1, /Names/],
  ['Keyhearth', 1, /Names/],
  ['Home vault', 1, /Names/],
  ['tr0ub4dor', 2, /another unrelated word/],
  ['zebra kettle', 2, /another unrelated word/],
  ['my house is big', 3, /One more word/],
  ['correct horse battery staple', 4, /Keep a copy/],
  ['zebra kettle marble', 4, /Keep a copy/],
  ['V7#kq!m2Zp9$x', 3, /One more word/],
] as const)('%j has level %i', (password, level, hint) => {
  const strength = strengthOf(guessesFor(password, ['Home vault']));
  expect(strength.level).toBe(level);
  expect(strength.hint).toMatch(hint);
});

test('a password that is too short is refused, with what is missing', () => {
  expect(tooShort('')?.level).toBe(0);
  expect(refusalOf('1234567')).toBe('Too short. Add at least 1 character.');
  expect(refusalOf('123')).toBe('Too short. Add at least 5 characters.');
  expect(refusalOf('12345678')).toBeUndefined();
});
