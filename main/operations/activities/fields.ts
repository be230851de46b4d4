/** A request field by field, for a person who decides on it: with names in the place of ids, and nothing left out in silence. */
import type { Names, Part } from './spoken.ts';

export interface Fields {
  readonly fields: readonly { readonly label: string; readonly value: readonly Part[] }[];
  /** True if the request has more fields, or longer ones, than these. */
  readonly shortened: boolean;
}

const mostFields = 100;
const longestValue = 2_000;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function fieldsOf(params: unknown, names: Pick<Names, 'anything'>): Fields {
  const fields: { label: string; value: readonly Part[] }[] = [];
  let shortened = false;
  const add = (path: readonly string[], value: unknown): void => {
    if (value === undefined || value === null) return;
    if (fields.length >= mostFields) shortened = true;
    else if (Array.isArray(value)) {
      const several = value.length > 1;
      value.forEach((each: unknown, index) => {
        add(several ? [...path, String(index + 1)] : path, each);
      });
    } else if (typeof value === 'object') {
      for (const [name, each] of Object.entries(value)) add([...path, wordsOf(name)], each);
    } else {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (text.length > longestValue) shortened = true;
      const part = uuid.test(text) ? names.anything(text) : { text: text.slice(0, longestValue) };
      fields.push({ label: capital(path.join(', ')), value: [part] });
    }
  };
  add([], params);
  return { fields, shortened };
}

/** `policy name` of `policyName`; `wallets` of `walletIds`, since names stand in their place. */
const wordsOf = (name: string): string =>
  name
    .replace(/Ids$/, 's')
    .replace(/(?<=.)Id$/, '')
    .replaceAll(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`);

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
