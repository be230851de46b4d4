/** Turns a caller's JSON into typed input, or into an error that names the field, what was seen and what is allowed. */
import type { z } from 'zod';
import { LatchkeyError, seen } from '../lib/errors.ts';

/**
 * @param at The name of `value` itself, put before the field's path.
 * @throws LatchkeyError INVALID_ARGUMENT for the first field that does not fit.
 */
export const parse = <Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema> =>
  check(schema, value, at, seen);

/** As `parse`, for input that carries a secret: an error says of what was seen no more than its kind and size. */
export const parseSecret = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at = '',
): z.output<Schema> => check(schema, value, at, outline);

type Quote = (found: unknown) => string;

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: string,
  quote: Quote,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new LatchkeyError('INVALID_ARGUMENT', 'bad request body');
  throw new LatchkeyError('INVALID_ARGUMENT', describe(issue, value, at, quote));
}

function describe(issue: z.core.$ZodIssue, value: unknown, at: string, quote: Quote): string {
  const field = fieldName(issue.path, at);
  const found = issue.path.reduce<unknown>(
    (parent, key) => (isRecord(parent) && Object.hasOwn(parent, key) ? parent[key as string] : undefined),
    value,
  );
  if (issue.code === 'invalid_union' && found !== undefined) {
    const nested = issue.errors.map(([first]) => first).filter((first) => first !== undefined);
    if (nested.some(({ path }) => path.length > 0)) {
      const whole = nested.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
      return whole.map((inner) => describe(inner, value, at, quote)).join('; or ');
    }
  }
  if (found === undefined) return `missing field ${field}: ${expectation(issue)}`;
  // How a schema marks a check on a text that may be a secret.
  const say = issue.code === 'custom' && issue.params?.['secret'] === true ? outline : quote;
  return `invalid ${field}: ${expectation(issue)}, got ${say(found)}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
      return `expected at least ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected at most ${amount(issue.maximum, issue.origin)}`;
    case 'invalid_union': {
      if ('options' in issue) return oneOf(issue.options);
      const alternatives = issue.errors.flatMap(([first]) => (first ? [expectation(first)] : []));
      return `expected ${alternatives.map((text) => text.replace(/^expected /, '')).join(' or ')}`;
    }
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  }
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (value === '' ? '""' : String(value)));
  return texts.length === 1 ? `expected ${texts.join('')}` : `expected one of ${texts.join(', ')}`;
}

function fieldName(path: readonly PropertyKey[], at: string): string {
  const name = path.reduce<string>(
    (text, key) =>
      typeof key === 'number'
        ? `${text}[${String(key)}]`
        : text === ''
          ? String(key)
          : `${text}.${String(key)}`,
    at,
  );
  return name === '' ? 'request body' : name;
}

function amount(limit: number | bigint, origin: string): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'element' : '';
  return `${String(limit)} ${unit}${unit === '' || limit === 1 ? '' : 's'}`.trimEnd();
}

function outline(found: unknown): string {
  if (typeof found === 'string') return `a text of ${amount(found.length, 'string')}`;
  return Array.isArray(found) ? 'an array' : found === null ? 'null' : withArticle(typeof found);
}

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
