/**
 * The window's texts in the user's language. The English text is its own key, so that the code reads as the window does:
 *
 *     t('Delete the wallet {{name}}?', { name })
 *     t('{{count}} accounts', { count })        // forms of numbers are in locales/numbers.json
 *     <Trans i18nKey="Read <docs>the API reference</docs> first." components={{ docs: <Link href="/connect" /> }} />
 *
 * The language is chosen when the window loads; changing it reloads the window. So constants may hold texts too. A value in a
 * text may be foreign: nothing of it is hidden, and it moves nothing around it. `npm run texts` gathers
 * the texts in locales/en.json.
 */

import { visibleName } from '../../../main/lib/text/visible-text.ts';
import english from '../../locales/numbers.json' with { type: 'json' };
import { language, locale } from './language.ts';

/** The values that fill a text; `count` chooses its form. */
export type TextValues = Readonly<Record<string, string | number>>;

const texts: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ ...english, ...(await language.texts?.()) }),
);

/** Formats of numbers and times have blanks of their own, which in a name would be marked. */
export const usualBlanks = (text: string): string => text.replaceAll(/\p{Zs}/gu, ' ');

const plurals = new Intl.PluralRules(language.code);
const numbers = new Intl.NumberFormat(locale);
const conjunction = new Intl.ListFormat(locale, { type: 'conjunction' });
const disjunction = new Intl.ListFormat(locale, { type: 'disjunction' });

/** A text in the user's language, with places for its values. A text that is missing there is English. */
export function translated(text: string, count: number | undefined): string {
  if (count === undefined) return texts.get(text) ?? text;
  return texts.get(`${text}_${plurals.select(count)}`) ?? texts.get(`${text}_other`) ?? text;
}

/** Puts values into their places. A value is never read as part of the text. */
export const filled = (text: string, values: TextValues): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return place;
    if (typeof value === 'string') return visibleName(value);
    // Other numbers may be ports or codes.
    return name === 'count' ? numbers.format(value) : String(value);
  });

export const countOf = ({ count }: TextValues): number | undefined =>
  typeof count === 'number' ? count : undefined;

export const t = (text: string, values: TextValues = {}): string =>
  filled(translated(text, countOf(values)), values);

/** A number as it is written in the person's language. */
export const numeral = (number: number): string => usualBlanks(numbers.format(number));

/** `A, B, and C`. */
export const allOf = (names: readonly string[]): string => conjunction.format(names.map(visibleName));

/** `A, B, or C`. */
export const anyOf = (names: readonly string[]): string => disjunction.format(names.map(visibleName));
