/** The properties of a secret that policies may read: `secret.static_properties`. */
import { z } from 'zod';
import { isVisibleName } from '../../lib/text/names.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, name } from '../shared/parameters.ts';

/** A pair that requests and answers have. */
export interface Property {
  readonly key: string;
  readonly value: string;
}

/** The real API leaves both out of its required fields; a pair without a key would be no property. */
export const properties = z
  .array(
    z.object({
      key: name,
      value: z
        .string()
        .max(limits.propertyCharacters)
        .refine(isVisibleName, 'Expected no control characters or others that cannot be seen')
        .default(''),
    }),
  )
  .max(limits.propertiesPerSecret);

/** @throws KeyhearthError INVALID_ARGUMENT for a key that is given twice: policies would read one of its values. */
export function checkProperties(at: string, given: readonly Property[]): void {
  checkDistinct(
    at,
    given.map(({ key }) => key),
  );
}

/** As policies read them. Without a prototype: a key may be called as a member of every object. */
export function propertyFacts(given: readonly Property[]): Readonly<Record<string, string>> {
  const facts = Object.create(null) as Record<string, string>;
  for (const { key, value } of given) facts[key] = value;
  return facts;
}

export const readProperties = (stored: string): readonly Property[] =>
  JSON.parse(stored) as readonly Property[];
