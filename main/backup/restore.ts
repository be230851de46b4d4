/**
 * Restores the vault of a backup where there is none. The vault is written to a draft beside its final path,
 * and moved there once it is complete and verified. An interruption before that leaves no vault, and the next
 * attempt starts over.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deleteBackupSchedule, insertBackup } from '../storage/tables/backups.ts';
import { Connection } from '../storage/connection.ts';
import { DamagedFileError } from '../storage/file/damage.ts';
import { deleteKeyslot, insertKeyslot, listKeyslots, type KeyslotRow } from '../storage/tables/keyslots.ts';
import { RowGuard } from '../storage/integrity/guard.ts';
import { describeFinding } from '../storage/integrity/refusal.ts';
import { verifyLogAside } from '../storage/integrity/thread.ts';
import { migrate } from '../storage/migrations.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import { namingDatabase } from '../storage/file/disk-state.ts';
import { getServerKey, serverKeyNames, serverKeyContext } from '../storage/tables/server-keys.ts';
import { UnitOfWork } from '../storage/unit-of-work.ts';
import { VaultDirectory } from '../storage/file/vault-directory.ts';
import { addSecurityEvent } from '../storage/tables/security-events.ts';
import { damagedLogOf, describeKeptLogs, keepLogsWithoutFile } from '../storage/file/write-ahead-log.ts';
import { getVault, requireVault, type VaultRow } from '../storage/tables/vault.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import { Keyring } from '../keys/keyring.ts';
import { openNewFile, syncDirectory } from '../files/new-files.ts';
import { forgetKeychainSlot, makeKeychainSlot, anchorAccount } from '../keys/keyslots/slots.ts';
import { unlockVault, type UnlockParts } from '../keys/unlock.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import type { Random } from '../lib/random.ts';
import { BackupFile, onDatabase, type Progress } from './file.ts';
import { unreadable } from './format.ts';
import { checkBackupSchema, chunkKey, openMasterKey, type OpenBackupWith } from './open.ts';
import { removeDatabase } from './destinations.ts';

export interface RestoreWish {
  /** The vault's directory, made where it is missing. */
  readonly directory: string;
  readonly file: string;
  /** The name in the list of backups, if the path is temporary. */
  readonly name?: string | undefined;
  readonly how: OpenBackupWith;
  /** The keychain that gets a slot, if it can be used. */
  readonly keychain: Keychain;
  readonly random: Random;
  readonly clock: Clock;
  readonly onProgress: Progress;
  /** Told in words what was kept of an earlier vault. */
  readonly onKept: (words: string) => void;
}

/** Where the database is open, what was left beside it was kept when it was opened. */
type RestoreWishHere = Omit<RestoreWish, 'directory' | 'onKept'>;

export interface Restored {
  readonly vaultId: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly ownerUserId: string;
  /** The time of the backup, in milliseconds. */
  readonly madeAt: number;
  readonly log: { readonly rows: number; readonly head: string };
  readonly keyslots: readonly KeyslotRow['kind'][];
  /** Why there is no keychain slot; null where there is one. */
  readonly keychainProblem: string | null;
}

/** The destination of a restored vault. */
interface Target {
  /** The path of its database. */
  readonly database: string;
  /** Called with the path of the whole database, to be moved there. */
  readonly put: (draft: string) => void;
}

/**
 * @throws KeyhearthError ALREADY_EXISTS where there is a vault; NOT_FOUND or BACKUP_UNREADABLE for the file;
 * INVALID_ARGUMENT where the secret does not open it.
 * @throws VaultInUseError where another process holds the directory.
 */
export async function restore(wish: RestoreWish): Promise<Restored> {
  let directory: VaultDirectory | undefined;
  try {
    return await restoreAt(() => {
      const own = (directory = acquire(wish.directory));
      checkNoVault(own.database);
      return {
        database: own.database,
        put: (draft) => {
          const kept = keepLogsWithoutFile(own.database);
          if (kept.length > 0) wish.onKept(describeKeptLogs(own.database, kept));
          moveIntoPlace(draft, own);
        },
      };
    }, wish);
  } finally {
    directory?.release();
  }
}

