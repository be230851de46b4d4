/** Search results in words, with the addresses of their screens. */

import {
  IconAddressBook,
  IconBuildingCommunity,
  IconCoin,
  IconForms,
  IconHistory,
  IconKey,
  IconPlugConnected,
  IconShieldCheck,
  IconTag,
  IconUser,
  IconWallet,
} from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { describeType, describeStatus } from '../../features/activity/activity-words.ts';
import { shorten } from '../../ui/text/short.ts';
import { t } from '../i18n/text.ts';

/** As the service answers it. */
export interface SearchResult {
  readonly kind: keyof typeof kinds;
  readonly id: string;
  readonly name: string;
  readonly detail: string | null;
  readonly within: string | null;
}

interface Kind {
  readonly group: string;
  readonly icon: Icon;
  readonly to: (result: SearchResult) => string;
  /** Replaces its name and detail on the screen. */
  readonly say?: (result: SearchResult) => { readonly name: string; readonly detail: string };
}

const kinds = {
  WALLET: { group: t('Wallets'), icon: IconWallet, to: ({ id }) => `/wallets/${id}` },
  WALLET_ACCOUNT: {
    group: t('Accounts'),
    icon: IconCoin,
    to: ({ detail, within }) => `/wallets/${within ?? ''}/accounts/${encodeURIComponent(detail ?? '')}`,
    say: ({ name, detail }) => ({
      name: name === detail ? shorten(name, 12, 10) : name,
      detail: name === detail ? '' : shorten(detail ?? '', 12, 10),
    }),
  },
  PRIVATE_KEY: {
    group: t('Private keys'),
    icon: IconKey,
    to: ({ id }) => `/private-keys/${id}`,
    say: ({ name, detail }) => ({ name, detail: (detail ?? '').replace('CURVE_', '').toLowerCase() }),
  },
  SECRET: { group: t('Secrets'), icon: IconForms, to: ({ id }) => `/secrets/${id}` },
  USER: { group: t('Users'), icon: IconUser, to: ({ id }) => `/users/${id}` },
  API_KEY: {
    group: t('API keys'),
    icon: IconPlugConnected,
    to: ({ within }) => `/users/${within ?? ''}`,
    say: ({ name, detail }) => ({ name, detail: shorten(detail ?? '') }),
  },
  POLICY: {
    group: t('Policies'),
    icon: IconShieldCheck,
    to: ({ id }) => `/policies/${id}`,
    say: ({ name, detail }) => ({ name, detail: detail === 'EFFECT_DENY' ? t('denies') : t('allows') }),
  },
  USER_TAG: { group: t('Tags'), icon: IconTag, to: () => '/tags', say: ofTag(t('for users')) },
  PRIVATE_KEY_TAG: { group: t('Tags'), icon: IconTag, to: () => '/tags', say: ofTag(t('for private keys')) },
  KNOWN_ADDRESS: {
    group: t('Address book'),
    icon: IconAddressBook,
    to: () => '/addresses',
    say: ({ name, detail }) => ({ name, detail: shorten(detail ?? '', 12, 10) }),
  },
  SUB_ORGANIZATION: {
    group: t('Sub-organizations'),
    icon: IconBuildingCommunity,
    to: ({ id }) => `/sub-organizations/${id}`,
  },
  ACTIVITY: {
    group: t('Activity'),
    icon: IconHistory,
    to: ({ id }) => `/activity/${id}`,
    say: ({ name, detail, id }) => ({
      name: `${describeType(name)} ${shorten(id)}`,
      detail: describeStatus(detail ?? '').label,
    }),
  },
} as const satisfies Readonly<Record<string, Kind>>;

function ofTag(detail: string): (result: SearchResult) => { readonly name: string; readonly detail: string } {
  return ({ name }) => ({ name, detail });
}

export interface ListedResult {
  readonly group: string;
  readonly icon: Icon;
  readonly to: string;
  readonly name: string;
  readonly detail: string;
}

/** Activities of the best results of a search: what a wallet or a user did. */
export const activitiesOf = (results: readonly SearchResult[]): readonly (ListedResult & { id: string })[] =>
  results
    .filter(({ kind }) => withActivity.has(kind))
    .slice(0, mostActivities)
    .map((result) => ({
      id: `of ${result.id}`,
      group: kinds.ACTIVITY.group,
      icon: kinds.ACTIVITY.icon,
      to: `${kinds[result.kind].to(result)}/activity`,
      name: t('Activity of {{name}}', { name: result.name }),
      detail: '',
    }));

const withActivity: ReadonlySet<string> = new Set(['WALLET', 'PRIVATE_KEY', 'SECRET', 'USER', 'POLICY']);
const mostActivities = 3;

export function say(result: SearchResult): ListedResult {
  const kind: Kind = kinds[result.kind];
  const { name, detail } = kind.say?.(result) ?? { name: result.name, detail: result.detail ?? '' };
  return { group: kind.group, icon: kind.icon, to: kind.to(result), name, detail };
}
