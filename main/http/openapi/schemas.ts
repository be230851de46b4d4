/** Building blocks of an OpenAPI document: JSON Schemas, and the named ones among them. */
import { z } from 'zod';

export type Json = Readonly<Record<string, unknown>>;
/** A JSON Schema, draft 2020-12, which OpenAPI 3.1 takes as it is. */
export type Schema = Json;
export type Properties = Readonly<Record<string, Schema>>;

export const text: Schema = { type: 'string' };
export const digits: Schema = { type: 'string', pattern: '^[0-9]{1,15}$' };
export const uuid: Schema = { type: 'string', format: 'uuid' };

export function answer(description: string, schema: Schema): Json {
  return { description, content: { 'application/json': { schema } } };
}

/** An object that always has these fields. */
export function object(properties: Properties, more: Schema = {}): Schema {
  return { type: 'object', properties, required: Object.keys(properties), ...more };
}

/** An object that may have these fields. */
export function optionally(properties: Properties): Schema {
  return { type: 'object', properties };
}

export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas that have a name of their own. */
export class Components {
  readonly #schemas = new Map<string, Schema>();

  /** @returns a reference to the schema. */
  add(name: string, schema: Schema): Schema {
    const present = this.#schemas.get(name);
    if (present !== undefined && JSON.stringify(present) !== JSON.stringify(schema)) {
      throw new Error(`two schemas are called ${name}`);
    }
    this.#schemas.set(name, schema);
    return reference(name);
  }

  /**
   * Takes a schema over; what it names by an `id` becomes a component.
   * @param io What a caller sends, or what an answer holds.
   */
  of(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const json = JSON.stringify(
      z.toJSONSchema(schema, {
        io,
        override: ({ jsonSchema }) => {
          tidy(jsonSchema, io);
        },
      }),
    );
    const {
      $schema,
      $defs = {},
      ...rest
    } = JSON.parse(json.replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema & {
      readonly $defs?: Properties;
    };
    for (const [name, definition] of Object.entries($defs)) {
      // `description.ts` describes an activity in answers.
      if (name !== 'Activity') this.add(name, definition);
    }
    return rest;
  }

  schemas(): Properties {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Leaves out what a reader has no use for, and what would forbid a later version to show more. */
function tidy(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}
