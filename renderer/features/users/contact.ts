/** A user's email address and phone number, in the service's form. */

import { t } from '../../app/i18n/text.ts';

/** The reason why the text is not an email address, for a person to read; null for a valid or empty one. */
export const emailProblem = (text: string): string | null =>
  text.trim() === '' || /^\S+@\S+\.\S+$/.test(text.trim())
    ? null
    : t('Enter a valid email address or leave the field empty.');

/** Spaces and the like, which people write into phone numbers. */
const filling = /[\s().\-/]/g;

export const bareNumber = (text: string): string => text.replaceAll(filling, '');

/**
 * The reason why the text is not a phone number (E.164), for a person to read; null for a valid or empty one.
 */
export function phoneProblem(text: string): string | null {
  const number = bareNumber(text);
  return number === '' || /^\+[1-9]\d{6,14}$/.test(number)
    ? null
    : t('Start with + and the country code, such as +44 20 7946 0018, or leave this empty.');
}
