/** Lifetimes of API keys, in seconds as digits; empty for a key that never expires. */
import { t } from '../../app/i18n/text.ts';

const day = 86_400;

export const lifetimes = [
  { value: String(day), label: t('After a day') },
  { value: String(7 * day), label: t('After a week') },
  { value: String(30 * day), label: t('After 30 days') },
  { value: String(90 * day), label: t('After 90 days') },
  { value: String(365 * day), label: t('After a year') },
  { value: '', label: t('Never') },
] as const;

export const usualLifetime = String(90 * day);
