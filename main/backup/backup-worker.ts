/**
 * The thread that writes and verifies backups: copying, encrypting and deriving take the processor for long, and
 * the vault signs meanwhile. It opens the vault's file for reading only, with a connection of its own.
 */
import { randomBytes } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import { Connection } from '../storage/connection.ts';
import { NewerVaultError } from '../storage/migrations.ts';
import { namingDatabase } from '../storage/file/disk-state.ts';
import { createPrivateFile } from '../storage/file/vault-directory.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import { getVault } from '../storage/tables/vault.ts';
import { systemClock } from '../lib/clock.ts';
import { serveJobs, type Progress } from '../lib/concurrency/thread.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { namingFile } from '../files/storage-causes.ts';
import type { RestoreCheck, Uncovered } from './verify-restore.ts';
import { BackupFile, onDatabase, writeBackup, type NewBackup } from './file.ts';
import { slotsForHeader, unreadable, type BackupHeader } from './format.ts';
import { checkBackupSchema, chunkKey, keyringOf } from './open.ts';
import { removeDatabase } from './destinations.ts';
import { DiskUse } from './disk-use.ts';
import { problemOf } from '../lib/text/reasons.ts';

/** Writes a backup of a vault. */
export interface WriteJob extends Omit<NewBackup, 'copy'> {
  /** The vault's own file. */
  readonly database: string;
  /** The path of the temporary copy of the database; the thread removes it. */
  readonly copy: string;
  /** True if a service works beside the thread and must keep its pace. */
  readonly gently: boolean;
}

export interface Written {
  /** Of the backup, in bytes. */
  readonly size: number;
  readonly log: RestoreCheck['log'];
}

/** Verifies a backup. */
export interface VerifyJob {
  readonly file: string;
  /** The vault's master key when the backup was written; 32 bytes, which the thread erases. */
  readonly masterKey: Uint8Array;
  /** The live vault's file, to compare with; undefined where there is none. */
  readonly database: string | undefined;
}

export interface VerifiedFile {
  readonly check: RestoreCheck;
  /** Undefined where there is no live vault, or it is another one. */
  readonly uncovered: Uncovered | undefined;
  readonly size: number;
}

const disk = new DiskUse(workerData as SharedArrayBuffer);

/** Of the time, how much is rested for each part that is worked. */
const restPerWork = 4;
/** In milliseconds. */
const longestRest = 200;

/**
 * @returns what is called after each piece of work, and lets others have the processor and the disk for a while: the
 * thread sleeps.
 */
function pacer(): () => void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let since = performance.now();
  return () => {
    Atomics.wait(never, 0, 0, Math.min((performance.now() - since) * restPerWork, longestRest));
    since = performance.now();
  };
}

async function write({ database, gently, ...backup }: WriteJob, onProgress: Progress): Promise<Written> {
  const rest = gently ? pacer() : () => undefined;
  removeDatabase(backup.copy);
  try {
    createPrivateFile(backup.copy);
    const connection = Connection.openReadOnly(database);
    try {
      // Copying is a small part of the work, and is counted as one.
      await connection.copyTo(backup.copy, (done, total) => {
        onProgress(done, total * 2);
        rest();
      });
    } catch (error) {
      throw namingDatabase(error, backup.copy);
    } finally {
      connection.close();
    }
    checkKeyslots(backup.copy, backup.header);
    disk.uses('backups');
    const size = await writeBackup(backup, (done, total) => {
      onProgress(total + done, total * 2);
      rest();
    });
    disk.uses('own');
    return { size, log: logOf(backup.copy) };
  } catch (error) {
    throw namingFile(error, backup.file);
  } finally {
    backup.key.fill(0);
    removeDatabase(backup.copy);
  }
}

/**
 * Checks that what opens the backup opens the vault in it: the master key may have been replaced after the job was given.
 * @throws KeyhearthError FAILED_PRECONDITION
 */
