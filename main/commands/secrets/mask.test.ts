import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Masker, needlesOf } from './mask.ts';

const mask = '<keyhearth://token>';
const needles = (...values: readonly string[]) =>
  needlesOf(values.map((value) => ({ name: 'token', value: Buffer.from(value) })));

/** Writes a text in pieces of so many bytes. */
function masked(values: readonly string[], text: string, size = text.length || 1): string {
  const masker = new Masker(needles(...values));
  const bytes = Buffer.from(text);
  const shown: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) shown.push(masker.write(bytes.subarray(at, at + size)));
  return Buffer.concat([...shown, masker.end()]).toString();
}

const secret = 'hunter2-ä-9f';

describe('a secret in output', () => {
  test.each([1, 2, 3, 7, 1000])('is masked in pieces of %i bytes', (size) => {
    expect(masked([secret], `the ${secret} and ${secret}${secret}!`, size)).toBe(
      `the ${mask} and ${mask}${mask}!`,
    );
  });

  test.each([
    ['hex', Buffer.from(secret).toString('hex')],
    ['hex in capitals', Buffer.from(secret).toString('hex').toUpperCase()],
    ['a URL', encodeURIComponent(secret)],
    ['JSON', JSON.stringify('a"b\\c\td9').slice(1, -1), 'a"b\\c\td9'],
    ['a form', 'a+b%26c%3Dd9f', 'a b&c=d9f'],
  ])('is masked in %s', (_, spelling, value = secret) => {
    expect(masked([value], `x ${spelling} y`, 1)).toBe(`x ${mask} y`);
  });

  test('is masked in Base64, wherever it begins', () => {
    for (const before of ['', 'u', 'us', 'use', 'user:']) {
      for (const after of ['', '\n', '..']) {
        for (const form of ['base64', 'base64url'] as const) {
          const text = Buffer.from(before + secret + after).toString(form);
          const shown = masked([secret], text, 1);
          expect(shown).toContain(mask);
          // The letters around the mask tell less than one byte of the secret at each end.
          expect(Buffer.from(shown.split(mask).join(''), 'base64').toString('latin1')).not.toContain(
            secret.slice(1, 5),
          );
        }
      }
    }
  });

  test('is masked line by line where it has several, and as a whole once', () => {
    const key = '-----BEGIN KEY-----\nAAAAB3NzaC1yc2E\nabc\n-----END KEY-----\n';
    expect(masked([key], `:${key}:`, 5)).toBe(`:${mask}:`);
    expect(masked([key], key.replaceAll('\n', '\r\n'), 3)).toContain(`${mask}\r\n${mask}\r\nabc\r\n${mask}`);
    expect(masked([key], 'AAAAB3NzaC1yc2E')).toBe(mask);
  });

  test('is masked where it overlaps another, and where it repeats itself', () => {
    expect(masked(['abcdefgh', 'efghijkl'], '-abcdefghijkl-', 1)).toBe(`-${mask}-`);
    expect(masked(['aaaa'], 'a'.repeat(10_001), 1)).toBe(mask);
    expect(masked(['aaaa'], `b${'a'.repeat(100_000)}b`, 4096)).toBe(`b${mask}b`);
    expect(masked(['abab'], 'ababab', 1)).toBe(mask);
  });

  test('that is broken off, shorter than four bytes or spelled otherwise is shown: a mask does not stop a program', () => {
    expect(masked([secret], secret.slice(0, -1), 1)).toBe(secret.slice(0, -1));
    expect(masked(['abc'], 'abc')).toBe('abc');
    const reversed = secret.split('').reverse().join('');
    expect(masked([secret], reversed, 1)).toBe(reversed);
  });

  test('does not hold other output back: what waits might be a beginning', () => {
    const masker = new Masker(needles('secret-9'));
    expect(masker.write(Buffer.from('name: ')).toString()).toBe('name: ');
    expect(masker.write(Buffer.from('user s')).toString()).toBe('user ');
    expect(masker.write(Buffer.from('o')).toString()).toBe('so');
  });
});

test('output without the secret is the same, in any pieces; output with it never has it', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 });
  fc.assert(
    fc.property(
      letters,
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 7 }),
      fc.integer({ min: 1, max: 9 }),
      (text, value, size) => {
        const shown = masked([value], text, size);
        expect(shown).not.toContain(value);
        expect(shown.replaceAll(mask, '').length).toBeLessThanOrEqual(text.length);
        expect(shown).toBe(masked([value], text));
        if (!text.includes(value)) expect(shown).toBe(text);
      },
    ),
    { numRuns: 500 },
  );
});
