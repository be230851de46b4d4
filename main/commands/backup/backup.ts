/** `keyhearth backup`: backups of the vault, made by the process that holds it or, where none does, by this one. */
import { resolve } from 'node:path';
import type {
  BackupSecret,
  BackupsStatus,
  BackUp,
  KeyslotKind,
  UnlockWith,
  VerifiedBackup,
} from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { dataDirectory } from '../vault/control.ts';
import { namingCommand } from '../shared/command-name.ts';
import { CommandError, exitCodes, print, type Shown } from '../shared/output.ts';
import { startProgress } from '../shared/progress.ts';
import { fields, table, type Cell, type Table } from '../shared/table.ts';
import { withVault, type OpenedVault } from '../shared/opened-vault.ts';
import { readSecret, secretFlags, unlockMethods, type SecretOptions } from '../shared/proof.ts';
import { askForPassword, askForPasswordOfVault, canAsk, tryUntilRight } from '../shared/secrets.ts';
import { hasVaultFile } from '../shared/vault-file.ts';
import { defined } from '../../lib/defined.ts';

interface Common extends SecretOptions {
  readonly json: boolean;
}

export interface BackUpOptions extends Common {
  readonly force?: boolean;
}

export async function backUp(
  config: Config,
  file: string | undefined,
  { force = false, json, ...options }: BackUpOptions,
): Promise<void> {
  const secret = await readSecret(options);
  const wish: BackUp = {
    ...(file === undefined ? {} : { file: resolve(file) }),
    replace: force,
    ...defined({ secret }),
  };
  const made = await withOpened(config, secret, (vault) =>
    withProgress(vault, 'Creating the backup', json, () => vault.call('backUp', wish)),
  );
  print(
    json,
    made,
    [
      `Created backup ${made.file} (${size(made.size)}, ${count(made.logRows, 'log entry', 'log entries')}).`,
      `It restores with the recovery phrase or a password of the vault. Test it with: keyhearth backup verify ${made.file}`,
    ].join('\n'),
  );
}

export async function verifyBackup(
  config: Config,
  file: string,
  { json, ...options }: Common,
): Promise<void> {
  const path = resolve(file);
  const secret = await readSecret(options);
  const wish = { file: path, ...defined({ secret }) };
  const found = hasVault(config)
    ? await withOpened(
        config,
        secret,
        (vault) => withProgress(vault, 'Testing the backup', json, () => vault.call('verifyBackup', wish)),
        // Another vault's backup opens with another secret than this vault.
        { mayStayLocked: secret !== undefined },
      )
    : await tryUntilRight(secret, askForSecret, (how) => verifiedAlone(path, how, json));
  print(json, found, describeVerified(found));
  if (found.problemCount > 0) process.exitCode = exitCodes.failed;
}

async function verifiedAlone(file: string, secret: BackupSecret, json: boolean): Promise<VerifiedBackup> {
  const { verifyAlone } = await import('../../backup/verify.ts');
  using progress = startProgress('Testing the backup', json);
  return await verifyAlone(file, secret, progress.report);
}

export async function backupStatus(config: Config, json: boolean): Promise<void> {
  const status = await withVault(config, (vault) => vault.call('backups'));
  print(json, status, describe(status));
}

