/** Steps that keep a vault from being lost, each done or not. */
import { useApiQuery, useBackups, useStatus } from '../../app/rpc/vault.tsx';
import { t } from '../../app/i18n/text.ts';
import { useKeyslots } from '../keyslots/keyslot-queries.ts';

export interface Check {
  readonly id: 'wallet' | 'recovery' | 'backup' | 'tested';
  readonly isDone: boolean;
  /** The text of a done step. */
  readonly done: string;
  /** The text of the link to the step. */
  readonly todo: string;
  readonly to: string;
}

/** The health of the vault, in the order of the work. Undefined while it loads, and for a vault in memory. */
export function useHealth(): readonly Check[] | undefined {
  const { directory } = useStatus();
  const backups = useBackups();
  const keyslots = useKeyslots();
  if (directory === null || backups.data?.available !== true || keyslots.data === undefined) return undefined;
  const { notices } = backups.data;
  const has = (...kinds: readonly string[]): boolean => notices.some(({ kind }) => kinds.includes(kind));
  return [
    {
      id: 'recovery',
      isDone: keyslots.data.keyslots.some(
        ({ kind, confirmedAt }) => kind === 'recovery' && confirmedAt !== null,
      ),
      done: t('Recovery phrase checked'),
      todo: t('Check the recovery phrase'),
      to: '/keyslots',
    },
    {
      id: 'backup',
      isDone: !has('none', 'failing', 'old', 'waiting'),
      done: t('Recent backup'),
      todo: t('Back up the vault'),
      to: '/backups',
    },
    {
      id: 'tested',
      isDone: !has('none', 'unproven'),
      done: t('Backup tested'),
      todo: t('Test a backup'),
      to: '/backups',
    },
  ];
}

/** The steps of a new vault. Undefined while they load, and once all were done. */
export function useSetUp(): readonly Check[] | undefined {
  const health = useHealth();
  const backups = useBackups();
  const wallets = useApiQuery('list_wallets');
  const privateKeys = useApiQuery('list_private_keys');
  if (health === undefined || wallets.data === undefined || privateKeys.data === undefined) return undefined;
  const wasMade = (backups.data?.backups.length ?? 0) > 0;
  const wasTested = backups.data?.backups.some(({ provenAt }) => provenAt !== null) === true;
  const checks: readonly Check[] = [
    {
      id: 'wallet',
      isDone: wallets.data.wallets.length + privateKeys.data.privateKeys.length > 0,
      done: t('First wallet created'),
      todo: t('Create a wallet'),
      to: '/wallets/new',
    },
    // A backup that grew old later is a matter of health.
    ...health.map((check) =>
      check.id === 'backup'
        ? { ...check, isDone: wasMade, done: t('First backup made') }
        : check.id === 'tested'
          ? { ...check, isDone: wasTested }
          : check,
    ),
  ];
  return checks.every(({ isDone }) => isDone) ? undefined : checks;
}
