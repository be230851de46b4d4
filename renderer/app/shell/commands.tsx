/** Actions that are available everywhere in the vault, as the palette offers them. */

import { useMantineColorScheme } from '@mantine/core';
import type { MantineColorScheme } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  IconArchive,
  IconBook,
  IconCopy,
  IconDeviceDesktop,
  IconFileCode,
  IconFileImport,
  IconInfoCircle,
  IconKey,
  IconKeyboard,
  IconListCheck,
  IconLock,
  IconMoon,
  IconPlugConnected,
  IconPlus,
  IconPrinter,
  IconSignature,
  IconSnowflake,
  IconSun,
  IconUserPlus,
} from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { documentationUrl } from '../../../docs/page-urls.ts';
import { pages } from '../../../docs/pages.ts';
import type { BackUp } from '../../../preload/contract.ts';
import { canFreeze } from '../../features/unlock/freeze.tsx';
import { navGroups } from './nav-items.ts';
import type { NavItem } from './nav-items.ts';
import { readable } from '../../ui/text/readable.ts';
import { t } from '../i18n/text.ts';
import { pagesUrl } from '../rpc/pages-url.ts';
import { sayDone } from './undo.tsx';
import { useBackupCall, useBackups, useRpc, useStatus, useStatusCall } from '../rpc/vault.tsx';

export interface Command {
  readonly id: string;
  readonly label: string;
  readonly icon: Icon;
  /** Other words by which people search for it. */
  readonly words?: string | undefined;
  /** Keys that do the same. */
  readonly keys?: string;
  readonly run: () => void;
}

/** Screens that create or start something. */
const ways: readonly (Omit<Command, 'id' | 'run'> & { readonly to: string })[] = [
  { to: '/wallets/new', label: t('Create wallet'), icon: IconPlus, words: t('new make seed phrase') },
  { to: '/wallets/import', label: t('Import wallet'), icon: IconFileImport, words: t('mnemonic words') },
  { to: '/private-keys/new', label: t('Create private key'), icon: IconPlus, words: t('new make') },
  { to: '/private-keys/import', label: t('Import private key'), icon: IconFileImport },
  { to: '/secrets/new', label: t('Add secret'), icon: IconPlus, words: t('new password token') },
  { to: '/sign', label: t('Sign something'), icon: IconSignature, words: t('message transaction') },
  { to: '/connect', label: t('Create a script key'), icon: IconPlugConnected, words: t('API connect') },
  {
    to: '/activity/security',
    label: t('Security timeline'),
    icon: IconLock,
    words: t('unlocks wrong password log'),
  },
  { to: '/users/new', label: t('Create user'), icon: IconUserPlus, words: t('new add person') },
  { to: '/policies/new', label: t('Create policy'), icon: IconPlus, words: t('new make rule') },
  {
    to: '/keyslots/another/new-phrase',
    label: t('Add a recovery phrase'),
    icon: IconKey,
    words: t('words backup paper'),
  },
  {
    to: '/keyslots/sheet',
    label: t('Print recovery phrase or shares'),
    icon: IconPrinter,
    words: t('paper sheet QR'),
  },
  { to: '/sub-organizations/new', label: t('Create sub-organization'), icon: IconPlus, words: t('new make') },
];

/** Screens that the palette finds and that have no line in the side bar. */
const moreNavItems: readonly NavItem[] = [
  {
    to: '/policies/permissions',
    page: 'policies',
    label: t('Permissions'),
    icon: IconListCheck,
    words: t('who may policies rights'),
  },
  {
    to: '/sign/contracts',
    page: 'signing',
    label: t('Contract interfaces'),
    icon: IconFileCode,
    words: t('ABI IDL sign transactions'),
  },
  {
    to: '/about',
    page: 'service-and-updates',
    label: t('About Keyhearth'),
    icon: IconInfoCircle,
    words: t('version self-test licences update health'),
  },
];

const appearances: readonly {
  readonly scheme: MantineColorScheme;
  readonly label: string;
  readonly icon: Icon;
}[] = [
  { scheme: 'light', label: t('Light theme'), icon: IconSun },
  { scheme: 'dark', label: t('Dark theme'), icon: IconMoon },
  { scheme: 'auto', label: t('System theme'), icon: IconDeviceDesktop },
];

interface Wishes {
  /** Opens the list of shortcuts. */
  readonly onHelp: () => void;
  /** Opens the dialog that freezes all signing. */
  readonly onFreeze: () => void;
}

