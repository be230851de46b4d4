/** The backups of one vault: writes, verifies, copies and lists them. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type {
  BackupNotice,
  BackupPart,
  BackupProgress,
  BackupRecord,
  BackupsStatus,
  UploadProgress,
  UploadedBackup,
  VerifiedBackup,
} from '../../preload/contract.ts';
import { toHex } from '../crypto/encodings.ts';
import { makeDirectoryLater } from '../files/directories.ts';
import { getBackupSchedule, type BackupRow } from '../storage/tables/backups.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { getVault, requireVault, type VaultRow } from '../storage/tables/vault.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { Uploads, factsOf, isUpload } from './uploads.ts';
import { newBackupKey, type BackupKey } from './backup-key.ts';
import { disks } from './disks.ts';
import { BackupFile, checkFree } from './file.ts';
import { defaultChunkSize, fileKey, slotsForHeader, type BackupHeader } from './format.ts';
import { Jobs } from './jobs.ts';
import { BackupCatalog, newBackupId } from './catalog.ts';
import { checkBackupHealth } from './health-checks.ts';
import { openMasterKey, type OpenBackupWith } from './open.ts';
import { checkDestination, copyIn, databaseIn, findFiles, freeName, removeDatabase } from './destinations.ts';
import { verifyBackupFile, readHeader, toVerified } from './verify.ts';
import { copyName } from './rotation.ts';
import { BackupSchedule } from './schedule.ts';
import type { VerifiedFile, Written } from './backup-worker.ts';

export interface BackupParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** The vault's directory; null for a vault in memory, which has no backups. */
  readonly directory: string | null;
  /** The directory that is proposed for backups. */
  readonly suggestedDirectory: string;
  /** Something about the backups has changed. */
  readonly onChange: () => void;
  /** Called when a scheduled backup fails. */
  readonly onFailure: (line: string) => void;
  /** Called for the security timeline. */
  readonly onEvent: (kind: 'backupMade' | 'backupTested' | 'backupFailed') => void;
}

export interface BackupWish {
  /** An absolute path; a new name in the schedule's directory where it is left out. */
  readonly file?: string;
  readonly replace?: boolean;
  /** A secret of the vault, where it is locked. */
  readonly how?: OpenBackupWith;
}

export class Backups {
  /** Backup files that a browser uploaded. */
  readonly uploads: Uploads;
  readonly #parts: BackupParts;
  readonly #catalog: BackupCatalog;
  readonly #jobs = new Jobs();
  readonly #schedule: BackupSchedule;
  #running: BackupProgress | null = null;

