/** The backups of one vault: made when asked for and on a schedule, tried, and known. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type {
  BackupNotice,
  BackupPart,
  BackupProgress,
  BackupRecord,
  BackupsStatus,
  BroughtBackup,
  ChosenBackup,
  VerifiedBackup,
} from '../../preload/contract.ts';
import { toHex } from '../crypto/encodings.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import {
  deleteBackupSchedule,
  getBackupSchedule,
  setBackupSchedule,
  type BackupRow,
  type BackupScheduleRow,
} from '../db/backups.ts';
import { listKeyslots } from '../db/keyslots.ts';
import { getOrganization } from '../db/organizations.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import { getVault, requireVault, type VaultRow } from '../db/vault.ts';
import type { Keyring } from '../keyslots/keyring.ts';
import { openAnySlot } from '../keyslots/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { ChosenBackups, factsOf, isChosen } from './chosen.ts';
import { BackupFile, checkFree, messageOf } from './file.ts';
import { defaultChunkSize, envelopeKey, fileKey, slotsForHeader, type BackupHeader } from './format.ts';
import { Jobs } from './jobs.ts';
import { KnownBackups } from './known.ts';
import { backupNotices } from './notices.ts';
import { openMasterKey, type OpenBackupWith } from './open.ts';
import {
  checkPlace,
  checkScheduleDirectory,
  copyIn,
  databaseIn,
  freeName,
  isThere,
  removeDrafts,
  scheduledFiles,
} from './places.ts';
import { proveBackup, readHeader, toVerified } from './prove.ts';
import { copyName, superfluous } from './rotation.ts';
import type { Proven, Written } from './worker.ts';

export interface BackupParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** The vault's directory; null for a vault in memory, which has no backups. */
  readonly directory: string | null;
  /** Where backups may be proposed to go. */
  readonly suggestedDirectory: string;
  /** Something about the backups has changed. */
  readonly onChange: () => void;
  /** Where news go that nobody waits for: that a scheduled backup failed. */
  readonly onNews: (line: string) => void;
}

export interface BackupWish {
  /** An absolute path; a new name in the schedule's directory where it is left out. */
  readonly file?: string;
  readonly replace?: boolean;
  /** A secret of the vault, where it is locked. */
  readonly how?: OpenBackupWith;
}

/** How often it is seen whether a backup is due, in milliseconds. A machine that slept finds out within this time. */
const lookEvery = 30_000;
/** From a scheduled backup that failed to the next try. */
const retryAfter = 10 * 60_000;
const hour = 3_600_000;

/** What the next files' keys follow from, kept while the vault is locked; it opens no file made under another salt. */
interface Envelope {
  readonly keySalt: string;
  readonly key: Uint8Array;
  /** The slots' wrapped master keys, as they were then: as long as one of them is there, the master key is the same. */
  readonly wrapped: ReadonlySet<string>;
}