export async function scheduleBackups(
  config: Config,
  directory: string,
  { hours, json, ...options }: Common & { readonly hours: string },
): Promise<void> {
  if (!/^[0-9]{1,4}$/.test(hours)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --hours ${JSON.stringify(hours)}: expected a number from 1 to 8784`,
    );
  }
  const schedule = directory === 'off' ? null : { directory: resolve(directory), hours: Number(hours) };
  const status = await withOpened(config, await readSecret(options), (vault) =>
    vault.call('scheduleBackups', schedule),
  );
  print(
    json,
    status,
    schedule === null
      ? 'Turned scheduled backups off. Existing backups stay.'
      : `Scheduled a backup every ${count(Number(hours), 'hour')} into ${schedule.directory}, while Keyhearth is running. To stop: keyhearth backup schedule off`,
  );
}

const hasVault = (config: Config): boolean => hasVaultFile(dataDirectory(config));

/** Asks the process that serves the vault; where none does, unlocks it here with what was given. */
export async function withOpened<T>(
  config: Config,
  secret: BackupSecret | undefined,
  work: (vault: OpenedVault) => Promise<T>,
  { mayStayLocked = false } = {},
): Promise<T> {
  return withVault(config, async (vault) => {
    if (vault.isServed) return work(vault);
    if (secret !== undefined || !mayStayLocked) {
      const given = secret ?? keychainOrNothing(config, vault.status.keyslots);
      await tryUntilRight<UnlockWith, unknown>(given, askForPasswordOfVault, (how) =>
        vault.call('unlock', how),
      ).catch((error: unknown) => {
        if (!mayStayLocked || !(error instanceof CommandError)) throw error;
      });
    }
    return work(vault);
  });
}

/** @returns undefined where the password is to be asked for. */
function keychainOrNothing(config: Config, keyslots: readonly KeyslotKind[]): UnlockWith | undefined {
  if (config.useKeychain && keyslots.includes('keychain')) return { with: 'keychain' };
  if (keyslots.includes('password') && canAsk()) return undefined;
  throw new CommandError(
    exitCodes.locked,
    `missing secret: the vault is not running, and unlocks with ${unlockMethods(keyslots)}. Give ${secretFlags}`,
  );
}

/** @throws CommandError without a terminal to prompt on. */
export async function askForSecret(): Promise<BackupSecret> {
  if (!canAsk()) {
    throw new CommandError(exitCodes.usage, `missing secret for the backup: give ${secretFlags}`);
  }
  const typed = await askForPassword('Recovery phrase (24 words), or a password of the vault');
  const isPhrase = typed.trim().split(/\s+/).length === 24;
  return isPhrase ? { with: 'recovery', phrase: typed } : { with: 'password', password: typed };
}

/** Asks the process that does the work how far it is, and shows that to a person. */
async function withProgress<T>(
  vault: OpenedVault,
  text: string,
  json: boolean,
  work: () => Promise<T>,
): Promise<T> {
  if (json || !process.stderr.isTTY) return work();
  using progress = startProgress(text, json);
  const ended = new AbortController();
  const timer = setInterval(() => {
    vault.call('backups').then(
      ({ running }) => {
        if (running !== null && !ended.signal.aborted) progress.report(running.done, running.total);
      },
      // The work itself says what is wrong.
      () => undefined,
    );
  }, 500);
  try {
    return await work();
  } finally {
    ended.abort();
    clearInterval(timer);
  }
}

function describeVerified(found: VerifiedBackup): Shown {
  const { counts, log, uncovered } = found;
  const contents = [
    count(counts.users, 'user'),
    `${count(counts.wallets, 'wallet')} with ${count(counts.accounts, 'account')}`,
    count(counts.privateKeys, 'private key'),
    count(counts.sealed, 'sealed record'),
  ];
  return [
    fields([
      ['Backup', found.file],
      ['Created', `${when(found.madeAt)}, ${size(found.size)}`],
      ['Organization', found.organization],
      ['Opened with', openedWith[found.openedWith]],
      ['Contents', contents.join(', ')],
      ['Activity log', `${count(log.rows, 'entry', 'entries')}, head ${log.head}`],
    ]),
    ...(found.problemCount > 0
      ? [
          `The test failed: ${count(found.problemCount, 'problem')}.`,
          ...found.problems.map((problem) => `  ${problem}`),
        ]
      : [
          `The test passed: this backup restores.${found.recordedAt === null ? '' : ' The date was recorded.'}`,
          ...(uncovered === null ? [] : describeUncovered(uncovered)),
        ]),
  ];
}

const openedWith = {
  vault: 'the key of the open vault',
  password: 'the password',
  recovery: 'the recovery phrase',
} as const;

function describeUncovered({
  activities,
  resources,
}: NonNullable<VerifiedBackup['uncovered']>): readonly (string | Table)[] {
  if (activities === 0 && resources.length === 0) return ['The vault has no changes since this backup.'];
  return [
    `Changes since this backup: ${count(activities, 'log entry', 'log entries')}.`,
    ...(resources.length === 0
      ? []
      : [
          table(
            ['Kind', 'New', 'Changed', 'Deleted'],
            resources.map(({ kind, added, changed, removed }) => [
              kind,
              String(added),
              String(changed),
              String(removed),
            ]),
          ),
        ]),
  ];
}

function describe({ available, backups, schedule, notices }: BackupsStatus): Shown {
  if (!available) return 'A vault in memory has no backups.';
  const tested = backups.flatMap(({ provenAt }) => (provenAt === null ? [] : [provenAt]));
  return [
    ...notices.map(({ message }) => `! ${message}`),
    fields([
      ['Last backup', backups[0] === undefined ? 'none' : when(backups[0].madeAt)],
      ['Last tested', tested.length === 0 ? 'never' : when(Math.max(...tested))],
      [
        'Schedule',
        schedule === null
          ? namingCommand('none. Set one with: keyhearth backup schedule DIRECTORY')
          : `every ${count(schedule.hours, 'hour')} into ${schedule.directory}`,
      ],
      ['Next backup', schedule === null ? '' : when(schedule.dueAt)],
    ]),
    ...(backups.length === 0
      ? []
      : ['', table(['Created', 'Test', 'Tested', 'File', 'Notes'], backups.map(backupRow))]),
  ];
}

const backupRow = ({
  file,
  madeAt,
  provenAt,
  problem,
  found,
}: BackupsStatus['backups'][number]): readonly Cell[] => [
  when(madeAt),
  problem !== null
    ? { text: 'failed', tone: 'bad' }
    : provenAt === null
      ? { text: 'not tested', tone: 'notable' }
      : { text: 'passed', tone: 'good' },
  provenAt === null ? '' : when(provenAt),
  file,
  found === false ? 'file is missing' : '',
];

export const when = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');

function size(bytes: number): string {
  if (bytes < 1024 * 1024) return `${String(Math.ceil(bytes / 1024))} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${String(number)} ${number === 1 ? one : many}`;
