/** Turns a caller's JSON into typed input, or into an error that names the field, what was seen and what is allowed. */
import type { z } from 'zod';
import { LatchkeyError, seen } from '../lib/errors.ts';

/**
 * @param at The name of `value` itself, put before the field's path.
 * @throws LatchkeyError INVALID_ARGUMENT for the first field that does not fit.
 */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new LatchkeyError('INVALID_ARGUMENT', 'bad request body');
  throw new LatchkeyError('INVALID_ARGUMENT', describe(issue, value, at));
}

function describe(issue: z.core.$ZodIssue, value: unknown, at: string): string {
  const field = fieldName(issue.path, at);
  const found = issue.path.reduce<unknown>(
    (parent, key) => (isRecord(parent) && Object.hasOwn(parent, key) ? parent[key as string] : undefined),
    value,
  );
  if (found === undefined) return `missing field ${field}: ${expectation(issue)}`;
  return `invalid ${field}: ${expectation(issue)}, got ${seen(found)}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `expected ${String(issue.values[0])}`
        : `expected one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `expected at least ${String(issue.minimum)} ${unit(issue.origin)}`.trimEnd();
    case 'too_big':
      return `expected at most ${String(issue.maximum)} ${unit(issue.origin)}`.trimEnd();
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  }
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

const unit = (origin: string): string =>
  origin === 'string' ? 'characters' : origin === 'array' || origin === 'set' ? 'elements' : '';

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