function acquire(path: string): VaultDirectory {
  try {
    return VaultDirectory.acquire(path);
  } catch (error) {
    throw namingDatabase(error, join(path, 'vault.db'));
  }
}

/**
 * Restores in a process that holds the directory and has the empty database open. The database is opened
 * again afterwards.
 */
export const restoreHere = (
  connection: Connection,
  directory: VaultDirectory,
  wish: RestoreWishHere,
): Promise<Restored> => {
  const checkEmpty = (): void => {
    if (getVault(connection) === undefined) return;
    throw new KeyhearthError('ALREADY_EXISTS', 'there is a vault already: it is not overwritten');
  };
  return restoreAt(() => {
    checkEmpty();
    return {
      database: directory.database,
      put: (draft) => {
        // Another request may have created one meanwhile.
        checkEmpty();
        connection.reopen(directory.database, () => {
          moveIntoPlace(draft, directory);
        });
      },
    };
  }, wish);
};

/** @param toTarget Called once the secret has opened the backup, before anything is created. */
async function restoreAt(toTarget: () => Target, wish: RestoreWishHere): Promise<Restored> {
  await using backup = await BackupFile.open(wish.file);
  const masterKey = await openMasterKey(backup.head.header, wish.how);
  try {
    const { database, put } = toTarget();
    const draft = `${database}.restore`;
    removeDatabase(draft);
    try {
      await decrypt(backup, masterKey, draft, wish.onProgress);
      const { restored, undoKeychain } = await onDatabase(() => settle(draft, backup, masterKey, wish));
      try {
        put(draft);
      } catch (error) {
        await undoKeychain().catch(() => undefined);
        throw error;
      }
      return restored;
    } catch (error) {
      removeDatabase(draft);
      throw namingDatabase(error, database);
    }
  } finally {
    masterKey.fill(0);
  }
}

/** A file without a vault in it is what the window makes before its first run. */
function checkNoVault(database: string): void {
  if (!existsSync(database) || statSync(database).size === 0) return;
  let found: boolean;
  try {
    const connection = Connection.openReadOnly(database);
    try {
      const isMade = connection.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'vault'");
      found = isMade !== undefined && getVault(connection) !== undefined;
    } finally {
      connection.close();
    }
  } catch (error) {
    throw new KeyhearthError(
      'ALREADY_EXISTS',
      `there is a file ${database} that cannot be read (${reasonOf(error instanceof DamagedFileError ? error.cause : error)}): it is not overwritten; move it away first`,
    );
  }
  if (!found) return;
  throw new KeyhearthError(
    'ALREADY_EXISTS',
    `there is a vault in ${database} already: it is not overwritten; restore elsewhere (--data-dir), or move it away first`,
  );
}

async function decrypt(
  backup: BackupFile,
  masterKey: Uint8Array,
  draft: string,
  onProgress: Progress,
): Promise<void> {
  const { header } = backup.head;
  const key = chunkKey(masterKey, header);
  try {
    await using target = await openNewFile(draft);
    let done = 0;
    for await (const chunk of backup.chunks(key)) {
      await target.writeFile(chunk);
      done += chunk.length;
      onProgress(done, header.size);
    }
    await target.sync();
  } finally {
    key.fill(0);
  }
}

/**
 * Checks what was decrypted, brings it up to date, and makes it this machine's: other machines' keychains go.
 * @returns also what gives the keychain back as it was, where the vault is not put in its place.
 */
