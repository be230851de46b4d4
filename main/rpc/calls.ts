/** The service's side of the rpc: `preload/contract.ts`, over a vault. */
import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import type {
  About,
  BackupRecord,
  BackupsStatus,
  WindowRpc,
  UploadedBackup,
  Keyslots,
  Licence,
  LogCheck,
  LogPart,
  LogState,
  MessagesStatus,
  RowFinding,
  SeenRequest,
  SeenRequests,
  SelfTestFinding,
  Settings as SettingsShown,
  Sheet,
  ShownMessage,
  VaultRpc,
  VaultEvent,
  VaultStatus,
  VerifiedBackup,
  WalletPreview,
} from '../../preload/contract.ts';
import { readAbout, readLicences } from '../app/build-info.ts';
import { describeDiagnostics } from '../app/diagnostics.ts';
import { stepUpOf } from '../activities/decision/step-up.ts';
import { parse, parseSecret } from '../lib/parse.ts';
import type { SecurityTimeline } from '../audit/security-timeline.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Backups } from '../backup/backups.ts';
import type { RestoreWish } from '../backup/restore.ts';
import { mnemonicFromEntropy, sentenceFromEntropy } from '../crypto/keys/mnemonics.ts';
import { stampWith } from '../auth/make-stamp.ts';
import { compressP256 } from '../crypto/keys/p256.ts';
import { asUint8Array } from '../crypto/bytes.ts';
import { toHex } from '../crypto/encodings.ts';
import { copyOfBytes } from '../crypto/secret-text.ts';
import type { Reader } from '../storage/connection.ts';
import { readable } from '../storage/file/damage.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import { getServerKey, serverKeyContext } from '../storage/tables/server-keys.ts';
import { areWordsNotShown } from '../storage/tables/settings.ts';
import { getUserRow } from '../storage/tables/users.ts';
import { getVault, requireVault, type VaultRow } from '../storage/tables/vault.ts';
import { Freezer } from '../app/freeze.ts';
import { handle, refusal, type Service } from '../http/handle.ts';
import { parseJson } from '../http/json-body.ts';
import type { JournalEntry, RequestJournal } from '../http/request-journal.ts';
import {
  backupSecret,
  checkWords,
  confirmedWordsList,
  NewRecoveryPhrase,
  KeyslotCalls,
  passwordText,
  secretParams,
  withSecret,
} from './keyslot-calls.ts';
import { KeychainWatch } from '../keys/keychain/keychain-watch.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { Listeners } from '../lib/listeners.ts';
import type { Messages } from '../delivery/messages/messages.ts';
import { channelChange, messageTest } from '../delivery/messages/settings.ts';
import { selfTest } from '../self-test/self-test.ts';
import type { Doors } from '../doors/doors.ts';
import type { Settings } from '../settings/settings.ts';
import { checkMissing, setUp, type SetupParts } from '../app/create-vault.ts';
import { owned } from '../lib/faults.ts';
import { previewWallet } from './wallet-preview.ts';

/** Between two events with the progress of a restore, in milliseconds. */
const progressPause = 100;

/** State of the process around the vault, as the rpc reports it. */
export interface Surroundings {
  readonly version: string;
  readonly directory: string | null;
  /** False where the process opens the vault for its own work alone. */
  readonly liftsFreeze: boolean;
  /** The words that run the command from anywhere. */
  readonly program: VaultStatus['program'];
  /** The directory of the build. */
  readonly distDirectory: string;
  /** Known once the service listens. */
  readonly url: () => string;
  readonly delayed: (tx: Reader) => VaultStatus['delayed'];
  /** The reason why the disk refuses writes; null while it accepts them. */
  readonly storage: () => VaultStatus['storage'];
  /** Restores a backup in the place of the vault that is missing; null for a vault in memory. */
  readonly restore:
    | ((wish: Pick<RestoreWish, 'file' | 'name' | 'how' | 'onProgress'>) => Promise<unknown>)
    | null;
}

