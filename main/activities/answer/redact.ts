/** Removes secrets that could sign a user in from parameters, before a refused request is kept. */
import type { z } from 'zod';
import { mapTexts } from '../../lib/text/marked-texts.ts';

/** Replaces a secret in an answer. It is not secret itself, and a schema for a secret accepts it. */
const withheld = '(withheld)';

/** @returns the same with `(withheld)` for each secret. */
export const redactSecrets = (schema: z.ZodType, value: unknown): unknown =>
  mapTexts(schema, 'password', value, () => withheld);
