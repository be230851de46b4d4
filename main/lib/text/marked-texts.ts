/** Texts that a schema marks with a format: secrets are `password`, and ids are `uuid`. */
import { z } from 'zod';

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** @returns the same value with something else for each text of the format; the value itself where the schema has none. */
export function mapTexts(
  schema: z.ZodType,
  wanted: 'password' | 'uuid',
  value: unknown,
  replace: (text: string) => unknown,
): unknown {
  const described = describe(schema, wanted);
  return described === undefined ? value : map(described, value);

  function map(
    { $ref, format, properties, items, anyOf = [], allOf = [] }: JsonSchema,
    from: unknown,
  ): unknown {
    if (typeof from === 'string' && format === wanted) return replace(from);
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

/** @returns undefined for a schema without such texts. */
function describe(schema: z.ZodType, format: 'password' | 'uuid'): JsonSchema | undefined {
  const known = descriptions[format];
  if (!known.has(schema)) {
    const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    const hasSuch = JSON.stringify(described).includes(`"format":"${format}"`);
    known.set(schema, hasSuch ? described : undefined);
  }
  return known.get(schema);
}

const descriptions = {
  password: new WeakMap<z.ZodType, JsonSchema | undefined>(),
  uuid: new WeakMap<z.ZodType, JsonSchema | undefined>(),
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
