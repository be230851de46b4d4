/**
 * What the window says, in the person's language. The English text is its own key, so that the code reads as the window does:
 *
 *     t('Delete the wallet {{name}}?', { name })
 *     t('{{count}} accounts', { count })        // forms of numbers are in locales/en.json
 *     <Trans i18nKey="Read <docs>the API reference</docs> first." components={{ docs: <Link href="/connect" /> }} />
 *
 * The language is chosen when the window loads; another one loads it anew. So texts may be made anywhere, in constants too.
 * What people named, and what the service answers, is shown as it is.
 */

import i18next from 'i18next';
import { initReactI18next, Trans } from 'react-i18next';
import english from '../locales/en.json' with { type: 'json' };

export { Trans };

/** What a text is filled with; `count` chooses its form. */
export type TextValues = Readonly<Record<string, string | number>>;

const window18n = i18next.createInstance();

// Texts are sentences: no part of one is a path, and React escapes what it shows.
void window18n.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: english } },
  initAsync: false,
  keySeparator: false,
  nsSeparator: false,
  interpolation: { escapeValue: false },
});

export const t = (text: string, values: TextValues = {}): string => window18n.t(text, values);