export class Backups {
  /** Those that a browser brought. */
  readonly chosen: ChosenBackups;
  readonly #parts: BackupParts;
  readonly #known: KnownBackups;
  readonly #jobs = new Jobs();
  #stopListening: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #envelope: Envelope | undefined;
  #running: BackupProgress | null = null;
  #failure: { readonly message: string; readonly at: number } | undefined;
  #retryAt = 0;
  #looking: Promise<void> | undefined;
  /** What was begun by nobody who waits for it. */
  readonly #begun = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: BackupParts) {
    this.#parts = parts;
    this.#known = new KnownBackups(parts.units, parts.keyring);
    this.chosen = new ChosenBackups({ directory: parts.directory });
    // A process that was killed while it made one may have left it.
    if (parts.directory !== null) rmSync(copyIn(parts.directory), { force: true });
  }

  /** Keeps to the schedule from now on. */
  start(): void {
    const { directory, keyring } = this.#parts;
    if (directory === null) return;
    this.#timer = setInterval(() => {
      this.#begin(this.look());
    }, lookEvery).unref();
    this.#stopListening = keyring.onChange((unlocked) => {
      if (!unlocked) return;
      // Once whoever unlocks is done: the keys are there a moment before the file is watched.
      queueMicrotask(() => {
        this.#begin(this.#unlocked());
      });
    });
  }

  async status(): Promise<BackupsStatus> {
    const { units, clock, directory, suggestedDirectory } = this.#parts;
    const now = clock.wall();
    const rows = this.#known.rows();
    const plan = units.read(getBackupSchedule);
    const failure = this.#failureOf(plan);
    const schedule = plan && { hours: plan.hours, dueAt: this.#dueAt(plan, rows), failure };
    const notices: BackupNotice[] =
      directory === null || units.read(getVault) === undefined
        ? []
        : backupNotices({ now, backups: rows, schedule, ready: this.#isReady() });
    return {
      available: directory !== null,
      backups: await Promise.all(rows.map(record)),
      schedule: plan && schedule ? { directory: plan.directory, ...schedule } : null,
      notices,
      running: this.#running,
      suggestedDirectory,
    };
  }

  /**
   * Makes one backup now.
   * @throws LatchkeyError VAULT_LOCKED without a secret; ALREADY_EXISTS; INVALID_ARGUMENT for a path that will not do.
   */
  async make({ file, replace = false, how }: BackupWish): Promise<BackupRecord> {
    const { units, clock } = this.#parts;
    const vault = units.read(requireVault);
    const madeAt = clock.wall();
    const target = file ?? freeName(vault, this.#scheduleDirectory(), madeAt);
    this.#makeSuggested(dirname(target));
    checkPlace('file', dirname(target), this.#directory());
    checkFree(target, replace);
    const envelope = await this.#newEnvelope(vault, how);
    try {
      return await record(await this.#write(vault, envelope, target, { madeAt, replace }));
    } finally {
      envelope.key.fill(0);
    }
  }

  /**
   * Tries a backup: see `drill`.
   * @param how A secret of its own; without one it is opened with the key of the unlocked vault.
   * @throws LatchkeyError BACKUP_UNREADABLE, NOT_FOUND, VAULT_LOCKED, or INVALID_ARGUMENT where it does not open.
   */
  verify(file: string, how?: OpenBackupWith): Promise<VerifiedBackup> {
    return this.withFile(file, (path, name) => this.#verify(path, name, how));
  }

  /** Runs work over a file that is named by its path, or that a browser brought and called by a name. */
  withFile<T>(file: string, work: (path: string, name?: string) => Promise<T>): Promise<T> {
    return isChosen(file) ? this.chosen.use(file, work) : work(file);
  }

  /** @throws LatchkeyError NOT_FOUND or BACKUP_UNREADABLE. */
  async lookAt(file: string): Promise<ChosenBackup> {
    await using backup = await BackupFile.open(file);
    return factsOf(backup.head, { file, name: basename(file) });
  }

  /**
   * Takes a part of a file from a browser: see `ChosenBackups`.
   * @throws LatchkeyError VAULT_LOCKED where there is a vault that is.
   */
  async bring(part: BackupPart): Promise<BroughtBackup> {
    if (this.#parts.units.read(getVault) !== undefined) this.#parts.keyring.checkUnlocked();
    return this.chosen.bring(part);
  }

  /**
   * What a person may take away of a backup: all of it, since it is sealed. As one is made, while the vault is open.
   * @returns where it lies, and a name that says whose it is and of when.
   * @throws LatchkeyError VAULT_LOCKED, NOT_FOUND, or BACKUP_UNREADABLE for what lies there and is no backup.
   */
  async copyOf(id: string): Promise<{ readonly file: string; readonly name: string }> {
    const { units, keyring } = this.#parts;
    keyring.checkUnlocked();
    const row = this.#known.rows().find((known) => known.id === id);
    if (row === undefined) throw new LatchkeyError('NOT_FOUND', 'this backup is in the list no more');
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
      const proven = await proveBackup(this.#jobs, { file, masterKey, database }, (done, total) => {
        this.#tell({ what: 'verify', file: name ?? file, done, total });
      });
      const at = await this.#recordProof(name ?? file, header, proven);
      return toVerified(name ?? file, header, how?.with ?? 'vault', proven, at);
    } catch (error) {
      if (error instanceof LatchkeyError && error.code === 'BACKUP_UNREADABLE') {
        await this.#recordProblem(file, error.message);
      }
      throw error;
    } finally {
      this.#tell(null);
    }
  }

  /**
   * @param wish Null for none.
   * @throws LatchkeyError VAULT_LOCKED, or INVALID_ARGUMENT for a directory that will not do.
   */
  async schedule(wish: { readonly directory: string; readonly hours: number } | null): Promise<void> {
    const { units, keyring, clock } = this.#parts;
    units.read(requireVault);
    // Without an open vault nothing is written.
    keyring.lend(() => undefined);
    if (wish !== null) checkScheduleDirectory(wish.directory, this.#directory());
    const now = clock.now();
    await units.write((tx) => {
      if (wish === null) deleteBackupSchedule(tx);
      else setBackupSchedule(tx, { ...wish, updatedAt: now, lastFailure: null, lastFailureAt: null });
    });
    this.#failure = undefined;
    this.#retryAt = 0;
    if (this.#timer !== undefined) await this.#unlocked();
    this.#parts.onChange();
  }

  /** Makes a scheduled backup if one is due. Its failure is recorded, and told as news. */
  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#stopListening?.();
    this.#known.close();
    this.#dropEnvelope();
    await this.#jobs.close();
    await this.chosen.close();
    // One may have begun another.
    while (this.#begun.size > 0) await Promise.all(this.#begun);
  }

  /** Lets something go on by itself; its failure is news. */
  #begin(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => {
        this.#parts.onNews(`Backups: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#begun.delete(settled);
      });
    this.#begun.add(settled);
  }

  async #look(): Promise<void> {
    const { units, clock } = this.#parts;
    if (this.#closed) return;
    const vault = units.read(getVault);
    const plan = units.read(getBackupSchedule);
    if (vault === undefined || plan === undefined) return;
    const now = clock.wall();
    if (now < this.#retryAt || now < this.#dueAt(plan, this.#known.rows())) return;
    const envelope = this.#envelope;
    if (envelope === undefined) return;
    try {
      checkPlace('backup schedule', plan.directory, this.#directory());
      this.#checkEnvelope(envelope);
      removeDrafts(vault, plan.directory);
      const file = freeName(vault, plan.directory, now);
      await this.#write(vault, envelope, file, { madeAt: now, replace: false });
      await this.#rotate(vault, plan);
      this.#failure = undefined;
      this.#retryAt = 0;
      if (plan.lastFailure !== null) await this.#recordFailure(undefined);
    } catch (error) {
      // Ended by its closing, and no failure.
      if (this.#isClosed()) return;
      const message = messageOf(error);
      this.#failure = { message, at: now };
      this.#retryAt = now + retryAfter;
      this.#parts.onNews(`The scheduled backup was not made: ${message}`);
      await this.#recordFailure(this.#failure);
    }
    this.#parts.onChange();
  }

  async #write(
    vault: VaultRow,
    envelope: Envelope,
    file: string,
    { madeAt, replace }: { readonly madeAt: number; readonly replace: boolean },
  ): Promise<BackupRow> {
    const { units } = this.#parts;
    const directory = this.#directory();
    const fileSalt = randomBytes(32).toString('hex');
    const key = fileKey(envelope.key, fileSalt);
    let written: Written;
    try {
      written = await this.#jobs.write(
        {
          job: 'write',
          database: databaseIn(directory),
          copy: copyIn(directory),
          file,
          replace,
          gently: this.#timer !== undefined,
          key,
          header: {
            vaultId: vault.id,
            createdAt: madeAt,
            chunkSize: defaultChunkSize,
            keySalt: envelope.keySalt,
            fileSalt,
            keyslots: slotsForHeader(units.read(listKeyslots)),
          },
        },
        (done, total) => {
          this.#tell({ what: 'backup', file, done, total });
        },
      );
    } finally {
      key.fill(0);
      this.#tell(null);
    }
    const row: BackupRow = {
      id: newId(),
      file,
      madeAt,
      logRows: written.log.rows,
      logHead: written.log.head,
      size: written.size,
      provenAt: null,
      problem: null,
    };
    await this.#put(row);
    return row;
  }

  /** Removes what is superfluous among this vault's own backups in the schedule's directory, and nothing else there. */
  async #rotate(vault: VaultRow, { directory }: BackupScheduleRow): Promise<void> {
    const removed = new Set<string>();
    for (const { file } of superfluous(scheduledFiles(vault, directory))) {
      // A name is no proof of whose a file is.
      const header = await readHeader(file).catch(() => undefined);
      if (header?.vaultId !== vault.id) continue;
      rmSync(file, { force: true });
      removed.add(file);
    }
    await this.#known.forget(removed);
  }

  /** What was put off is written, the next envelope is made, and files that came some other way are taken in. */
  async #unlocked(): Promise<void> {
    const { units, keyring } = this.#parts;
    const vault = units.read(getVault);
    if (vault === undefined || !keyring.unlocked) return;
    this.#dropEnvelope();
    const plan = units.read(getBackupSchedule);
    if (plan !== undefined) this.#envelope = await this.#newEnvelope(vault);
    await this.#known.write();
    if (plan !== undefined && !this.#closed) await this.#takeIn(vault, plan.directory);
    this.#begin(this.look());
  }

  /** Knows the files that are in the schedule's directory, and forgets those that are not there any more. */
  async #takeIn(vault: VaultRow, directory: string): Promise<void> {
    if (!existsSync(directory)) return;
    const known = new Set(this.#known.rows().map(({ file }) => file));
    const found: BackupRow[] = [];
    for (const { file, madeAt } of scheduledFiles(vault, directory)) {
      if (known.has(file)) continue;
      const header = await readHeader(file).catch(() => undefined);
      if (header?.vaultId !== vault.id) continue;
      const { size } = statSync(file);
      found.push({ id: newId(), file, madeAt, logRows: 0, logHead: '', size, provenAt: null, problem: null });
    }
    const gone = [...known].filter((file) => dirname(file) === directory && !existsSync(file));
    if (found.length + gone.length === 0 || this.#closed) return;
    await Promise.all([...found.map((row) => this.#known.put(row)), this.#known.forget(new Set(gone))]);
    this.#parts.onChange();
  }

  async #newEnvelope(vault: VaultRow, how?: OpenBackupWith): Promise<Envelope> {
    const { units, keyring } = this.#parts;
    const slots = units.read(listKeyslots);
    const keySalt = randomBytes(32).toString('hex');
    const wrapped = new Set(slots.map((slot) => toHex(slot.wrapped)));
    if (how === undefined) {
      return { keySalt, wrapped, key: keyring.lend((masterKey) => envelopeKey(masterKey, keySalt)) };
    }
    const masterKey = await openAnySlot(vault.id, slots, how);
    try {
      return { keySalt, wrapped, key: envelopeKey(masterKey, keySalt) };
    } finally {
      masterKey.fill(0);
    }
  }

  /** @throws LatchkeyError where what is kept may belong to a master key that the vault has no more. */
  #checkEnvelope({ wrapped }: Envelope): void {
    const slots = this.#parts.units.read(listKeyslots);
    if (slots.some((slot) => wrapped.has(toHex(slot.wrapped)))) return;
    throw new LatchkeyError('VAULT_LOCKED', 'what opens the vault has changed: unlock it once');
  }

  #dropEnvelope(): void {
    this.#envelope?.key.fill(0);
    this.#envelope = undefined;
  }

  /** Asked again after a wait: it may have changed since. */
  #isClosed(): boolean {
    return this.#closed;
  }

  #isReady(): boolean {
    return this.#envelope !== undefined;
  }

  /** @throws LatchkeyError VAULT_LOCKED, or INVALID_ARGUMENT for a backup that has another master key. */
  #ownMasterKey(header: BackupHeader, vault: VaultRow | undefined): Uint8Array {
    const { units, keyring } = this.#parts;
    const own = new Set(units.read(listKeyslots).map((slot) => toHex(slot.wrapped)));
    const opensAlike = header.keyslots.some(({ wrapped }) => own.has(wrapped));
    if (header.vaultId === vault?.id && opensAlike) {
      return keyring.lend((masterKey) => Uint8Array.from(masterKey));
    }
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      header.vaultId === vault?.id
        ? 'what opens this vault was changed since this backup was made: give the password or recovery phrase of then'
        : 'this is a backup of another vault: give its password or recovery phrase',
    );
  }

  async #recordProof(file: string, header: BackupHeader, { proof, size }: Proven): Promise<number | null> {
    const { units, clock } = this.#parts;
    if (header.vaultId !== units.read(getVault)?.id) return null;
    const provenAt = proof.problemCount === 0 ? clock.wall() : null;
    const isCopy = !hasPath(file);
    // A copy that does not hold says nothing of the one that it was taken from.
    if (isCopy && provenAt === null) return null;
    const known = this.#known
      .rows()
      .find((row) => row.madeAt === header.createdAt && (row.file === file || (isCopy && row.size === size)));
    await this.#put({
      id: known?.id ?? newId(),
      file: known?.file ?? file,
      madeAt: header.createdAt,
      logRows: proof.log.rows,
      logHead: proof.log.head,
      size,
      provenAt: provenAt ?? known?.provenAt ?? null,
      problem: proof.problems[0] ?? null,
    });
    return provenAt;
  }

  async #recordProblem(file: string, problem: string): Promise<void> {
    const known = this.#known.rows().find((row) => row.file === file);
    if (known !== undefined) await this.#put({ ...known, problem });
  }

  async #put(row: BackupRow): Promise<void> {
    await this.#known.put(row);
    this.#parts.onChange();
  }

  async #recordFailure(
    failure: { readonly message: string; readonly at: number } | undefined,
  ): Promise<void> {
    await this.#known
      .write((tx) => {
        const plan = getBackupSchedule(tx);
        if (plan === undefined) return;
        const { message = null, at = null } = failure ?? {};
        setBackupSchedule(tx, { ...plan, lastFailure: message, lastFailureAt: at });
      })
      .catch((error: unknown) => {
        this.#parts.onNews(messageOf(error));
      });
  }

  #failureOf(plan: BackupScheduleRow | undefined): { message: string; at: number } | null {
    if (this.#failure !== undefined) return this.#failure;
    if (plan?.lastFailure == null) return null;
    return { message: plan.lastFailure, at: plan.lastFailureAt ?? plan.updatedAt };
  }

  /** When the next scheduled backup is to be made; at once where there is none. */
  #dueAt({ directory, hours, updatedAt }: BackupScheduleRow, rows: readonly BackupRow[]): number {
    const newest = rows.find(({ file }) => dirname(file) === directory);
    return newest === undefined ? updatedAt : newest.madeAt + hours * hour;
  }

  /** What was proposed need not be made by hand. */
  #makeSuggested(directory: string): void {
    if (directory === this.#parts.suggestedDirectory) mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** @throws LatchkeyError INVALID_ARGUMENT where there is no schedule. */
  #scheduleDirectory(): string {
    const plan = this.#parts.units.read(getBackupSchedule);
    if (plan !== undefined) return plan.directory;
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      'missing field backup.file: there is no schedule to take it from',
    );
  }

  /** @throws LatchkeyError INVALID_ARGUMENT for a vault in memory. */
  #directory(): string {
    if (this.#parts.directory !== null) return this.#parts.directory;
    throw new LatchkeyError('INVALID_ARGUMENT', 'a vault in memory has no backups');
  }

  #tell(progress: BackupProgress | null): void {
    this.#running = progress;
    this.#parts.onChange();
  }
}

/** One that a browser brought is known by a name, which says nothing of where it is. */
const hasPath = (file: string): boolean => /[/\\]/.test(file);

const newId = (): string => uuidV4(new Uint8Array(randomBytes(16)));

async function record(row: BackupRow): Promise<BackupRecord> {
  return { ...row, found: hasPath(row.file) ? await isThere(row.file) : null };
}
