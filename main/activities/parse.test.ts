import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LatchkeyError } from '../lib/errors.ts';
import { parse, parseSecret } from './parse.ts';

/** The message of the refusal. */
function refusal(schema: z.ZodType, value: unknown, at?: string, read = parse): string {
  try {
    read(schema, value, at);
  } catch (error) {
    expect(error).toBeInstanceOf(LatchkeyError);
    expect((error as LatchkeyError).code).toBe('INVALID_ARGUMENT');
    return (error as LatchkeyError).message;
  }
  throw new Error('it was accepted');
}

const schema = z.object({
  name: z.string().min(2).max(4),
  list: z
    .array(z.object({ kind: z.enum(['a', 'b']) }))
    .min(1)
    .max(2)
    .optional(),
  count: z.number().min(1).max(9).optional(),
  one: z.literal('x').optional(),
  custom: z.string().regex(/^y$/, 'Expected the letter y').optional(),
});

describe('parse', () => {
  test('answers what the schema makes of the value, without what it does not know', () => {
    const read = parse(z.object({ a: z.string().transform(Number) }), { a: '7', b: 1 });
    expect(read).toEqual({ a: 7 });
  });

  test.each([
    [{}, 'missing field name: expected a string'],
    [{ name: undefined }, 'missing field name: expected a string'],
    [{ name: null }, 'invalid name: expected a string, got null'],
    [{ name: 7 }, 'invalid name: expected a string, got 7'],
    [{ name: 'a' }, 'invalid name: expected at least 2 characters, got "a"'],
    [{ name: 'abcde' }, 'invalid name: expected at most 4 characters, got "abcde"'],
    [{ name: 'ab', list: [] }, 'invalid list: expected at least 1 element, got []'],
    [{ name: 'ab', list: [{ kind: 'c' }] }, 'invalid list[0].kind: expected one of a, b, got "c"'],
    [{ name: 'ab', list: [{ kind: 'a' }, {}] }, 'missing field list[1].kind: expected one of a, b'],
    [{ name: 'ab', list: ['a'] }, 'invalid list[0]: expected an object, got "a"'],
    [{ name: 'ab', count: 0 }, 'invalid count: expected at least 1, got 0'],
    [{ name: 'ab', count: 10 }, 'invalid count: expected at most 9, got 10'],
    [{ name: 'ab', one: 'y' }, 'invalid one: expected x, got "y"'],
    [{ name: 'ab', custom: 'z' }, 'invalid custom: expected the letter y, got "z"'],
    ['text', 'invalid request body: expected an object, got "text"'],
    [null, 'invalid request body: expected an object, got null'],
    [undefined, 'missing field request body: expected an object'],
  ])('%j: %s', (value, message) => {
    expect(refusal(schema, value)).toBe(message);
  });

  test('names the first fault alone', () => {
    expect(refusal(schema, { name: 7, one: 'y' })).toBe('invalid name: expected a string, got 7');
  });

  test('puts the name of the whole in front', () => {
    expect(refusal(schema, { name: 7 }, 'parameters')).toBe(
      'invalid parameters.name: expected a string, got 7',
    );
    expect(refusal(schema, 7, 'parameters')).toBe('invalid parameters: expected an object, got 7');
    expect(refusal(z.array(z.string()), [1], 'parameters.ids')).toBe(
      'invalid parameters.ids[0]: expected a string, got 1',
    );
  });

  test('a value that an object only inherits is missing', () => {
    expect(refusal(z.object({ toString: z.string() }), {})).toBe('missing field toString: expected a string');
    expect(refusal(z.object({ constructor: z.string() }), {})).toBe(
      'missing field constructor: expected a string',
    );
  });

  test('quotes no more than a line of what was seen', () => {
    const message = refusal(z.string().max(5), 'x'.repeat(1_000_000));
    expect(message.length).toBeLessThan(200);
    expect(refusal(z.string().max(5), 'one\ntwo\nthree')).not.toContain('\n');
  });

  describe('of alternatives', () => {
    test('says each', () => {
      const union = z.object({ a: z.union([z.literal(''), z.string().min(3)]) });
      expect(refusal(union, { a: 7 })).toBe('invalid a: expected "" or a string, got 7');
      expect(refusal(union, {})).toBe('missing field a: expected "" or a string');
    });

    test('says each with its own fields', () => {
      const union = z.union([z.strictObject({ now: z.int() }), z.strictObject({ advance: z.int() })]);
      expect(refusal(union, { now: 'noon' })).toMatch(/^invalid now: expected a number, got "noon"; or /);
      expect(refusal(z.object({ a: union }), { a: {} })).toBe(
        'missing field a.now: expected a number; or missing field a.advance: expected a number',
      );
    });

    test('says what tells them apart', () => {
      const union = z.discriminatedUnion('with', [
        z.object({ with: z.literal('a') }),
        z.object({ with: z.literal('b'), more: z.string() }),
      ]);
      expect(refusal(union, { with: 'c' })).toBe('invalid with: expected one of a, b, got "c"');
      expect(refusal(union, {})).toBe('missing field with: expected one of a, b');
      expect(refusal(union, { with: 'b' })).toBe('missing field more: expected a string');
    });
  });
});

describe('parseSecret', () => {
  const secret = (value: unknown, form: z.ZodType = z.object({ password: z.string().max(5) })): string =>
    refusal(form, value, 'unlock', parseSecret);

  test('says the kind and size of what was seen, and never the thing', () => {
    expect(secret({ password: 'hunter22' })).toBe(
      'invalid unlock.password: expected at most 5 characters, got a text of 8 characters',
    );
    expect(secret({ password: ['hunter22'] })).toBe(
      'invalid unlock.password: expected a string, got an array',
    );
    expect(secret({ password: { a: 'hunter22' } })).toBe(
      'invalid unlock.password: expected a string, got an object',
    );
    expect(secret({ password: 22 })).toBe('invalid unlock.password: expected a string, got a number');
    expect(secret({ password: null })).toBe('invalid unlock.password: expected a string, got null');
    expect(secret('hunter22')).toBe('invalid unlock: expected an object, got a text of 8 characters');
    expect(secret({})).toBe('missing field unlock.password: expected a string');
  });

  test('neither in alternatives', () => {
    const union = z.union([z.object({ a: z.literal('x') }), z.object({ b: z.string() })]);
    expect(secret({ a: 'hunter22', b: ['hunter22'] }, union)).not.toContain('hunter22');
  });

  test('answers what the schema makes of what fits', () => {
    expect(parseSecret(z.object({ password: z.string() }), { password: 'hunter22' })).toEqual({
      password: 'hunter22',
    });
  });
});
