/** The secrets among parameters and results: texts that their schemas mark with `format: 'password'`. */
import type { z } from 'zod';
import { mapTexts } from '../../lib/text/marked-texts.ts';

/** Replaces a secret in an answer. It is not secret itself, and a schema for a secret accepts it. */
const withheld = '(withheld)';

/** @returns the same with `(withheld)` for each secret. */
export const redactSecrets = (schema: z.ZodType, value: unknown): unknown =>
  mapSecrets(schema, value, () => withheld);

/** @returns the same value with another text for each secret in it; the value itself where the schema has none. */
export const mapSecrets = (schema: z.ZodType, value: unknown, replace: (secret: string) => string): unknown =>
  mapTexts(schema, 'password', value, replace);
