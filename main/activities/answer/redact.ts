/** The secrets among parameters and results: texts that their schemas mark with `format: 'password'`. */
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

/** @returns the same with `(withheld)` for each secret. */
export const redactSecrets = (schema: z.ZodType, value: unknown): unknown =>
  mapSecrets(schema, value, () => withheld);

/** @returns the same value with another text for each secret in it; the value itself where the schema has none. */
export function mapSecrets(schema: z.ZodType, value: unknown, replace: (secret: string) => string): unknown {
  const described = describe(schema);
  return described === undefined ? value : map(described, value);

  function map(
    { $ref, format, properties, items, anyOf = [], allOf = [] }: JsonSchema,
    from: unknown,
  ): unknown {
    if (typeof from === 'string' && format === 'password') return replace(from);
    let kept = from;
    if (properties !== undefined && isObject(kept)) {
      kept = Object.fromEntries(
        Object.entries(kept).map(([key, member]) => {
          const of = Object.hasOwn(properties, key) ? properties[key] : undefined;
          return [key, of === undefined ? member : map(of, member)];
        }),
      );
    } else if (items !== undefined && Array.isArray(kept)) {
      kept = kept.map((element) => map(items, element));
    }
    const referred = $ref === undefined ? undefined : described?.$defs?.[$ref.replace('#/$defs/', '')];
    return [...(referred === undefined ? [] : [referred]), ...anyOf, ...allOf].reduce(
      (rest, of) => map(of, rest),
      kept,
    );
  }
}

/** @returns undefined for a schema without secrets. */
function describe(schema: z.ZodType): JsonSchema | undefined {
  if (!descriptions.has(schema)) {
    const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    const hasSecrets = JSON.stringify(described).includes('"format":"password"');
    descriptions.set(schema, hasSecrets ? described : undefined);
  }
  return descriptions.get(schema);
}

const descriptions = new WeakMap<z.ZodType, JsonSchema | undefined>();

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