/** The owner's fields for a new vault. */
export const ownerForm = {
  organizationName: z.string().trim().min(1).max(64),
  userName: z.string().trim().min(1).max(64),
  userEmail: z.email('Expected an email address'),
};
const createParams = z.object({
  ...ownerForm,
  userEmail: ownerForm.userEmail.optional(),
  useKeychain: z.boolean(),
  password: passwordText.optional(),
  confirmedWords: confirmedWordsList,
});
const logRange = z.object({ after: z.int().nonnegative(), until: z.int().nonnegative() });
const filePath = z.string().min(1).max(4096);
const backUpParams = z.object({
  file: filePath.optional(),
  replace: z.boolean().optional(),
  secret: backupSecret.optional(),
});
const restoreParams = z.object({ file: filePath, secret: secretParams });
const verifyParams = z.object({ file: filePath, secret: backupSecret.optional() });
const scheduleParams = z
  .object({
    directory: filePath,
    hours: z
      .int()
      .min(1)
      .max(366 * 24),
  })
  .nullable();
const callPath = z
  .string()
  .regex(/^\/public\/v1\/(query|submit)\/[a-z0-9_]+$/, 'Expected a path like /public/v1/query/whoami');
const requestId = z.int().nonnegative();
const callBody = z.record(z.string(), z.unknown());

/** Parts beside the service that answer calls of their own. */
export interface RpcParts {
  readonly log: AuditLog;
  readonly backups: Backups;
  readonly messages: Messages;
  readonly journal: RequestJournal;
  readonly settings: Settings;
  readonly doors: Doors;
  readonly timeline: SecurityTimeline;
}

/** Public halves of the vault's own keys. */
export type ServerKeys = NonNullable<VaultStatus['serverKeys']>;

export class VaultCalls implements VaultRpc {
  readonly #parts: SetupParts;
  readonly #service: Service;
  readonly #log: AuditLog;
  readonly #around: Surroundings;
  readonly #backups: Backups;
  readonly #messages: Messages;
  readonly #journal: RequestJournal;
  readonly #settings: Settings;
  readonly #doors: Doors;
  readonly #timeline: SecurityTimeline;
  readonly #listeners = new Listeners<[VaultEvent]>();
  readonly #keyslots: KeyslotCalls;
  readonly #freezer: Freezer;
  readonly #generated = new NewRecoveryPhrase();
  readonly #keychain: KeychainWatch;
  #unlocking: VaultStatus['unlocking'] = null;
  #lastTimestamp = 0;
  #restoring = false;