async function settle(
  draft: string,
  backup: BackupFile,
  masterKey: Uint8Array,
  wish: Pick<RestoreWish, 'name' | 'keychain' | 'random' | 'clock'>,
): Promise<{ readonly restored: Restored; readonly undoKeychain: () => Promise<void> }> {
  const { keychain, random, clock } = wish;
  const connection = openDraft(draft);
  const keyring = new Keyring({ random, clock });
  const guard = new RowGuard(connection, keyring);
  const units = new UnitOfWork(connection, guard);
  let keychainSlot: KeyslotRow | undefined;
  let anchor: Uint8Array | undefined;
  const { header } = backup.head;
  const account = anchorAccount(header.vaultId);
  const undoKeychain = async (): Promise<void> => {
    if (keychainSlot !== undefined) await forgetKeychainSlot(keychain, header.vaultId, keychainSlot);
    if (anchor !== undefined) await keychain.set(account, anchor);
  };
  try {
    const vault = units.readUnverified(requireVault);
    if (vault.id !== header.vaultId) throw unreadable('it holds another vault than it says');
    // In a thread: of a large vault it takes seconds, and a window that restores it goes on.
    const log = await verifyLogAside(draft);
    if ('problem' in log) throw unreadable(log.problem);
    await unlockRestored({ units, guard, keyring, random }, masterKey);
    checkServerKeys(connection, keyring, vault);
    let keychainProblem: string | null = null;
    const state = await keychain.probe();
    if (!state.available) keychainProblem = state.reason;
    else {
      // The anchor of a newer log no longer applies: the owner goes back to the backup.
      anchor = await keychain.get(account);
      await keychain.delete(account);
      const slot = { masterKey, vaultId: vault.id, random, now: clock.now(), keychain };
      keychainSlot = await makeKeychainSlot(slot).catch((error: unknown) => {
        keychainProblem = reasonOf(error);
        return undefined;
      });
    }
    await units.write((tx) => {
      for (const { id, kind } of listKeyslots(tx)) if (kind === 'keychain') deleteKeyslot(tx, id);
      if (keychainSlot !== undefined) insertKeyslot(tx, keychainSlot);
      // The schedule was another machine's: two that keep to it would remove each other's backups.
      deleteBackupSchedule(tx);
      const now = clock.now();
      addSecurityEvent(tx, { kind: 'restored', way: '', count: 1, firstAt: now, lastAt: now });
      insertBackup(tx, {
        id: uuidV4(random('backup', 16)),
        file: wish.name ?? backup.path,
        madeAt: header.createdAt,
        logRows: log.rows,
        logHead: log.head,
        size: backup.size,
        provenAt: null,
        problem: null,
      });
    });
    const restored: Restored = {
      vaultId: vault.id,
      organizationId: vault.organizationId,
      organizationName: getOrganization(connection, vault.organizationId)?.name ?? '',
      ownerUserId: vault.ownerUserId,
      madeAt: header.createdAt,
      log,
      keyslots: listKeyslots(connection).map(({ kind }) => kind),
      keychainProblem,
    };
    return { restored, undoKeychain };
  } catch (error) {
    await undoKeychain();
    throw error;
  } finally {
    guard.stop();
    keyring.lock();
    connection.close();
  }
}

/** @throws KeyhearthError BACKUP_UNREADABLE where rows are not as Keyhearth wrote them. */
async function unlockRestored(parts: UnlockParts, masterKey: Uint8Array): Promise<void> {
  const aside = { signal: parts.keyring.untilClosed, onProgress: () => undefined };
  try {
    await unlockVault(parts, masterKey, aside);
  } catch (error) {
    const [finding, ...more] = parts.guard.tampering ?? [];
    if (finding === undefined) throw error;
    const others = more.length === 0 ? '' : `, and ${more.length} more`;
    throw unreadable(`its vault was changed outside Keyhearth: ${describeFinding(finding)}${others}`);
  }
}

/**
 * Opens what was decrypted, and brings it up to date. The guard puts the schema's names into its statements: no other schema than
 * Keyhearth's may come to it.
 * @throws NewerVaultError, or KeyhearthError BACKUP_UNREADABLE.
 */
function openDraft(draft: string): Connection {
  const connection = Connection.open(draft);
  try {
    checkBackupSchema(connection);
    migrate(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Checks that the vault's own keys open under the master key. `verify-restore.ts` checks everything. */
function checkServerKeys(connection: Connection, keyring: Keyring, vault: VaultRow): void {
  for (const name of serverKeyNames) {
    const key = getServerKey(connection, name);
    if (key === undefined) throw unreadable(`its ${name} key is missing`);
    keyring.open(serverKeyContext(name, vault.organizationId), key.sealed).fill(0);
  }
}

function moveIntoPlace(draft: string, { database, path }: VaultDirectory): void {
  // The log of an empty file would be taken for the new one's.
  for (const suffix of ['-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
  rmSync(damagedLogOf(database), { force: true });
  renameSync(draft, database);
  syncDirectory(path);
}