  constructor(parts: BackupParts) {
    this.#parts = parts;
    this.#catalog = new BackupCatalog(parts.units, parts.keyring);
    const { units, keyring, clock, onChange, onFailure } = parts;
    this.#schedule = new BackupSchedule({
      ...{ units, keyring, clock, onChange, onFailure },
      catalog: this.#catalog,
      directory: () => this.#directory(),
      write: (vault, backupKey, file, madeAt) =>
        this.#write(vault, backupKey, file, { madeAt, replace: false }),
    });
    this.uploads = new Uploads({ directory: parts.directory });
    // A process that was killed while it made one may have left it.
    if (parts.directory !== null) rmSync(copyIn(parts.directory), { force: true });
  }

  /** Keeps to the schedule from now on. */
  start(): void {
    const { directory } = this.#parts;
    if (directory === null) return;
    // A process that was killed leaves what it was about to encrypt.
    removeDatabase(copyIn(directory));
    this.#schedule.start();
  }

  async status(): Promise<BackupsStatus> {
    const { units, clock, directory, suggestedDirectory } = this.#parts;
    const now = clock.wall();
    const rows = this.#catalog.rows();
    const schedule = this.#schedule.state(rows);
    const notices: BackupNotice[] =
      directory === null || units.read(getVault) === undefined
        ? []
        : checkBackupHealth({ now, backups: rows, schedule, ready: this.#schedule.isReady });
    return {
      available: directory !== null,
      backups: await records(rows),
      schedule: schedule ?? null,
      notices,
      running: this.#running,
      suggestedDirectory,
    };
  }

  /**
   * Makes one backup now.
   * @throws KeyhearthError VAULT_LOCKED without a secret; ALREADY_EXISTS; INVALID_ARGUMENT for a path that will not do.
   */
  async make({ file, replace = false, how }: BackupWish): Promise<BackupRecord> {
    const { units, clock } = this.#parts;
    const vault = units.read(requireVault);
    const madeAt = clock.wall();
    const target = file ?? (await freeName(vault, this.#scheduleDirectory(), madeAt));
    const directory = dirname(target);
    await this.#createSuggested(directory);
    await checkDestination('file', directory, this.#directory());
    await disks.run(directory, () => checkFree(target, replace));
    const backupKey = await newBackupKey(this.#parts, vault, how);
    try {
      const row = await this.#write(vault, backupKey, target, { madeAt, replace });
      const [record = { ...row, found: null }] = await records([row]);
      return record;
    } finally {
      backupKey.key.fill(0);
    }
  }

  /**
   * Verifies that a backup restores: see `verify-restore.ts`.
   * @param how A secret of its own; without one it is opened with the key of the unlocked vault.
   * @throws KeyhearthError BACKUP_UNREADABLE, NOT_FOUND, VAULT_LOCKED, or INVALID_ARGUMENT where it does not open.
   */
  verify(file: string, how?: OpenBackupWith): Promise<VerifiedBackup> {
    return this.withFile(file, (path, name) => this.#verify(path, name, how));
  }

  /** Runs work over a file: one on disk by its path, or one that a browser uploaded by its name. */
  withFile<T>(file: string, work: (path: string, name?: string) => Promise<T>): Promise<T> {
    return isUpload(file) ? this.uploads.use(file, work) : work(file);
  }

  /** @throws KeyhearthError NOT_FOUND or BACKUP_UNREADABLE. */
  async lookAt(file: string): Promise<UploadedBackup> {
    await using backup = await BackupFile.open(file);
    return factsOf(backup.head, { file, name: basename(file) });
  }

  /**
   * Takes a part of a file from a browser: see `Uploads`.
   * @throws KeyhearthError VAULT_LOCKED where there is a vault that is.
   */
  async upload(part: BackupPart): Promise<UploadProgress> {
    if (this.#parts.units.read(getVault) !== undefined) this.#parts.keyring.checkUnlocked();
    return this.uploads.upload(part);
  }

  /**
   * Finds a backup for a person to copy; it is encrypted, so it is copied whole. Only while the vault is
   * open, like writing a backup.
   * @returns the path of the file, and a name for the copy with vault and date.
   * @throws KeyhearthError VAULT_LOCKED, NOT_FOUND, or BACKUP_UNREADABLE for a file that is not a backup.
   */
  async copyOf(id: string): Promise<{ readonly file: string; readonly name: string }> {
    const { units, keyring } = this.#parts;
    keyring.checkUnlocked();
    const row = this.#catalog.rows().find((known) => known.id === id);
    if (row === undefined) throw new KeyhearthError('NOT_FOUND', 'this backup is in the list no more');
    const { madeAt } = await this.lookAt(row.file);
    const { organizationId } = units.read(requireVault);
    const vault = units.read((tx) => getOrganization(tx, organizationId))?.name ?? '';
    return { file: row.file, name: copyName(vault, madeAt) };
  }

  async #verify(file: string, name: string | undefined, how?: OpenBackupWith): Promise<VerifiedBackup> {
    const { units, directory } = this.#parts;
    const vault = units.read(getVault);
    let header: BackupHeader | undefined;
    try {
      header = await readHeader(file);
      const database = directory === null ? undefined : databaseIn(directory);
      const masterKey =
        how === undefined ? this.#ownMasterKey(header, vault) : await openMasterKey(header, how);
      const verified = await verifyBackupFile(this.#jobs, { file, masterKey, database }, (done, total) => {
        this.#emit({ what: 'verify', file: name ?? file, done, total });
      });
      const at = await this.#recordVerified(name ?? file, header, verified);
      return toVerified(name ?? file, header, how?.with ?? 'vault', verified, at);
    } catch (error) {
      if (error instanceof KeyhearthError && error.code === 'BACKUP_UNREADABLE') {
        await this.#recordProblem(file, error.message);
      }
      throw error;
    } finally {
      this.#emit(null);
    }
  }

  /**
   * @param wish Null for none.
   * @throws KeyhearthError VAULT_LOCKED, or INVALID_ARGUMENT for a directory that will not do.
   */
  schedule(wish: { readonly directory: string; readonly hours: number } | null): Promise<void> {
    return this.#schedule.set(wish);
  }

  async close(): Promise<void> {
    this.#schedule.stop();
    this.#catalog.close();
    await this.#jobs.close();
    await this.uploads.close();
    await this.#schedule.settled();
  }

  async #write(
    vault: VaultRow,
    backupKey: BackupKey,
    file: string,
    { madeAt, replace }: { readonly madeAt: number; readonly replace: boolean },
  ): Promise<BackupRow> {
    const { units } = this.#parts;
    const directory = this.#directory();
    const fileSalt = randomBytes(32).toString('hex');
    const key = fileKey(backupKey.key, fileSalt);
    let written: Written;
    try {
      written = await this.#jobs.write(
        {
          database: databaseIn(directory),
          copy: copyIn(directory),
          file,
          replace,
          gently: this.#schedule.isKept,
          key,
          header: {
            vaultId: vault.id,
            createdAt: madeAt,
            chunkSize: defaultChunkSize,
            keySalt: backupKey.keySalt,
            fileSalt,
            keyslots: slotsForHeader(units.read(listKeyslots)),
          },
        },
        (done, total) => {
          this.#emit({ what: 'backup', file, done, total });
        },
      );
    } finally {
      key.fill(0);
      this.#emit(null);
    }
    const row: BackupRow = {
      id: newBackupId(),
      file,
      madeAt,
      logRows: written.log.rows,
      logHead: written.log.head,
      size: written.size,
      provenAt: null,
      problem: null,
    };
    await this.#put(row);
    this.#parts.onEvent('backupMade');
    return row;
  }

  /** @throws KeyhearthError VAULT_LOCKED, or INVALID_ARGUMENT for a backup that has another master key. */
  #ownMasterKey(header: BackupHeader, vault: VaultRow | undefined): Uint8Array {
    const { units, keyring } = this.#parts;
    const own = new Set(units.read(listKeyslots).map((slot) => toHex(slot.wrapped)));
    const opensAlike = header.keyslots.some(({ wrapped }) => own.has(wrapped));
    if (header.vaultId === vault?.id && opensAlike) {
      return keyring.lend((masterKey) => Uint8Array.from(masterKey));
    }
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      header.vaultId === vault?.id
        ? 'what opens this vault was changed since this backup was made: give the password or recovery phrase of then'
        : 'this is a backup of another vault: give its password or recovery phrase',
    );
  }

  async #recordVerified(
    file: string,
    header: BackupHeader,
    { check, size }: VerifiedFile,
  ): Promise<number | null> {
    const { units, clock } = this.#parts;
    if (header.vaultId !== units.read(getVault)?.id) return null;
    const provenAt = check.problemCount === 0 ? clock.wall() : null;
    this.#parts.onEvent(provenAt === null ? 'backupFailed' : 'backupTested');
    const isCopy = !hasPath(file);
    // A damaged copy says nothing about the file that it was copied from.
    if (isCopy && provenAt === null) return null;
    const known = this.#catalog
      .rows()
      .find((row) => row.madeAt === header.createdAt && (row.file === file || (isCopy && row.size === size)));
    await this.#put({
      id: known?.id ?? newBackupId(),
      file: known?.file ?? file,
      madeAt: header.createdAt,
      logRows: check.log.rows,
      logHead: check.log.head,
      size,
      provenAt: provenAt ?? known?.provenAt ?? null,
      problem: check.problems[0] ?? null,
    });
    return provenAt;
  }

  async #recordProblem(file: string, problem: string): Promise<void> {
    const known = this.#catalog.rows().find((row) => row.file === file);
    if (known !== undefined) await this.#put({ ...known, problem });
  }

  async #put(row: BackupRow): Promise<void> {
    await this.#catalog.put(row);
    this.#parts.onChange();
  }

  /** Creates the directory that Keyhearth itself suggested. */
  async #createSuggested(directory: string): Promise<void> {
    if (directory !== this.#parts.suggestedDirectory) return;
    await disks.run(directory, () => makeDirectoryLater(directory));
  }

  /** @throws KeyhearthError INVALID_ARGUMENT where there is no schedule. */
  #scheduleDirectory(): string {
    const plan = this.#parts.units.read(getBackupSchedule);
    if (plan !== undefined) return plan.directory;
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      'no file is named, and there is no schedule to take one from: name a file, or set a schedule first',
    );
  }

  /** @throws KeyhearthError INVALID_ARGUMENT for a vault in memory. */
  #directory(): string {
    if (this.#parts.directory !== null) return this.#parts.directory;
    throw new KeyhearthError('INVALID_ARGUMENT', 'a vault in memory has no backups');
  }

  #emit(progress: BackupProgress | null): void {
    this.#running = progress;
    this.#parts.onChange();
  }
}

/** An uploaded file has only a name, which says nothing about where it is. */
const hasPath = (file: string): boolean => /[/\\]/.test(file);

async function records(rows: readonly BackupRow[]): Promise<BackupRecord[]> {
  const found = await findFiles(rows.map(({ file }) => file).filter(hasPath));
  return rows.map((row) => ({ ...row, found: found.get(row.file) ?? null }));
}
