/** Times as people say them. */

import { locale } from '../../app/i18n/language.ts';
import { t, usualBlanks } from '../../app/i18n/text.ts';

/** The wire's form of a time: whole seconds, as strings. */
export interface Timestamp {
  readonly seconds: string;
  readonly nanos: string;
}

export const millisecondsOf = ({ seconds, nanos }: Timestamp): number =>
  Number(seconds) * 1000 + Math.floor(Number(nanos) / 1e6);

export const timestampOf = (milliseconds: number): Timestamp => ({
  seconds: String(Math.floor(milliseconds / 1000)),
  nanos: '0',
});

const units = [
  ['year', 365.25 * 86_400_000],
  ['month', 30.44 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const words = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

/** `just now`, `5 minutes ago`, `yesterday`, `in a moment`, `in 3 hours`; both in milliseconds since the epoch. */
export function relativeTime(time: number, now: number): string {
  const distance = time - now;
  for (const [unit, length] of units) {
    // Past times round down to whole units. Future times round as people plan: in seven days, and not six.
    const number = distance < 0 ? Math.trunc(distance / length) : Math.round(distance / length);
    if (Math.abs(distance) >= length) return usualBlanks(words.format(number, unit));
  }
  return distance > 0 ? t('in a moment') : t('just now');
}

/** The full date and time, with the zone, in the reader's own format. */
export const exactTime = (time: number): string => usualBlanks(exactly.format(time));

const exactly = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' });

/** The same in few words, to stand beside what it is the time of. */
export const dateAndTime = (time: number): string => usualBlanks(briefly.format(time));

const briefly = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' });
