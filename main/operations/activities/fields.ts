/** A request field by field, for a person who decides on it: with names in the place of ids, and nothing left out in silence. */
import type { z } from 'zod';
import { mapTexts } from '../../lib/text/marked-texts.ts';
import { upTo } from '../../lib/text/up-to.ts';
import type { Names, Part } from './spoken.ts';

export interface Fields {
  readonly fields: readonly { readonly label: string; readonly value: readonly Part[] }[];
  /** True if the request has more fields, or longer ones, than these. */
  readonly shortened: boolean;
}

const mostFields = 100;
const longestValue = 2_000;

/** An id, as its schema says: a name that is written like one stays a text. */
class Id {
  declare protected readonly brand: 'Id';
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Nothing where something may be is an instruction too: it takes tags or an expression away. */
const nothing: Part = { text: 'none' };

/** @param schema Of the parameters; without one, no text is an id. */
export function fieldsOf(
  params: unknown,
  schema: z.ZodType | undefined,
  names: Pick<Names, 'anything'>,
): Fields {
  const fields: { label: string; value: readonly Part[] }[] = [];
  let shortened = false;
  const partOf = (value: unknown): Part => {
    if (value instanceof Id) return names.anything(value.text);
    if (value === '') return nothing;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text.length > longestValue) shortened = true;
    return { text: upTo(text, longestValue) };
  };
  const put = (path: readonly string[], part: Part): void => {
    fields.push({ label: capital(path.join(', ')), value: [part] });
  };
  const add = (path: readonly string[], value: unknown): void => {
    if (value === undefined || value === null) return;
    if (fields.length >= mostFields) shortened = true;
    else if (Array.isArray(value)) {
      // Within a new thing, an empty list is what a new thing has anyway.
      if (value.length === 0 && path.length === 1) put(path, nothing);
      const several = value.length > 1;
      value.forEach((each: unknown, index) => {
        add(several ? [...path, String(index + 1)] : path, each);
      });
    } else if (typeof value === 'object' && !(value instanceof Id)) {
      for (const [name, each] of Object.entries(value)) add([...path, wordsOf(name)], each);
    } else put(path, partOf(value));
  };
  add([], schema === undefined ? params : mapTexts(schema, 'uuid', params, (text) => new Id(text)));
  return { fields, shortened };
}

/** `policy name` of `policyName`; `wallets` of `walletIds`, since names stand in their place. */
const wordsOf = (name: string): string =>
  name
    .replace(/Ids$/, 's')
    .replace(/(?<=.)Id$/, '')
    .replaceAll(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`);

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
