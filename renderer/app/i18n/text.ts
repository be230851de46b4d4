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

import { createElement } from 'react';
import type { ComponentProps, ReactElement } from 'react';
import i18next from 'i18next';
import { initReactI18next, Trans as Parts } from 'react-i18next';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import english from '../../locales/numbers.json' with { type: 'json' };
import { language, locale } from './language.ts';

/** The values that fill a text; `count` chooses its form. */
type TextValues = Readonly<Record<string, string | number>>;

const translation = await language.texts?.();

/** Formats of numbers and times have blanks of their own, which in a name would be marked. */
export const usualBlanks = (text: string): string => text.replaceAll(/\p{Zs}/gu, ' ');

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

const shown = (values: TextValues): TextValues =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? visibleName(value) : value,
    ]),
  );

export function t(text: string, values: TextValues = {}): string {
  const { count } = values;
  if (typeof count !== 'number') return window18n.t(text, shown(values));
  // Other numbers may be ports or codes.
  return window18n.t(text, { count, replace: { ...shown(values), count: numbers.format(count) } });
}

type TransProps = Pick<ComponentProps<typeof Parts>, 'i18nKey' | 'components' | 'count'> & {
  readonly values?: TextValues;
};

/** A text with links and other components in it. */
export const Trans = ({ values = {}, ...text }: TransProps): ReactElement =>
  createElement(Parts, { ...text, values: shown(values) });

/** A number as it is written in the person's language. */
export const numeral = (number: number): string => usualBlanks(numbers.format(number));

/** `A, B, and C`. */
export const allOf = (names: readonly string[]): string => conjunction.format(names.map(visibleName));

/** `A, B, or C`. */
export const anyOf = (names: readonly string[]): string => disjunction.format(names.map(visibleName));
