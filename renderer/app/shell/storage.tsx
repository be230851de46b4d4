/**
 * The notices, on every screen, about a disk that refuses writes and about recovery words that were never
 * shown.
 */
import type { ReactNode } from 'react';
import { Alert, Code } from '@mantine/core';
import { IconDatabaseOff, IconNotesOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { StorageTrouble } from '../../../preload/contract.ts';
import { t, Trans } from '../i18n/text.ts';
import { exactTime } from '../../ui/text/time.ts';
import { useStatus } from '../rpc/vault.tsx';
import './storage.css';

interface StorageNote {
  readonly title: () => string;
  readonly advice: () => string;
}

const notes: Readonly<Record<StorageTrouble['cause'], StorageNote>> = {
  full: {
    title: () => t('The disk with the vault is full'),
    advice: () => t('Free some space on it. Keyhearth continues by itself as soon as there is room.'),
  },
  quota: {
    title: () => t('The quota on the vault’s disk is used up'),
    advice: () => t('Delete files there or raise the quota. Keyhearth continues by itself after that.'),
  },
  'read-only': {
    title: () => t('The disk with the vault is read-only'),
    advice: () => t('Mount it so that it can be written. Keyhearth continues by itself after that.'),
  },
  forbidden: {
    title: () => t('Keyhearth may not write to the vault’s directory'),
    advice: () => t('Give the directory and its files back to the user who runs Keyhearth.'),
  },
  failing: {
    title: () => t('The disk with the vault is failing'),
    advice: () => t('Check the system’s log, and restore the newest backup on another disk.'),
  },
};

/** Shown while the vault's disk refuses writes. */
export function StorageNotice(): ReactNode {
  const { storage } = useStatus();
  if (storage === null) return null;
  const { title, advice } = notes[storage.cause];
  return (
    <Alert
      className="kh-storage"
      color="red"
      role="alert"
      icon={<IconDatabaseOff aria-hidden />}
      title={title()}
    >
      <p>
        <Trans
          i18nKey="Since {{time}}, <file>{{name}}</file> can’t be written. Nothing is signed or changed; you can still look at everything, lock and freeze."
          values={{ time: exactTime(storage.since), name: storage.file }}
          components={{ file: <Code /> }}
        />
      </p>
      <p>{advice()}</p>
    </Alert>
  );
}

/** Of a vault whose maker ended before it had shown the words. */
export function WordsNotice(): ReactNode {
  const { wordsNotShown } = useStatus();
  if (!wordsNotShown) return null;
  return (
    <Alert
      className="kh-storage"
      color="red"
      role="alert"
      icon={<IconNotesOff aria-hidden />}
      title={t('The words of the recovery phrase were never shown')}
    >
      <Trans
        i18nKey="The command that created this vault ended too early. <to>Generate 24 new words</to> and write them down: without them, a lost password loses the vault."
        components={{ to: <Link href="/keyslots" className="kh-link" /> }}
      />
    </Alert>
  );
}
