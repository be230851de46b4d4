/** Turns a caller's JSON into typed input, or into an error that names the field, what was seen and what is allowed. */
import { z } from 'zod';
import { KeyhearthError, quoted } from './errors.ts';

/**
 * Takes null as clients mean it that write what is unset: no value for an optional field, and an empty list for a list.
 * @param at The name of `value` itself, put before the field's path.
 * @throws KeyhearthError INVALID_ARGUMENT for the first field that does not fit.
 */
export const parse = <Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema> =>
  check(schema, value, at, quoted);

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
  const parsed = read(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new KeyhearthError('INVALID_ARGUMENT', 'bad request body');
  throw new KeyhearthError('INVALID_ARGUMENT', describe(issue, value, at, quote));
}

type Path = readonly PropertyKey[];

/** Only what does not fit is looked at again without its nulls: most bodies have none, and some schemas take null. */
function read<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  const asSent = schema.safeParse(value, { error: hideSecrets });
  const nulls =
    asSent.error?.issues.map(({ path }) => path).filter((path) => isNullMember(value, path)) ?? [];
  if (nulls.length === 0) return asSent;
  const unset = rewrite(value, nulls, undefined);
  const withoutNulls = schema.safeParse(unset, { error: hideSecrets });
  const lists = withoutNulls.error?.issues.flatMap((issue) =>
    issue.code === 'invalid_type' && issue.expected === 'array' && isNullMember(value, issue.path)
      ? [issue.path]
      : [],
  );
  if (lists === undefined || lists.length === 0) return withoutNulls;
  return schema.safeParse(rewrite(unset, lists, []), { error: hideSecrets });
}

/** The message of an issue whose value is not to be shown. */
const hidden = 'hidden';

/** A schema says of a text that it may be a secret with `format: 'password'`, as OpenAPI does. */
const hideSecrets: z.core.$ZodErrorMap = ({ code, inst }) =>
  code === 'invalid_type' && inst instanceof z.ZodType && inst.meta()?.['format'] === 'password'
    ? hidden
    : undefined;

const isNullMember = (value: unknown, path: Path): boolean =>
  typeof path.at(-1) === 'string' && valueAt(value, path) === null;

/** @returns a copy with another value at these paths, or no member where it is undefined. */
function rewrite(value: unknown, paths: readonly Path[], replacement: unknown): unknown {
  if (paths.some(({ length }) => length === 0)) return replacement;
  if (!isRecord(value)) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<PropertyKey, unknown>;
  for (const [key, inside] of Map.groupBy(paths, ([first = '']) => first)) {
    const member = rewrite(
      copy[key],
      inside.map((path) => path.slice(1)),
      replacement,
    );
    if (member === undefined) Reflect.deleteProperty(copy, key);
    else copy[key] = member;
  }
  return copy;
}

/** The value at a path of own members, or undefined. */
const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (parent, key) => (isRecord(parent) && Object.hasOwn(parent, key) ? parent[key as string] : undefined),
    value,
  );

function describe(issue: z.core.$ZodIssue, value: unknown, at: string, quote: Quote): string {
  const field = fieldName(issue.path, at);
  const found = valueAt(value, issue.path);
  if (issue.code === 'invalid_union' && found !== undefined) {
    const nested = issue.errors.map(([first]) => first).filter((first) => first !== undefined);
    if (nested.some(({ path }) => path.length > 0)) {
      const whole = nested.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
      return whole.map((inner) => describe(inner, value, at, quote)).join('; or ');
    }
  }
  if (found === undefined) return `missing field ${field}: ${expectation(issue)}`;
  // Marks a check of a schema on a text that may be a secret.
  const isSecret = issue.message === hidden || (issue.code === 'custom' && issue.params?.['secret'] === true);
  return `invalid ${field}: ${expectation(issue)}, got ${(isSecret ? outline : quote)(found)}`;
}

/** @returns what a schema expects where a value does not fit. */
export function expectation(issue: z.core.$ZodIssue): string {
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
    case 'invalid_format':
      // zod's own words show a pattern; ours say what is expected.
      if (issue.message.startsWith('Invalid ')) return `expected another form (${issue.format})`;
      return uncapitalized(issue.message);
    default:
      return uncapitalized(issue.message);
  }
}

const uncapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

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
