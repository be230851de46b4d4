/** The window's language: the one that was chosen in it, or the first of the browser's that exists. */

export type Texts = Readonly<Record<string, string>>;

interface Language {
  /** As in `lang` of HTML. */
  readonly code: string;
  /** In the language itself. */
  readonly name: string;
  /** Its own file of locales/; English is what the code says. */
  readonly texts?: () => Promise<Texts>;
  /** The locale of its dates and numbers, if it differs from the code. */
  readonly formats?: string;
}

/** For finding texts that no translation reaches: English that no one mistakes for a language. */
export const pseudoLocale: Language = {
  code: 'en-XA',
  name: 'Pseudo-English',
  async texts() {
    const [all, { pseudoTexts }] = await Promise.all([
      import('../../locales/en.json', { with: { type: 'json' } }),
      import('./pseudo-locale.ts'),
    ]);
    return pseudoTexts(all.default);
  },
  // In another script, so that a date that does not follow the language stands out.
  formats: 'ko',
};

const english: Language = { code: 'en', name: 'English' };

export const languages: readonly Language[] = [english];

/** By the browser, the dearest first. */
const wished = typeof document === 'undefined' ? [] : navigator.languages;

const known = [...languages, pseudoLocale];
const kept = 'keyhearth.language';

/** A page may be refused its storage; tests of single parts run without a browser. */
const storage = (): Storage | undefined => {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
};

function choose(): Language {
  const chosen = known.find(({ code }) => code === storage()?.getItem(kept));
  if (chosen !== undefined) return chosen;
  for (const tag of wished) {
    const found = languages.find(({ code }) => tag === code || tag.startsWith(`${code}-`));
    if (found !== undefined) return found;
  }
  return english;
}

export const language = choose();

/** For `Intl`: the language as it is written where the reader lives, say British dates in English. */
export const locale: string =
  language.formats ??
  wished.find((tag) => tag === language.code || tag.startsWith(`${language.code}-`)) ??
  language.code;

/** Keeps the choice in this browser and reloads the window in that language. */
export function changeLanguage(code: string): void {
  storage()?.setItem(kept, code);
  window.location.reload();
}
