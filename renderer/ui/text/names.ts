import { lookAlikeOf, lookAlikeWarnings, skeleton } from '../../../main/lib/text/look-alikes.ts';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { t } from '../../app/i18n/text.ts';

/** The longest name that a form takes, in characters. The service takes longer ones of users and API keys. */
export const longestName = 64;

/** Why a name cannot be given, for a person to read; null when it can. */
export function nameProblem(name: string, taken: readonly string[] = []): string | null {
  const trimmed = name.trim();
  if (trimmed === '') return t('Enter a name.');
  return taken.includes(trimmed) ? t('This name is taken.') : null;
}

/** A hint about a name before it is given: another name that it resembles; null without one. */
export function nameHint(name: string, others: readonly string[] = []): string | null {
  const trimmed = name.trim();
  const other = lookAlikeOf(trimmed, others);
  if (other !== undefined) return t('Looks like “{{other}}”.', { other });
  if (visibleName(trimmed).replaceAll(/[\u2068\u2069]/g, '') !== trimmed) {
    return t('Contains invisible characters. Shown as “{{name}}”.', { name: trimmed });
  }
  return lookAlikeWarnings(trimmed).length === 0 ? null : t('Contains letters that look like others.');
}

/** The first of `Wallet 1`, `Wallet 2`, … that is not taken, whatever its case. */
export function freeName(base: string, taken: readonly string[]): string {
  const names = new Set(taken.map((name) => name.toLowerCase()));
  let number = 1;
  while (names.has(`${base} ${String(number)}`.toLowerCase())) number += 1;
  return `${base} ${String(number)}`;
}

export interface Named {
  readonly id: string;
  /** With the end of the id where another has the same name or one that looks like it. */
  readonly label: string;
}

/** Adds the end of the id to each of two users named Anna. */
export function labelled(list: readonly { readonly id: string; readonly name: string }[]): readonly Named[] {
  const looks = list.map(({ name }) => skeleton(name));
  const counts = new Map<string, number>();
  for (const look of looks) counts.set(look, (counts.get(look) ?? 0) + 1);
  return list.map(({ id, name }, index) => ({
    id,
    label:
      (counts.get(looks[index] ?? '') ?? 0) > 1
        ? `${visibleName(name)} (…${id.slice(-4)})`
        : visibleName(name),
  }));
}
