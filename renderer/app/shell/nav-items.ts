/** The screens in the side bar and in the palette. */

import {
  IconAddressBook,
  IconAdjustments,
  IconArchive,
  IconBuilding,
  IconBuildingCommunity,
  IconChecklist,
  IconDevices,
  IconDoor,
  IconForms,
  IconHistory,
  IconHome,
  IconKey,
  IconLockAccess,
  IconMail,
  IconPlugConnected,
  IconRobot,
  IconShieldCheck,
  IconSignature,
  IconTags,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import type { PagePath } from '../../../docs/pages.ts';
import { t } from '../i18n/text.ts';

export interface NavItem {
  readonly to: string;
  readonly label: string;
  readonly icon: Icon;
  /** Other words by which people search for it. */
  readonly words?: string;
  /** The page of the documentation about it. */
  readonly page: PagePath;
}

export interface NavGroup {
  /** Null for what stands above the groups. */
  readonly label: string | null;
  readonly items: readonly NavItem[];
}

export const navGroups: readonly NavGroup[] = [
  {
    label: null,
    items: [{ to: '/', page: 'start', label: t('Home'), icon: IconHome, words: t('start overview health') }],
  },
  {
    label: t('Keys'),
    items: [
      {
        to: '/wallets',
        page: 'wallets',
        label: t('Wallets'),
        icon: IconWallet,
        words: t('accounts addresses seed'),
      },
      { to: '/private-keys', page: 'wallets', label: t('Private keys'), icon: IconKey },
      {
        to: '/secrets',
        page: 'secrets',
        label: t('Secrets'),
        icon: IconForms,
        words: t('passwords tokens environment variables'),
      },
      {
        to: '/sign',
        page: 'signing',
        label: t('Sign'),
        icon: IconSignature,
        words: t('message transaction payload'),
      },
    ],
  },
  {
    label: t('Decisions'),
    items: [
      {
        to: '/approvals',
        page: 'approvals',
        label: t('Approvals'),
        icon: IconChecklist,
        words: t('votes consensus queue'),
      },
      {
        to: '/policies',
        page: 'policies',
        label: t('Policies'),
        icon: IconShieldCheck,
        words: t('rules permissions'),
      },
      {
        to: '/addresses',
        page: 'signing',
        label: t('Address book'),
        icon: IconAddressBook,
        words: t('names receivers contacts'),
      },
      {
        to: '/activity',
        page: 'activity-log',
        label: t('Activity'),
        icon: IconHistory,
        words: t('log history audit'),
      },
    ],
  },
  {
    label: t('People'),
    items: [
      {
        to: '/users',
        page: 'scripts-and-ci',
        label: t('Users'),
        icon: IconUsers,
        words: t('credentials passkeys API keys'),
      },
      {
        to: '/sessions',
        page: 'sign-in-and-messages',
        label: t('Sessions'),
        icon: IconDevices,
        words: t('signed in'),
      },
      { to: '/tags', page: 'policies', label: t('Tags'), icon: IconTags },
      {
        to: '/organization',
        page: 'approvals',
        label: t('Organization'),
        icon: IconBuilding,
        words: t('features quorum'),
      },
      {
        to: '/sub-organizations',
        page: 'sub-organizations',
        label: t('Sub-organizations'),
        icon: IconBuildingCommunity,
      },
    ],
  },
  {
    label: t('Programs'),
    items: [
      {
        to: '/connect',
        page: 'scripts-and-ci',
        label: t('Connect'),
        icon: IconPlugConnected,
        words: t('API scripts SDK curl'),
      },
      {
        to: '/agents',
        page: 'agents',
        label: t('Agents'),
        icon: IconRobot,
        words: t('AI MCP budgets pause'),
      },
      {
        to: '/doors',
        page: 'ssh',
        label: t('Doors'),
        icon: IconDoor,
        words: t('SSH agent git programs pair'),
      },
      {
        to: '/webhooks',
        page: 'webhooks',
        label: t('Webhooks'),
        icon: IconWebhook,
        words: t('events deliveries'),
      },
    ],
  },
  {
    label: t('Vault'),
    items: [
      {
        to: '/messages',
        page: 'sign-in-and-messages',
        label: t('Messages'),
        icon: IconMail,
        words: t('email mail SMS codes'),
      },
      {
        to: '/keyslots',
        page: 'backup-and-recovery',
        label: t('Unlock methods'),
        icon: IconLockAccess,
        words: t('password keychain'),
      },
      {
        to: '/backups',
        page: 'backup-and-recovery',
        label: t('Backups'),
        icon: IconArchive,
        words: t('restore test'),
      },
      {
        to: '/settings',
        page: 'service-and-updates',
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

/** The page of the documentation about the screen at an address. */
export const documentationOf = (location: string): PagePath =>
  navGroups.flatMap(({ items }) => items).find((item) => isAt(location, item))?.page ?? 'start';
