/** The file of one vault, held by this process: of a schema that is known, and up to date. */
import { existsSync, rmSync } from 'node:fs';
import { Connection } from '../storage/connection.ts';
import { holdsRows } from '../storage/tables/integrity.ts';
import { migrate } from '../storage/migrations.ts';
import { checkSchema } from '../storage/schema.ts';
import { reserveIn } from '../storage/file/disk-state.ts';
import { getVault } from '../storage/tables/vault.ts';
import { createPrivateFile, VaultDirectory } from '../storage/file/vault-directory.ts';
import { keepLogsWithoutFile, LeftLog, type LogDamage } from '../storage/file/write-ahead-log.ts';
import { FreezeMarker } from './freeze-marker.ts';
import { misshapen } from '../storage/integrity/refusal.ts';

export interface VaultFile {
  /** Undefined for a vault in memory. */
  readonly directory: VaultDirectory | undefined;
  readonly connection: Connection;
  /** True if the file did not exist before. */
  readonly isNew: boolean;
  /** Damage that the write-ahead log had when the file was opened. */
  readonly damagedLog: LogDamage | undefined;
  /** The paths at which the logs of a file that was moved away are kept. */
  readonly keptLogs: readonly string[];
}

/**
 * Takes the vault's lock and opens its file, making both where they are missing; where that fails, neither is held.
 * @param dataDirectory Null for a vault in memory.
 * @throws KeyhearthError VAULT_TAMPERED for a schema that is not Keyhearth's, NewerVaultError, or what the lock refuses.
 */
export function openVaultFile(dataDirectory: string | null): VaultFile {
  const directory = dataDirectory === null ? undefined : VaultDirectory.acquire(dataDirectory);
  const isNew = directory !== undefined && !existsSync(directory.database);
  let connection: Connection | undefined;
  try {
    const keptLogs = directory ? keepLogsWithoutFile(directory.database) : [];
    if (directory) createPrivateFile(directory.database);
    using log = directory && LeftLog.open(directory.database);
    let taken = 0;
    let damagedLog: LogDamage | undefined;
    try {
      connection = Connection.open(directory?.database ?? ':memory:');
      if (log) taken = connection.logState().pages;
    } finally {
      damagedLog = log?.keepDamage(Math.max(taken, 0));
    }
    const changed = checkSchema(connection);
    if (changed.length > 0) throw misshapen(changed);
    migrate(connection);
    checkPresence(connection);
    return { directory, connection, isNew, damagedLog, keptLogs };
  } catch (error) {
    connection?.close();
    directory?.release();
    throw error;
  }
}

/** Closes the file, and removes a new file that holds no vault. */
export function closeVaultFile({ directory, connection, isNew }: VaultFile): void {
  try {
    const isEmpty = isNew && getVault(connection) === undefined && !holdsRows(connection);
    connection.close();
    if (directory === undefined || !isEmpty) return;
    // The file goes last: without it, its log would be taken for one to keep.
    for (const suffix of ['-wal', '-shm', '']) rmSync(`${directory.database}${suffix}`, { force: true });
    rmSync(reserveIn(directory.path), { force: true });
    new FreezeMarker(directory.path).remove();
  } finally {
    directory?.release();
  }
}

/**
 * Refuses a new vault over remaining rows of another.
 * @throws KeyhearthError VAULT_TAMPERED
 */
function checkPresence(connection: Connection): void {
  if (getVault(connection) !== undefined || !holdsRows(connection)) return;
  throw misshapen([
    { table: 'vault', row: '1', problem: 'it is missing, and the rows of its vault are there' },
  ]);
}
