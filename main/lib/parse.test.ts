import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { KeyhearthError } from './errors.ts';
import { parse, parseSecret } from './parse.ts';

/** The message of the refusal. */
function refusal(schema: z.ZodType, value: unknown, at?: string, read = parse): string {
  try {
    read(schema, value, at);
  } catch (error) {
    expect(error).toBeInstanceOf(KeyhearthError);
    expect((error as KeyhearthError).code).toBe('INVALID_ARGUMENT');
    return (error as KeyhearthError).message;
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
    const cut = '"x'.repeat(1_000_000);
    expect(refusal(z.number(), cut)).toBe(
      `invalid request body: expected a number, got ${JSON.stringify(cut).slice(0, 77)}...`,
    );
  });

  test.each([
    ['\u2028\u2029', String.raw`\u2028\u2029`],
    // A terminal's escapes, of both kinds, and what turns the text around.
    ['\u001b[2J\u009b2J', String.raw`\u001b[2J\u009b2J`],
    ['\u202e', String.raw`\u202e`],
    ['\ud800', String.raw`\ud800`],
    ['\u{e0001}', String.raw`\udb40\udc01`],
    ['Zoë 山 🔑', 'Zoë 山 🔑'],
  ])('shows what cannot be seen: %j', (text, shown) => {
    expect(refusal(z.number(), text)).toBe(`invalid request body: expected a number, got "${shown}"`);
  });

  test('splits no character where it cuts', () => {
    expect(refusal(z.number(), '🔑'.repeat(50))).not.toMatch(/\p{Cs}/u);
  });

  test('quotes the beginning of what is nested deeper than a stack goes', () => {
    const deep = (open: string, close: string): unknown =>
      JSON.parse(`${open.repeat(1_000_000)}0${close.repeat(1_000_000)}`);
    expect(refusal(schema, { name: deep('[', ']') })).toBe(
      `invalid name: expected a string, got ${'['.repeat(77)}...`,
    );
    expect(refusal(schema, { name: deep('{"a":', '}') })).toBe(
      `invalid name: expected a string, got ${'{"a":'.repeat(16).slice(0, 77)}...`,
    );
    expect(parse(z.object({ a: z.string() }), { a: 'b', more: deep('[', ']') })).toEqual({ a: 'b' });
  });

  describe('of null', () => {
    const form = z.object({
      name: z.string(),
      note: z.string().optional(),
      list: z.array(z.string()).max(2),
      more: z.array(z.object({ kind: z.enum(['a', 'b']).optional() })).optional(),
      contact: z.union([z.literal(''), z.email()]).optional(),
      inner: z.object({ limit: z.string().optional() }).optional(),
    });

    test.each([
      [{ note: null }, {}],
      [{ contact: null, inner: null, more: null }, {}],
      [{ inner: { limit: null } }, { inner: {} }],
      [{ more: [{ kind: null }, { kind: 'a' }, { kind: null }] }, { more: [{}, { kind: 'a' }, {}] }],
      [{ list: null }, { list: [] }],
      [{ list: null, note: null }, { list: [] }],
    ])('takes %j as nothing', (value, read) => {
      const whole = { name: 'n', list: [], ...value };
      const before = structuredClone(whole);
      expect(parse(form, whole)).toEqual({ name: 'n', list: [], ...read });
      expect(whole).toEqual(before);
    });

    test.each([
      [{ name: null }, 'invalid name: expected a string, got null'],
      [{ name: null, note: null }, 'invalid name: expected a string, got null'],
      [{ list: [null] }, 'invalid list[0]: expected a string, got null'],
      [{ list: ['a', null], note: null }, 'invalid list[1]: expected a string, got null'],
      [{ note: null, list: ['a', 'b', 'c'] }, 'invalid list: expected at most 2 elements, got ["a","b","c"]'],
      [{ more: [null] }, 'invalid more[0]: expected an object, got null'],
      [{ more: [{ kind: null }, { kind: 'c' }] }, 'invalid more[1].kind: expected one of a, b, got "c"'],
    ])('refuses %j where there must be something', (value, message) => {
      expect(refusal(form, { name: 'n', list: [], ...value })).toBe(message);
    });

    test('leaves it to a schema that has a meaning for it', () => {
      expect(parse(z.object({ a: z.string().nullable() }), { a: null })).toEqual({ a: null });
      const some = z.object({ ids: z.array(z.string()).min(1) });
      expect(refusal(some, { ids: null })).toBe('invalid ids: expected at least 1 element, got null');
    });
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

describe('a text that may be a secret', () => {
  const schema = z.object({
    code: z
      .string()
      .refine(({ length }) => length < 5, { error: 'Expected less', params: { secret: true } })
      .meta({ format: 'password' })
      .optional(),
  });

  test.each([
    ['secret', 'invalid code: expected less, got a text of 6 characters'],
    [['se', 'cret'], 'invalid code: expected a string, got an array'],
    [123456, 'invalid code: expected a string, got a number'],
    [{ secret: 1 }, 'invalid code: expected a string, got an object'],
  ])('is not quoted, of whatever type: %j', (code, message) => {
    expect(() => parse(schema, { code })).toThrow(new KeyhearthError('INVALID_ARGUMENT', message));
  });
});
