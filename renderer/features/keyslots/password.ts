/** The strength of a password, in words. zxcvbn estimates it: how many guesses an attacker with lists of words needs. */

import { t } from '../../app/i18n/text.ts';

export const shortestPassword = 8;

export interface PasswordStrength {
  /** 0 (too short) to 4. */
  readonly level: 0 | 1 | 2 | 3 | 4;
  readonly label: string;
  readonly hint: string;
}

/** An estimate of zxcvbn. */
export interface Guesses {
  /** The number of guesses, as a power of ten. */
  readonly power: number;
  /** The name of a weakness in zxcvbn; null where no single weakness decides. */
  readonly weakness: string | null;
}

/**
 * An attacker with the vault's file tries some thousand passwords a second, since each costs 64 MiB of memory. So 10^14 guesses take
 * thousands of years, and 10^8 a day.
 */
const levels = [
  { power: 14, level: 4, label: t('Strong'), hint: t('Keep a copy with your important papers.') },
  { power: 11, level: 3, label: t('Good'), hint: t('One more word makes the password strong.') },
  { power: 8, level: 2, label: t('Fair'), hint: t('Add another unrelated word.') },
] as const;

const commonPassword = t('This is like a common password. Use four unrelated words.');
const name = t('Names are easy to guess. Use four unrelated words.');
const pattern = t('Keys in a row are easy to guess. Use four unrelated words.');
const repetition = t('Repeated characters are easy to guess. Use four unrelated words.');
const date = t('Dates are easy to guess. Use four unrelated words.');

/** Hints to weaknesses, by their names in zxcvbn. */
const hints: Readonly<Record<string, string>> = {
  ...{ topTen: commonPassword, topHundred: commonPassword, common: commonPassword },
  similarToCommon: commonPassword,
  ...{ namesByThemselves: name, commonNames: name, userInputs: name },
  ...{ straightRow: pattern, keyPattern: pattern, sequences: pattern },
  ...{ simpleRepeat: repetition, extendedRepeat: repetition },
  ...{ recentYears: date, dates: date },
};

export function strengthOf({ power, weakness }: Guesses): PasswordStrength {
  const found = levels.find((row) => power >= row.power);
  if (found !== undefined) return found;
  const hint = hints[weakness ?? ''] ?? t('Easy to guess. Use four unrelated words.');
  return { level: 1, label: t('Weak'), hint };
}

/** @returns undefined for a password that is long enough. */
export function tooShort(password: string): PasswordStrength | undefined {
  const missing = shortestPassword - password.length;
  if (missing <= 0) return undefined;
  return {
    level: 0,
    label: t('Too short'),
    hint: t('Add at least {{count}} characters.', { count: missing }),
  };
}

/** Why a password is refused. */
export function refusalOf(password: string): string | undefined {
  const short = tooShort(password);
  return short && t('Too short. {{hint}}', { hint: short.hint });
}