export function useCommands({ onHelp, onFreeze }: Wishes): {
  readonly actions: readonly Command[];
  readonly screens: readonly Command[];
  readonly documentation: readonly Command[];
} {
  const [, navigate] = useLocation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const status = useStatus();
  const { url, organization, keyslots } = status;
  const rpc = useRpc();
  const lock = useStatusCall((to) => to.lock());
  const backups = useBackups().data;
  const backUp = useBackupCall((to, wish: BackUp) => to.backUp(wish));

  const copy = (text: string, copied: string) => {
    rpc.copy(text).then(
      () => notifications.show({ message: copied }),
      (error: unknown) => {
        sayFailed(t('Couldn’t copy'), error);
      },
    );
  };
  const appear = (scheme: MantineColorScheme, label: string) => {
    const before = colorScheme;
    setColorScheme(scheme);
    sayDone({
      title: label,
      // No one else changes how this window looks.
      isAsDone: () => Promise.resolve(true),
      undo: () => {
        setColorScheme(before);
        return Promise.resolve();
      },
    });
  };
  const makeBackup = () => {
    // The screen asks for the directory, unless the schedule has one, and shows the progress.
    if (backups?.schedule == null || backups.running !== null) {
      navigate('/backups');
      return;
    }
    notifications.show({
      id: 'back-up',
      title: t('Backing up'),
      message: t('You can keep working.'),
      loading: true,
      autoClose: false,
    });
    // The palette is closed by then, and its callbacks with it: a promise stays.
    backUp.mutateAsync({}).then(
      ({ file }) =>
        notifications.update({
          id: 'back-up',
          title: t('Backup created'),
          message: file,
          loading: false,
          autoClose: 8_000,
        }),
      (error: unknown) => {
        notifications.hide('back-up');
        sayFailed(t('Couldn’t create the backup'), error);
      },
    );
  };

  const actions: Command[] = [
    ...ways.map(({ to, ...way }) => ({
      ...way,
      id: to,
      run: () => {
        navigate(to);
      },
    })),
    ...(keyslots.length === 0
      ? []
      : [
          {
            id: 'lock',
            label: t('Lock now'),
            icon: IconLock,
            words: t('close shut'),
            run: () => {
              lock.mutateAsync(undefined).catch((error: unknown) => {
                sayFailed(t('Couldn’t lock the vault'), error);
              });
            },
          },
        ]),
    ...(canFreeze(status)
      ? [
          {
            id: 'freeze',
            label: t('Freeze all signing…'),
            icon: IconSnowflake,
            words: t('stop emergency panic'),
            run: onFreeze,
          },
        ]
      : []),
    ...(backups?.available === true
      ? [
          {
            id: 'back-up',
            label: t('Back up now'),
            icon: IconArchive,
            words: t('save copy'),
            run: makeBackup,
          },
        ]
      : []),
    {
      id: 'copy-url',
      label: t('Copy API address'),
      icon: IconCopy,
      words: url,
      run: () => {
        copy(url, t('API address copied'));
      },
    },
    ...(organization === null
      ? []
      : [
          {
            id: 'copy-organization',
            label: t('Copy organization ID'),
            icon: IconCopy,
            run: () => {
              copy(organization.id, t('Organization ID copied'));
            },
          },
        ]),
    ...appearances
      .filter(({ scheme }) => scheme !== colorScheme)
      .map(({ scheme, label, icon }) => ({
        id: `appearance-${scheme}`,
        label,
        icon,
        words: t('appearance colors mode'),
        run: () => {
          appear(scheme, label);
        },
      })),
    {
      id: 'help',
      label: t('Keyboard shortcuts'),
      icon: IconKeyboard,
      words: t('help keys'),
      keys: '?',
      run: onHelp,
    },
  ];
  const goingTo = ({ to, label, icon, words = '' }: NavItem, group = ''): Command => ({
    id: `screen-${to}`,
    label,
    icon,
    words: `${words} ${group}`,
    run: () => {
      navigate(to);
    },
  });
  const screens = [
    ...navGroups.flatMap((group) => group.items.map((item) => goingTo(item, group.label ?? ''))),
    ...moreNavItems.map((item) => goingTo(item)),
  ];
  const documentation = pages.map(({ path, title, summary }) => ({
    id: `documentation-${path}`,
    label: title,
    icon: IconBook,
    words: `docs ${summary}`,
    run: () => {
      window.open(documentationUrl(pagesUrl(url), path), '_blank', 'noopener,noreferrer');
    },
  }));
  return { actions, screens, documentation };
}

function sayFailed(title: string, error: unknown): void {
  notifications.show({
    title,
    message: readable(error),
    autoClose: false,
  });
}

/** Those that every word of a query is in, the nearest first. */
export function matching(commands: readonly Command[], query: string): readonly Command[] {
  const wanted = wordsOf(query);
  const found = commands.filter(({ label, words = '' }) => {
    const text = fold(`${label} ${words}`);
    return wanted.every((word) => text.includes(word));
  });
  return found.toSorted((a, b) => distance(a.label, query) - distance(b.label, query));
}

/**
 * The distance of a label from a query: 0 if it begins with the query, then if it has all its words, then if
 * other words matched.
 */
export function distance(label: string, query: string): number {
  const text = fold(label);
  const wanted = wordsOf(query);
  if (text.startsWith(wanted.join(' '))) return 0;
  return wanted.every((word) => text.includes(word)) ? 1 : 2;
}

const wordsOf = (query: string): readonly string[] =>
  fold(query)
    .split(/\s+/)
    .filter((word) => word !== '');

/** Without case and accents. */
const fold = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
