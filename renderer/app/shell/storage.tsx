/**
 * The notices, on every screen, about a disk that refuses writes and about recovery words that were never
 * shown.
 */
import type { ReactNode } from 'react';
import { Alert, Code } from '@mantine/core';
import { IconDatabaseOff, IconNotesOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { StorageTrouble } from '../../../preload/contract.ts';
import { t } from '../i18n/text.ts';
import { Trans } from '../i18n/trans.ts';
import { exactTime } from '../../ui/text/time.ts';
import { useStatus } from '../rpc/vault.tsx';
import './storage.css';

interface StorageNote {
  readonly title: () => string;
  readonly advice: () => string;
}

const notes: Readonly<Record<StorageTrouble['cause'], StorageNote>> = {
  full: {
    title: () => t('The vault’s disk is full'),
    advice: () => t('Free up some space. Keyhearth then continues automatically.'),
  },
  quota: {
    title: () => t('The vault’s disk quota is used up'),
    advice: () => t('Delete files or raise the quota. Keyhearth then continues automatically.'),
  },
  'read-only': {
    title: () => t('The vault’s disk is read-only'),
    advice: () => t('Mount the disk as writable. Keyhearth then continues automatically.'),
  },
  forbidden: {
    title: () => t('Keyhearth can’t write to the vault’s folder'),
    advice: () => t('Give the folder and its files back to the user who runs Keyhearth.'),
  },
  'too-large': {
    title: () => t('The vault’s file is as large as the disk or the system permits'),
    advice: () =>
      t('Raise the limit of the size of files (ulimit -f), or use a disk that takes larger files.'),
  },
  failing: {
    title: () => t('The vault’s disk is failing'),
    advice: () => t('Check the system log and restore the newest backup to another disk.'),
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
          i18nKey="Since {{time}}, <file>{{name}}</file> can’t be written. You can view, lock and freeze, but not sign or change anything."
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
      title={t('The recovery phrase was never shown')}
    >
      <Trans
        i18nKey="<to>Generate 24 new words</to> and write them down in case you lose the password."
        components={{ to: <Link href="/keyslots" className="kh-link" /> }}
      />
    </Alert>
  );
}
