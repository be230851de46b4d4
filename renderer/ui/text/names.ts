import { lookAlikeOf, lookAlikeWarnings } from '../../../main/lib/text/look-alikes.ts';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { t } from '../../app/i18n/text.ts';

/** The longest name that the service takes, in characters. */
export const longestName = 64;

/** Why a name cannot be given, for a person to read; null when it can. */
export function nameProblem(name: string, what: Named, taken: readonly string[] = []): string | null {
  const trimmed = name.trim();
  if (trimmed === '') return missing[what];
  return taken.includes(trimmed) ? duplicate[what] : null;
}

/** A hint about a name before it is given: another name that it resembles; null without one. */
export function nameHint(name: string, others: readonly string[] = []): string | null {
  const trimmed = name.trim();
  const other = lookAlikeOf(trimmed, others);
  if (other !== undefined) return t('It looks like “{{other}}”.', { other });
  if (visibleName(trimmed).replaceAll(/[\u2068\u2069]/g, '') !== trimmed) {
    return t('Some of its characters are not visible. It is shown as “{{name}}”.', { name: trimmed });
  }
  return lookAlikeWarnings(trimmed).length === 0
    ? null
    : t('It has letters that look like others: it may be taken for another name.');
}

export type Named =
  | 'endpoint'
  | 'interface'
  | 'key'
  | 'organization'
  | 'passkey'
  | 'policy'
  | 'subOrganization'
  | 'tag'
  | 'user'
  | 'wallet';

const missing: Readonly<Record<Named, string>> = {
  endpoint: t('Give the endpoint a name.'),
  interface: t('Give the interface a name.'),
  key: t('Give the key a name.'),
  organization: t('Give the organization a name.'),
  passkey: t('Give the passkey a name.'),
  policy: t('Give the policy a name.'),
  subOrganization: t('Give the sub-organization a name.'),
  tag: t('Give the tag a name.'),
  user: t('Give the user a name.'),
  wallet: t('Give the wallet a name.'),
};

const duplicate: Readonly<Record<Named, string>> = {
  endpoint: t('There is an endpoint with this name already.'),
  interface: t('There is an interface with this name already.'),
  key: t('There is a key with this name already.'),
  organization: t('There is an organization with this name already.'),
  passkey: t('There is a passkey with this name already.'),
  policy: t('There is a policy with this name already.'),
  subOrganization: t('There is a sub-organization with this name already.'),
  tag: t('There is a tag with this name already.'),
  user: t('There is a user with this name already.'),
  wallet: t('There is a wallet with this name already.'),
};

/** The first of `Wallet 1`, `Wallet 2`, … that is not taken, whatever its case. */
export function freeName(base: string, taken: readonly string[]): string {
  const names = new Set(taken.map((name) => name.toLowerCase()));
  let number = 1;
  while (names.has(`${base} ${String(number)}`.toLowerCase())) number += 1;
  return `${base} ${String(number)}`;
}