function checkKeyslots(copy: string, { keyslots }: Pick<BackupHeader, 'keyslots'>): void {
  const slots = onCopy(copy, (connection) => slotsForHeader(listKeyslots(connection)));
  const copied = new Set(slots.map(({ wrapped }) => wrapped));
  if (keyslots.some(({ wrapped }) => copied.has(wrapped))) return;
  throw new KeyhearthError(
    'FAILED_PRECONDITION',
    'what opens the vault was changed while the backup was made: make it again',
  );
}

const logOf = (copy: string): RestoreCheck['log'] =>
  onCopy(copy, (connection) => {
    const last = connection.get<{ sequence: number; hash: Uint8Array }>(
      'SELECT sequence, hash FROM activities ORDER BY sequence DESC LIMIT 1',
    );
    return { rows: last?.sequence ?? 0, head: Buffer.from(last?.hash ?? new Uint8Array(32)).toString('hex') };
  });

function onCopy<T>(copy: string, look: (connection: Connection) => T): T {
  const connection = Connection.openReadOnly(copy);
  try {
    return look(connection);
  } finally {
    connection.close();
  }
}

async function verify({ file, masterKey, database }: VerifyJob, onProgress: Progress): Promise<VerifiedFile> {
  disk.uses('backups');
  await using backup = await BackupFile.open(file);
  const { header } = backup.head;
  const keyring = keyringOf(masterKey, {
    random: (_purpose, length) => new Uint8Array(randomBytes(length)),
    clock: systemClock,
  });
  try {
    const connection = await onDatabase(() => openInMemory(backup, masterKey, onProgress));
    disk.uses('own');
    try {
      if (getVault(connection)?.id !== header.vaultId)
        throw unreadable('it holds another vault than it says');
      // A backup is written without it, and the sooner.
      const { compare, verifyRestore } = await import('./verify-restore.ts');
      const check = await onDatabase(() => verifyRestore(connection, masterKey, keyring, onProgress));
      const compared =
        database === undefined
          ? undefined
          : withLive(connection, database, (live) => compare(connection, live, check.log));
      const problem = compared?.problem === undefined ? [] : [compared.problem];
      return {
        check: {
          ...check,
          problems: [...check.problems, ...problem],
          problemCount: check.problemCount + problem.length,
        },
        uncovered: compared?.uncovered,
        size: backup.size,
      };
    } finally {
      connection.close();
    }
  } finally {
    keyring.lock();
    masterKey.fill(0);
  }
}

/**
 * @throws NewerVaultError for a schema that this program does not know, KeyhearthError for a file that is not
 * a database.
 */
async function openInMemory(
  backup: BackupFile,
  masterKey: Uint8Array,
  onProgress: Progress,
): Promise<Connection> {
  const { header } = backup.head;
  const key = chunkKey(masterKey, header);
  const bytes = Buffer.alloc(header.size);
  try {
    let position = 0;
    for await (const chunk of backup.chunks(key)) {
      position += chunk.copy(bytes, position);
      // The total is known once the database is open.
      onProgress(0, 1);
    }
    const connection = Connection.openBytes(bytes);
    checkBackupSchema(connection);
    return connection;
  } finally {
    key.fill(0);
    bytes.fill(0);
  }
}

/** @returns undefined where the live vault is another. */
function withLive<T>(backup: Connection, database: string, use: (live: Connection) => T): T | undefined {
  const live = Connection.openReadOnly(database);
  try {
    return getVault(live)?.id === getVault(backup)?.id ? use(live) : undefined;
  } finally {
    live.close();
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

/** Of a job: reports that it goes on, and refuses with what the owner of the backup needs to know. */
const watched =
  <Given, Answer>(run: (given: Given, onProgress: Progress) => Promise<Answer>) =>
  async (given: Given, onProgress: Progress): Promise<Answer> => {
    try {
      return await run(given, (done, total) => {
        disk.step();
        onProgress(done, total);
      });
    } catch (error) {
      if (error instanceof NewerVaultError) throw new KeyhearthError('BACKUP_UNREADABLE', error.message);
      // A full disk, a directory that may not be written.
      if (isSystemError(error)) throw new KeyhearthError('UNAVAILABLE', problemOf(error));
      throw error;
    }
  };

const jobs = { write: watched(write), verify: watched(verify) };

export type BackupJobs = typeof jobs;

serveJobs(jobs);
