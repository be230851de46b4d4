/**
 * What the window says, in the person's language. The English text is its own key, so that the code reads as the window does:
 *
 *     t('Delete the wallet {{name}}?', { name })
 *     t('{{count}} accounts', { count })        // forms of numbers are in locales/numbers.json
 *     <Trans i18nKey="Read <docs>the API reference</docs> first." components={{ docs: <Link href="/connect" /> }} />
 *
 * The language is chosen when the window loads; another one loads it anew. So texts may be made anywhere, in constants too.
 * What people named, and what the service answers, is shown as it is. `npm run texts` gathers the texts in locales/en.json.
 */

import i18next from 'i18next';
import { initReactI18next, Trans } from 'react-i18next';
import english from '../locales/numbers.json' with { type: 'json' };
import { language, locale } from './language.ts';

export { Trans };

/** What a text is filled with; `count` chooses its form. */
type TextValues = Readonly<Record<string, string | number>>;

const translation = await language.texts?.();

const numbers = new Intl.NumberFormat(locale);
const conjunction = new Intl.ListFormat(locale, { type: 'conjunction' });
const disjunction = new Intl.ListFormat(locale, { type: 'disjunction' });

const window18n = i18next.createInstance();

// Texts are sentences: no part of one is a path, and React escapes what it shows.
void window18n.use(initReactI18next).init({
  lng: language.code,
  fallbackLng: 'en',
  resources: {
    en: { translation: english },
    ...(translation !== undefined && { [language.code]: { translation } }),
  },
  initAsync: false,
  keySeparator: false,
  nsSeparator: false,
  interpolation: { escapeValue: false },
});

export function t(text: string, values: TextValues = {}): string {
  const { count } = values;
  if (typeof count !== 'number') return window18n.t(text, values);
  // Other numbers may be ports or codes.
  return window18n.t(text, { count, replace: { ...values, count: numbers.format(count) } });
}

/** A number as it is written in the person's language. */
export const numeral = (number: number): string => numbers.format(number);

/** `A, B, and C`. */
export const allOf = (names: readonly string[]): string => conjunction.format(names);

/** `A, B, or C`. */
export const anyOf = (names: readonly string[]): string => disjunction.format(names);
