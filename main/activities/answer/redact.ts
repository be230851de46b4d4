/** Removes secrets that could sign a user in from parameters, before a failed request is kept. */
import { z } from 'zod';

/** Replaces a secret in an answer. It is not secret itself, and a schema for a secret accepts it. */
const withheld = '(withheld)';

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/**
 * @param schema Says of a text that it may be a secret with `format: 'password'`.
 * @returns the same with `(withheld)` for each of those.
 */
export function redactSecrets(schema: z.ZodType, value: unknown): unknown {
  let described = descriptions.get(schema);
  if (described === undefined) {
    described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    descriptions.set(schema, described);
  }
  return redactText(described, value, described.$defs ?? {});
}

const descriptions = new WeakMap<z.ZodType, JsonSchema>();

function redactText(
  schema: JsonSchema,
  value: unknown,
  named: Readonly<Record<string, JsonSchema>>,
): unknown {
  const { $ref, format, properties, items, anyOf = [], allOf = [] } = schema;
  if (typeof value === 'string' && format === 'password') return withheld;
  let kept = value;
  if (properties !== undefined && isObject(kept)) {
    kept = Object.fromEntries(
      Object.entries(kept).map(([key, member]) => {
        const of = Object.hasOwn(properties, key) ? properties[key] : undefined;
        return [key, of === undefined ? member : redactText(of, member, named)];
      }),
    );
  } else if (items !== undefined && Array.isArray(kept)) {
    kept = kept.map((element) => redactText(items, element, named));
  }
  const referred = $ref === undefined ? undefined : named[$ref.replace('#/$defs/', '')];
  return [...(referred === undefined ? [] : [referred]), ...anyOf, ...allOf].reduce(
    (rest, of) => redactText(of, rest, named),
    kept,
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
