import { expect, test } from 'vitest';
import { freeName, labelled, nameHint, nameProblem } from './names.ts';

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

test('names that are the same or look alike have the ends of their ids', () => {
  const named = (...names: readonly string[]) =>
    labelled(names.map((name, index) => ({ id: `id-${String(1000 + index)}`, name }))).map(
      ({ label }) => label,
    );
  expect(named('Anna', 'Bob', 'Anna')).toEqual(['Anna (…1000)', 'Bob', 'Anna (…1002)']);
  // The second begins with a Cyrillic letter.
  expect(named('Anna', 'Аnna', 'Ann')).toEqual(['Anna (…1000)', 'Аnna (…1001)', 'Ann']);
  expect(named('Vault\u202e', 'Other')[0]).not.toContain('\u202e');
});

test('the time for many names grows with their number alone', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `Wallet ${String(index)}`);
  const started = performance.now();
  const labels = labelled(names.map((name) => ({ id: name, name })));
  // A comparison of each with each takes minutes.
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(labels).toHaveLength(names.length);
});
