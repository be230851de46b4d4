/** The screens in the side bar and in the palette. */

import {
  IconAdjustments,
  IconArchive,
  IconBuilding,
  IconBuildingCommunity,
  IconChecklist,
  IconDevices,
  IconHistory,
  IconHome,
  IconKey,
  IconLockAccess,
  IconMail,
  IconPlugConnected,
  IconShieldCheck,
  IconSignature,
  IconTags,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { t } from '../i18n/text.ts';

export interface NavItem {
  readonly to: string;
  readonly label: string;
  readonly icon: Icon;
  /** Other words by which people search for it. */
  readonly words?: string;
}

export interface NavGroup {
  /** Null for what stands above the groups. */
  readonly label: string | null;
  readonly items: readonly NavItem[];
}

export const navGroups: readonly NavGroup[] = [
  {
    label: null,
    items: [{ to: '/', label: t('Home'), icon: IconHome, words: t('start overview health') }],
  },
  {
    label: t('Keys'),
    items: [
      { to: '/wallets', label: t('Wallets'), icon: IconWallet, words: t('accounts addresses seed') },
      { to: '/private-keys', label: t('Private keys'), icon: IconKey },
      { to: '/sign', label: t('Sign'), icon: IconSignature, words: t('message transaction payload') },
    ],
  },
  {
    label: t('Decisions'),
    items: [
      { to: '/approvals', label: t('Approvals'), icon: IconChecklist, words: t('votes consensus queue') },
      { to: '/policies', label: t('Policies'), icon: IconShieldCheck, words: t('rules permissions') },
      { to: '/activity', label: t('Activity'), icon: IconHistory, words: t('log history audit') },
    ],
  },
  {
    label: t('People'),
    items: [
      { to: '/users', label: t('Users'), icon: IconUsers, words: t('credentials passkeys API keys') },
      { to: '/sessions', label: t('Sessions'), icon: IconDevices, words: t('signed in') },
      { to: '/tags', label: t('Tags'), icon: IconTags },
      { to: '/organization', label: t('Organization'), icon: IconBuilding, words: t('features quorum') },
      { to: '/sub-organizations', label: t('Sub-organizations'), icon: IconBuildingCommunity },
    ],
  },
  {
    label: t('Programs'),
    items: [
      { to: '/connect', label: t('Connect'), icon: IconPlugConnected, words: t('API scripts SDK curl') },
      { to: '/webhooks', label: t('Webhooks'), icon: IconWebhook, words: t('events deliveries') },
    ],
  },
  {
    label: t('Vault'),
    items: [
      { to: '/messages', label: t('Messages'), icon: IconMail, words: t('mail SMS codes') },
      { to: '/keyslots', label: t('Unlock methods'), icon: IconLockAccess, words: t('password keychain') },
      { to: '/backups', label: t('Backups'), icon: IconArchive, words: t('restore test') },
      {
        to: '/settings',
        label: t('Settings'),
        icon: IconAdjustments,
        words: t('auto-lock network port language appearance about version licences'),
      },
    ],
  },
];

/** The item that an address belongs to. */
export const isAt = (location: string, { to }: Pick<NavItem, 'to'>): boolean =>
  location === to || (to !== '/' && location.startsWith(`${to}/`));
