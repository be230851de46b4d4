/** The longest name that the service takes, in characters. */
import { t } from './text.ts';

export const longestName = 64;

/** Why a name cannot be given, for a person to read; null when it can. */
export function nameProblem(name: string, what: string, taken: readonly string[] = []): string | null {
  const trimmed = name.trim();
  if (trimmed === '') return t('Give the {{what}} a name.', { what });
  return taken.includes(trimmed) ? t('There is a {{what}} with this name already.', { what }) : null;
}

/** The first of `Wallet 1`, `Wallet 2`, … that is not taken, whatever its case. */
export function freeName(base: string, taken: readonly string[]): string {
  const names = new Set(taken.map((name) => name.toLowerCase()));
  let number = 1;
  while (names.has(`${base} ${String(number)}`.toLowerCase())) number += 1;
  return `${base} ${String(number)}`;
}
