/** Secrets in JSON bodies become bytes, and everything else is what `JSON.parse` makes of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWithSecrets } from './secret-json.ts';

const read = (text: string): unknown => parseWithSecrets(Buffer.from(text)).value;
const names = ['password', 'phrase', 'shares', 'word'];

/** The same value with its secrets as bytes. */
function expected(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string') return isSecret ? new Uint8Array(Buffer.from(value)) : value;
  if (Array.isArray(value)) return value.map((item) => expected(item, isSecret));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, expected(member, isSecret || names.includes(key))]),
  );
}

const escapeAll = (json: string): string =>
  json.replaceAll(/[^\n\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('any JSON', () => {
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      fc.constantFrom(0, -1.5, 1e300, true, false, null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value'), { maxKeys: 4 }),
    ),
  })).value;

  test('is read as JSON.parse reads it, but for the secrets, which are bytes', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2), fc.boolean(), (value, space, escaped) => {
        const json = JSON.stringify(value, undefined, space);
        const parsed: unknown = JSON.parse(json);
        expect(read(escaped ? escapeAll(json) : json)).toEqual(expected(parsed));
      }),
      { numRuns: 500 },
    );
  });

  test('that is cut or changed is refused, or read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(
        values,
        fc.nat(),
        fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', ''),
        (value, at, put) => {
          const json = JSON.stringify({ password: 'x', value });
          const place = at % json.length;
          // Half of a surrogate pair is none in UTF-8.
          const changed = (json.slice(0, place) + put + json.slice(place + 1)).toWellFormed();
          let parsed: unknown;
          try {
            parsed = JSON.parse(changed);
          } catch {
            expect(() => read(changed)).toThrow('no JSON');
            return;
          }
          expect(read(changed)).toEqual(expected(parsed));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test('names may be written with escapes', () => {
  expect(read(String.raw`{"pass\u0077ord":"a"}`)).toEqual({ password: new Uint8Array([0x61]) });
});

test.each([
  String.raw`{"password":"\x"}`,
  String.raw`{"password":"\u12g4"}`,
  '{"password":"a\nb"}',
  '{"password":"a',
  String.raw`{"password":"a\"`,
  '',
])('%j is refused, and not quoted', (text) => {
  expect(() => read(text)).toThrow(/^no JSON$/);
});

test('what is erased is gone from the value', () => {
  const { value, erase } = parseWithSecrets(Buffer.from('{"a":[{"password":"abc"}]}'));
  erase();
  expect(value).toEqual({ a: [{ password: new Uint8Array(3) }] });
});

test('a lone surrogate is refused', () => {
  expect(read(String.raw`{"password":"\ud800"}`)).toEqual({ password: new Uint8Array([0xed, 0xa0, 0x80]) });
});
