/** A rough, honest estimate of a password's strength: enough to steer, never to promise. */

import { t } from '../../app/i18n/text.ts';

export const shortestPassword = 8;

export interface PasswordStrength {
  /** 0 (too short) to 4. */
  readonly level: 0 | 1 | 2 | 3 | 4;
  readonly label: string;
  readonly hint: string;
}

const levels = [
  { bits: 75, level: 4, label: t('Strong'), hint: t('Keep a copy with your important papers.') },
  { bits: 55, level: 3, label: t('Good'), hint: t('One more word makes the password strong.') },
  { bits: 40, level: 2, label: t('Fair'), hint: t('Add another unrelated word.') },
] as const;

const overused =
  /pass\s*w?ord|qwert|azerty|letmein|welcome|dragon|monkey|secret|admin|keyhearth|iloveyou|abc123|12345/i;

export function passwordStrength(password: string): PasswordStrength {
  const missing = shortestPassword - password.length;
  if (missing > 0) {
    return {
      level: 0,
      label: t('Too short'),
      hint: t('Add at least {{count}} characters.', { count: missing }),
    };
  }
  const bits = estimatedBits(password);
  const found = levels.find((row) => bits >= row.bits);
  return (
    found ?? {
      level: 1,
      label: t('Weak'),
      hint: t('Easy to guess. Use four unrelated words.'),
    }
  );
}

/** Characters that follow from the one before (repeats, runs) and overused words count for little. */
function estimatedBits(password: string): number {
  const rare = password.replace(new RegExp(overused, 'gi'), '~');
  let telling = 0;
  for (let i = 0; i < rare.length; i += 1) {
    const step = rare.charCodeAt(i) - rare.charCodeAt(i - 1);
    telling += i > 0 && Math.abs(step) <= 1 ? 0.25 : 1;
  }
  const alphabet =
    (/[a-z]/.test(rare) ? 26 : 0) +
    (/[A-Z]/.test(rare) ? 26 : 0) +
    (/\d/.test(rare) ? 10 : 0) +
    (/[^a-zA-Z\d]/.test(rare) ? 20 : 0);
  // Words of a language repeat letters: the share of distinct characters stands in for that.
  const variety = Math.min(1, new Set(rare).size / Math.min(rare.length, 16));
  return telling * Math.log2(Math.max(alphabet, 2)) * variety;
}