  constructor(
    parts: SetupParts,
    service: Service,
    { log, backups, messages, journal, settings, doors, timeline, ...around }: Surroundings & RpcParts,
  ) {
    this.#parts = parts;
    this.#backups = backups;
    this.#messages = messages;
    this.#journal = journal;
    this.#settings = settings;
    this.#doors = doors;
    this.#timeline = timeline;
    this.#service = service;
    this.#log = log;
    this.#keychain = new KeychainWatch({
      keychain: parts.keychain,
      onChange: () => {
        this.emit({ kind: 'status' });
      },
    });
    this.#around = around;
    const { directory, liftsFreeze } = around;
    this.#freezer = new Freezer({ ...parts, directory, liftsFreeze, service });
    const onUnlocking = (progress: VaultStatus['unlocking'] = null): void => {
      if (progress === null && this.#unlocking === null) return;
      this.#unlocking = progress;
      this.emit(progress === null ? { kind: 'status' } : { kind: 'unlocking', ...progress });
    };
    const lookForFreeze = (): void => {
      this.#freezer.look();
    };
    this.#keyslots = new KeyslotCalls(
      { ...parts, log, onUnlocking, lookForFreeze },
      this.#generated,
      timeline,
    );
    parts.keyring.onChange((unlocked) => {
      if (!unlocked) this.#generated.forget();
      // The unlock has more to do before the file can be read, which a listener may do at once.
      queueMicrotask(
        owned(() => {
          this.emit({ kind: 'status' });
        }, service.onFault),
      );
    });
  }

  /** While a command unlocks the vault for itself. */
  keepFrozen(): Disposable {
    return this.#freezer.keep();
  }

  async status(): Promise<VaultStatus> {
    const { units, guard, keyring } = this.#parts;
    const keychain = await this.#keychain.state();
    return units.readUnverified((tx) => {
      const vault = getVault(tx);
      // Of a damaged file, what can be read is shown.
      const organization = vault && readable(() => getOrganization(tx, vault.organizationId), undefined);
      const owner =
        vault && readable(() => getUserRow(tx, vault.organizationId, vault.ownerUserId), undefined);
      const keyslots = readable(() => listKeyslots(tx), []);
      const delayed = readable(() => this.#around.delayed(tx), null);
      const windowKey = readable(() => windowKeyOf(tx), null);
      const serverKeys = readable(() => serverKeysOf(tx), null);
      return {
        state: vault === undefined ? 'none' : keyring.unlocked ? 'unlocked' : 'locked',
        unlocking: this.#unlocking,
        frozen: this.#freezer.frozen,
        version: this.#around.version,
        url: this.#around.url(),
        rpId: this.#service.rpId,
        directory: this.#around.directory,
        program: this.#around.program,
        organization: organization ? { id: organization.id, name: organization.name } : null,
        owner: owner ? { userId: owner.id, userName: owner.name } : null,
        keyslots: keyslots.map(({ kind }) => kind),
        keychain,
        delayed,
        windowKey,
        serverKeys,
        tampering: shortened(guard.tampering),
        storage: this.#around.storage(),
        wordsNotShown: readable(() => areWordsNotShown(tx), false),
        longestTurn: this.#service.turns.longest,
      };
    });
  }

  async probeKeychain(): Promise<VaultStatus> {
    await this.#keychain.look();
    this.emit({ kind: 'status' });
    return this.status();
  }

  async newRecoveryPhrase(): Promise<{ readonly phrase: string }> {
    const { units, keyring, random } = this.#parts;
    // In an existing vault a new phrase opens the vault too, so a locked one does not generate it.
    if (!keyring.unlocked) checkMissing(units);
    const entropy = random('recovery phrase', 32);
    const phrase = mnemonicFromEntropy(entropy);
    this.#generated.keep(sentenceFromEntropy(entropy));
    entropy.fill(0);
    return Promise.resolve({ phrase });
  }

  async create(input: unknown): Promise<VaultStatus> {
    const { confirmedWords, userEmail, password, ...rest } = parseSecret(createParams, input, 'vault');
    checkMissing(this.#parts.units);
    const { phrase } = this.#generated;
    if (phrase === undefined) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'no recovery phrase was generated: request one, write it down, then create the vault',
      );
    }
    checkWords(phrase, confirmedWords, 'vault');
    if (!rest.useKeychain && password === undefined) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'missing field vault.password: a vault without a keychain needs a password',
      );
    }
    // Taken while it is used: of two calls at once one makes the vault.
    this.#generated.take();
    await setUp(this.#parts, {
      ...rest,
      ...(userEmail === undefined ? {} : { userEmail }),
      ...(password === undefined ? {} : { password }),
      recoveryPhrase: phrase,
      recoveryConfirmed: true,
    })
      .catch((error: unknown) => {
        if (this.#generated.phrase === undefined) this.#generated.keep(copyOfBytes(phrase));
        throw error;
      })
      .finally(() => phrase.fill(0));
    this.#keyslots.made();
    this.#timeline.note('created');
    // The keyring spoke when it was unlocked, before the vault was there to be read.
    this.emit({ kind: 'status' });
    return this.status();
  }

  async restore(input: unknown): Promise<VaultStatus> {
    const { restore } = this.#around;
    if (restore === null) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'a vault in memory is not restored: start with a directory',
      );
    }
    checkMissing(this.#parts.units);
    const { file, secret } = parseSecret(restoreParams, input, 'restore');
    if (this.#restoring) {
      throw new KeyhearthError('ALREADY_EXISTS', 'a backup is being restored: wait until it is done');
    }
    this.#restoring = true;
    try {
      let told = 0;
      const onProgress: RestoreWish['onProgress'] = (done, total) => {
        // An event for every chunk would be too many.
        const now = Date.now();
        if (done < total && now - told < progressPause) return;
        told = now;
        this.emit({ kind: 'restore', done, total });
      };
      await withSecret(secret, undefined, async (proof) => {
        const how = await proof;
        await this.#backups.withFile(file, (path, name) =>
          restore({ file: resolve(path), name, how, onProgress }),
        );
        await this.#keyslots.unlockWith(how);
      });
    } finally {
      this.#restoring = false;
      this.emit({ kind: 'status' });
    }
    return this.status();
  }

  async unlock(input: unknown): Promise<VaultStatus> {
    try {
      await this.#keyslots.unlock(input);
    } catch (error) {
      // The known state of the keychain is old when it refuses; the caller of the refusal does not wait for a new one.
      if (isByKeychain(input)) this.probeKeychain().catch(() => undefined);
      throw error;
    }
    return this.status();
  }

  async lock(): Promise<VaultStatus> {
    this.#vault();
    this.#log.signBeforeLock();
    this.#parts.keyring.lock();
    return this.status();
  }

  async freeze(): Promise<VaultStatus> {
    // The unlocked vault exists, though its file may have become unreadable.
    if (!this.#parts.keyring.unlocked) this.#vault();
    this.#freezer.freeze();
    return this.status();
  }

  async checkRows(): Promise<readonly RowFinding[]> {
    this.#vault();
    return Promise.resolve(this.#parts.guard.verifyNow());
  }

  async call(path: unknown, body: unknown): ReturnType<WindowRpc['call']> {
    const { target, vault, raw, name } = this.#requestOf(path, body);
    const headers = { 'x-stamp': this.#stamp(vault, raw) };
    const run = () => handle(this.#service, { path: target, raw, headers, byOwner: true });
    try {
      // Of the very bytes that are executed: what came by another way than JSON may turn into something else in them.
      const guard = stepUpOf(this.#service, target, parseJson(raw));
      return guard === undefined ? await run() : await this.#keyslots.proven(guard, name, run);
    } catch (error) {
      return refusal(this.#service, error);
    }
  }

  async reserveStepUp(path: unknown, body: unknown): ReturnType<WindowRpc['reserveStepUp']> {
    const { target, raw, name } = this.#requestOf(path, body);
    this.#parts.keyring.checkUnlocked();
    try {
      const guard = stepUpOf(this.#service, target, parseJson(raw));
      if (guard !== undefined) this.#keyslots.reserve(guard, name);
      return await Promise.resolve({ status: 200, body: {} });
    } catch (error) {
      return refusal(this.#service, error);
    }
  }

  /** A request of the owner's. `name` is the same for the same path and body, and for no others. */
  #requestOf(path: unknown, body: unknown) {
    const target = parse(callPath, path, 'path').slice('/public/v1/'.length);
    const vault = this.#vault();
    const request = {
      // The owner reads the sub-organizations too, by their ids.
      organizationId: vault.organizationId,
      ...parse(callBody, body, 'body'),
    };
    const timestamp = target.startsWith('submit/') ? { timestampMs: String(this.#nextTimestamp()) } : {};
    const raw = Buffer.from(JSON.stringify({ ...request, ...timestamp }));
    return { target, vault, raw, name: hash('sha256', JSON.stringify([target, request])) };
  }

  async logState(sign?: unknown): Promise<LogState> {
    if (parse(z.boolean().optional(), sign, 'sign') === true) await this.#log.sign();
    return this.#log.state();
  }

  async checkLog(): Promise<LogCheck> {
    return this.#log.check();
  }

  async exportLog(range?: unknown): Promise<LogPart> {
    return this.#log.export(parse(logRange.optional(), range, 'range'));
  }

  securityEvents(): ReturnType<WindowRpc['securityEvents']> {
    return new Promise((resolve) => {
      this.#vault();
      resolve({ events: this.#timeline.list() });
    });
  }

  keyslots(): Promise<Keyslots> {
    return this.#keyslots.keyslots();
  }

  async changeKeyslots(input: unknown): Promise<Keyslots> {
    const keyslots = await this.#keyslots.changeKeyslots(input);
    this.emit({ kind: 'status' });
    return keyslots;
  }

  async checkRecovery(input: unknown): Promise<Keyslots> {
    const keyslots = await this.#keyslots.checkRecovery(input);
    this.emit({ kind: 'status' });
    return keyslots;
  }

  previewWallet(input: unknown): Promise<WalletPreview> {
    return previewWallet(this.#parts, input);
  }

  recoverySheet(input: unknown): Promise<readonly Sheet[]> {
    return this.#keyslots.recoverySheet(input);
  }

  backups(): Promise<BackupsStatus> {
    return this.#backups.status();
  }

  async backUp(input: unknown): Promise<BackupRecord> {
    const { file, replace, secret } = parseSecret(backUpParams, input, 'backup');
    const make = (): Promise<BackupRecord> =>
      this.#backups.make({
        ...(file === undefined ? {} : { file }),
        ...(replace === undefined ? {} : { replace }),
        ...(secret === undefined ? {} : { how: secret }),
      });
    return secret === undefined ? make() : this.#timeline.refusing(secret.with, make);
  }

  lookAtBackup(file: unknown): Promise<UploadedBackup> {
    return this.#backups.lookAt(resolve(parse(filePath, file, 'file')));
  }

  releaseBackup(file: unknown): Promise<void> {
    return this.#backups.uploads.release(parse(filePath, file, 'file'));
  }

  copyOfBackup(id: unknown): ReturnType<WindowRpc['copyOfBackup']> {
    return this.#backups.copyOf(parse(z.uuid(), id, 'id'));
  }

  async verifyBackup(input: unknown): Promise<VerifiedBackup> {
    const { file, secret } = parseSecret(verifyParams, input, 'backup');
    return this.#backups.verify(file, secret);
  }

  async scheduleBackups(input: unknown): Promise<BackupsStatus> {
    await this.#backups.schedule(parse(scheduleParams, input, 'schedule'));
    return this.#backups.status();
  }

  messages(): Promise<MessagesStatus> {
    this.#vault();
    return Promise.resolve(this.#messages.status());
  }

  async changeMessages(input: unknown): Promise<MessagesStatus> {
    return this.#messages.change(parseSecret(channelChange, input, 'messages'));
  }

  async testMessages(input: unknown): Promise<{ readonly note: string }> {
    return this.#messages.test(parse(messageTest, input, 'test'));
  }

  async retryMessage(id: unknown): Promise<MessagesStatus> {
    return this.#messages.retry(parse(z.uuid(), id, 'id'));
  }

  shownMessages(): Promise<readonly ShownMessage[]> {
    return Promise.resolve(this.#messages.shown());
  }

  async requests(after?: unknown): Promise<SeenRequests> {
    const { requests, total } = this.#journal.read(parse(requestId.optional(), after, 'after') ?? 0);
    return Promise.resolve({
      total,
      requests: this.#parts.units.readUnverified((tx) => requests.map(withName(tx))),
    });
  }

  async settings(): Promise<SettingsShown> {
    return Promise.resolve(this.#settings.read());
  }

  async changeSettings(input: unknown): Promise<SettingsShown> {
    return this.#settings.change(input);
  }

  doors(): ReturnType<WindowRpc['doors']> {
    this.#vault();
    return Promise.resolve(this.#doors.status());
  }

  async changeDoors(input: unknown): ReturnType<WindowRpc['changeDoors']> {
    this.#vault();
    const token = await this.#doors.change(input);
    return { doors: this.#doors.status(), token };
  }

  prove(input: unknown): Promise<{ readonly until: number }> {
    return this.#keyslots.prove(input);
  }

  about(): Promise<About> {
    return readAbout(this.#around.distDirectory, this.#around.version);
  }

  licences(): Promise<readonly Licence[]> {
    return readLicences(this.#around.distDirectory);
  }

  async selfTest(): Promise<readonly SelfTestFinding[]> {
    this.#vault();
    const { keychain, guard, keyring, units, clock } = this.#parts;
    keyring.checkUnlocked();
    return selfTest({
      keychain,
      directory: this.#around.directory,
      storage: this.#around.storage,
      checkRows: () => guard.verifyNow(),
      checkLog: () => this.#log.check(),
      readUnverified: (read) => units.readUnverified(read),
      now: () => clock.now(),
    });
  }

  async diagnostics(): Promise<string> {
    const status = await this.status();
    return describeDiagnostics({
      status,
      about: await this.about(),
      findings: status.state === 'unlocked' ? await this.selfTest() : null,
    });
  }

  onEvent(listener: (event: VaultEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Emits an event to every window. */
  emit(event: VaultEvent): void {
    for (const fault of this.#listeners.emit(event)) this.#service.onFault(fault);
  }

  /** @throws KeyhearthError VAULT_MISSING while there is none. */
  serverKeys(): ServerKeys {
    return this.#parts.units.read((tx) => {
      requireVault(tx);
      const keys = serverKeysOf(tx);
      if (keys === null) throw new Error('the vault has not all of its own keys');
      return keys;
    });
  }

  #vault(): VaultRow {
    return this.#parts.units.readUnverified(requireVault);
  }

  /** The owner's stamp over a request of the window's. */
  #stamp(vault: VaultRow, raw: Uint8Array): string {
    const { units, keyring } = this.#parts;
    const key = units.read((tx) => getServerKey(tx, 'window'));
    if (key === undefined) throw new Error('the vault has no window key');
    const context = serverKeyContext('window', vault.organizationId);
    const privateKey = keyring.cached('server key window', () => keyring.open(context, key.sealed));
    return stampWith(privateKey, raw);
  }

  /** Rises with each call: the same request twice in a millisecond is meant twice. */
  #nextTimestamp(): number {
    this.#lastTimestamp = Math.max(this.#lastTimestamp + 1, this.#parts.clock.wall());
    return this.#lastTimestamp;
  }
}

const isByKeychain = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'with' in input && input.with === 'keychain';

function windowKeyOf(tx: Reader): string | null {
  const key = getServerKey(tx, 'window');
  return key === undefined ? null : toHex(compressP256(asUint8Array(Buffer.from(key.publicKey, 'hex'))));
}

/** @returns null where there is no vault, or not all of it. */
function serverKeysOf(tx: Reader): VaultStatus['serverKeys'] {
  const [signer, notarizer, tlsFetcher] = (['signer', 'notarizer', 'tlsFetcher'] as const).map(
    (name) => getServerKey(tx, name)?.publicKey,
  );
  if (signer === undefined || notarizer === undefined || tlsFetcher === undefined) return null;
  return { signer, notarizer, tlsFetcher };
}

/** As many findings as a person reads. */
const shownFindings = 20;

const shortened = (findings: readonly RowFinding[] | undefined): VaultStatus['tampering'] =>
  findings === undefined ? null : { total: findings.length, findings: findings.slice(0, shownFindings) };

/** Whom a request's proof names, by the name of now. */
const withName =
  (tx: Reader) =>
  ({ caller, ...request }: JournalEntry): SeenRequest => ({
    ...request,
    caller: caller && {
      organizationId: caller.organizationId,
      userId: caller.userId,
      userName: getUserRow(tx, caller.organizationId, caller.userId)?.name ?? null,
      credentialId: caller.credentialId ?? null,
    },
  });
