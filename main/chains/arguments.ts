/** Values that a call of a program carries, as its interface reads them. */

/**
 * Integers are bigints, addresses and bytes are texts. A list stands for an array, and for the parts of a tuple; an object
 * for what has named fields; null for an option that is not taken.
 */
export type ArgumentValue =
  | string
  | boolean
  | bigint
  | null
  | readonly ArgumentValue[]
  | { readonly [name: string]: ArgumentValue };

export interface Argument {
  readonly name: string;
  /** As the interface writes it. */
  readonly type: string;
  readonly value: ArgumentValue;
}

/** More values than any call has: data that claims more is not read to its end. */
export const mostValues = 5_000;
/** Types and values nest no deeper than this. */
export const deepestType = 16;

/** By name. Of arguments without a name the place is the name. */
export const byName = (args: readonly Argument[]): Readonly<Record<string, ArgumentValue>> =>
  Object.fromEntries(args.map(({ name, value }) => [name, value]));

/** On one line, for people. */
export function written(value: ArgumentValue): string {
  if (value === null) return 'none';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${(value as readonly ArgumentValue[]).map(written).join(', ')}]`;
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${name}: ${written(each)}`)
    .join(', ')} }`;
}
