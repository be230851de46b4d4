/** The composition root: wires the service over an open file, and listens. The only wiring there is. */
import { randomFillSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VaultEvent, VaultRpc, VaultStatus } from '../../preload/contract.ts';
import { AuditLog } from '../audit/audit-log.ts';
import { isMarked } from '../audit/mark.ts';
import type { LastUses } from '../auth/last-uses.ts';
import type { Backups } from '../backup/backups.ts';
import { restoreHere } from '../backup/restore.ts';
import type { Waiters } from '../http/waiters.ts';
import { VaultCalls, type Surroundings as CallSurroundings } from '../rpc/calls.ts';
import { homeDirectory } from './home-directory.ts';
import { defaultPort, version, type Config } from './config.ts';
import { listenForControl } from '../control/server.ts';
import { checkSecp256k1Accelerator } from '../crypto/keys/secp256k1.ts';
import type { Checkpoints } from '../storage/checkpoints.ts';
import { ownBytes } from '../crypto/secret-text.ts';
import type { Connection } from '../storage/connection.ts';
import { namingDatabase } from '../storage/file/disk-state.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { VaultDirectory } from '../storage/file/vault-directory.ts';
import { getVault } from '../storage/tables/vault.ts';
import { controlApp, type WindowLinks } from '../http/control.ts';
import { eraseReads } from '../http/erase-reads.ts';
import type { DevControls } from '../http/dev/routes.ts';
import type { Service } from '../http/handle.ts';
import { OpeningPages, pageLifetimeMs } from '../http/window/opening-pages.ts';
import type { RequestJournal } from '../http/request-journal.ts';
import { listen, type ServerOptions } from '../http/server.ts';
import { WindowSessions } from '../http/window/sessions.ts';
import type { RowGuard } from '../storage/integrity/guard.ts';
import { misshapen } from '../storage/integrity/refusal.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import { Keyring } from '../keys/keyring.ts';
import { defaultPasswordCost, type PasswordCost } from '../keys/keyslots/password.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { isOfStorage } from '../lib/errors.ts';
import type { OnFault } from '../lib/faults.ts';
import { Listeners } from '../lib/listeners.ts';
import { logFault, logInfo } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { DesktopCapabilities } from '../lib/desktop-capabilities.ts';
import type { Messages } from '../delivery/messages/messages.ts';
import { startSweeping } from '../operations/sweeping.ts';
import type { Outbox } from '../delivery/queue/outbox.ts';
import type { Doors } from '../doors/doors.ts';
import { IdleLock } from '../settings/idle-lock.ts';
import type { RequestUse } from '../settings/request-use.ts';
import type { Settings } from '../settings/settings.ts';
import { setUp, type MadeVault, type NewVault, type SetupParts } from './create-vault.ts';
import { keychainOf } from './keychain.ts';
import { deliveryParts, type DeliveryParts } from './delivery-parts.ts';
import { closeVaultFile, openVaultFile, type VaultFile } from './open-file.ts';
import { ownerParts } from './owner-parts.ts';
import { serviceParts, type ServiceParts } from './service-parts.ts';
import { storageParts, type StorageParts } from './storage-parts.ts';
import type { Surroundings } from './surroundings.ts';
import { thisProgram } from './this-program.ts';
import type { Webhooks } from '../delivery/webhooks/webhooks.ts';

/** Replacements for real dependencies: `keyhearth dev` sets its seed and clock, tests set a keychain. */
export interface Substitutes {
  readonly random?: Random;
  readonly clock?: Clock;
  readonly keychain?: Keychain;
  /**
   * Cost of one attempt at a password, for new keyslots. Only tests lower it: no option or setting reaches
   * it.
   */
  readonly passwordCost?: PasswordCost;
  /** The words that run the command from anywhere; this process itself unless given. */
  readonly program?: VaultStatus['program'];
  /** Capabilities of the shell around the service. Absent in a browser and headless. */
  readonly shell?: DesktopCapabilities;
  /** Makes the `/dev/` routes, over the open vault. */
  readonly dev?: (
    parts: Pick<OpenVault, 'connection' | 'guard' | 'keyring' | 'messages' | 'outbox' | 'webhooks'>,
  ) => DevControls;
  /** Sink for faults; standard error unless given. */
  readonly onFault?: (error: unknown) => void;
}

/** A vault's file, open and held, before anything listens. */
export interface OpenVault {
  readonly connection: Connection;
  readonly units: UnitOfWork;
  readonly guard: RowGuard;
  readonly keyring: Keyring;
  readonly rpc: VaultRpc;
  readonly log: AuditLog;
  readonly outbox: Outbox;
  readonly webhooks: Webhooks;
  readonly messages: Messages;
  readonly lastUses: LastUses;
  readonly lastKeyUses: LastUses;
  readonly requestUse: RequestUse;
  readonly waiters: Waiters;
  readonly setUp: (vault: NewVault) => Promise<MadeVault>;
  /** As the rpc's `unlock`, with bytes of UTF-8 that the caller erases. */
  readonly unlockWithPassword: (password: Uint8Array) => Promise<VaultStatus>;
  /** Emits an event to every window. */
  readonly emit: (event: VaultEvent) => void;
  close(): void;
}

export interface Vault extends Omit<OpenVault, 'close'>, WindowLinks {
  /** `http://127.0.0.1:7377`. */
  readonly url: string;
  close(): Promise<void>;
}

/** An open vault with what serves it. */
interface Opened {
  readonly vault: OpenVault;
  readonly rpc: VaultCalls;
  readonly service: Service;
  readonly directory: VaultDirectory | undefined;
  readonly journal: RequestJournal;
  readonly backups: Backups;
  /** Undefined for a vault in memory. */
  readonly checkpoints: Checkpoints | undefined;
  readonly settings: Settings;
  readonly doors: Doors;
  readonly idleLock: IdleLock;
  readonly listensAt: (url: string) => void;
  /** Signs the log's head and erases the keys. */
  readonly lock: () => void;
}

/** Why a process opens a vault. */
interface Purpose {
  /** False where it does its own work alone. */
  readonly liftsFreeze: boolean;
}

/**
 * Opens the vault's file for this process's own work and takes its lock, making both where they are missing. A frozen vault stays
 * frozen on the disk, also where it is unlocked meanwhile.
 */
export const openVault = (config: Config, substitutes: Substitutes = {}): OpenVault =>
  open(config, substitutes, { liftsFreeze: false }).vault;

function open(config: Config, substitutes: Substitutes, purpose: Purpose): Opened {
  checkSecp256k1Accelerator();
  const file = openedFile(config.dataDirectory);
  try {
    checkHasVault(file);
    return wire(config, substitutes, file, purpose);
  } catch (error) {
    closeVaultFile(file);
    throw error;
  }
}

/**
 * @throws KeyhearthError STORAGE_UNAVAILABLE if the disk refuses writes: a vault cannot even be opened
 * without them.
 */
function openedFile(dataDirectory: string | null): VaultFile {
  try {
    return openVaultFile(dataDirectory);
  } catch (error) {
    throw dataDirectory === null ? error : namingDatabase(error, join(dataDirectory, 'vault.db'));
  }
}

/** @throws KeyhearthError VAULT_TAMPERED for a file that is empty, and in which a vault was. */
function checkHasVault({ connection, directory }: VaultFile): void {
  if (directory === undefined || getVault(connection) !== undefined || !isMarked(directory.database)) return;
  throw misshapen([
    { table: 'the file', row: null, problem: `${directory.database} is empty, and there was a vault in it` },
  ]);
}

function wire(config: Config, substitutes: Substitutes, file: VaultFile, purpose: Purpose): Opened {
  const { random = systemRandom, clock = systemClock, passwordCost = defaultPasswordCost } = substitutes;
  const { shell = {} } = substitutes;
  const keychain = substitutes.keychain ?? keychainOf(config);
  const isDev = substitutes.dev !== undefined;
  // The window's calls, which are created last, listen to these.
  const events = new Listeners<[VaultEvent]>();
  const surroundings = surroundingsOf(events, clock, substitutes.onFault);
  const { onFault, emit } = surroundings;
  const keyring = new Keyring({ random: systemRandom, clock });
  const stored = storageParts(file, keyring, surroundings);
  const { units, guard, mark, checkpoints } = stored;
  const log = new AuditLog({ units, keyring, keychain, clock, mark, onFault });
  const delivery = deliveryParts(units, keyring, { isDev, isOnline: shell.isOnline }, surroundings);
  const serving = serviceParts({ config, random, isDev, keyring, log, stored, delivery }, surroundings);
  const { service, journal, nodes } = serving;
  const setup: SetupParts = { units, guard, keyring, keychain, random, clock, passwordCost };
  let address = '';
  const url = (): string => address;
  const owner = ownerParts(
    {
      directory: config.dataDirectory,
      shell,
      units,
      keyring,
      service,
      nodes,
      random: systemRandom,
      url,
      sendWaiting: delivery.look,
    },
    surroundings,
  );
  const { backups, settings, doors, timeline } = owner;
  const rpc = new VaultCalls(setup, service, {
    ...owner,
    log,
    messages: delivery.messages,
    journal,
    version,
    directory: config.dataDirectory,
    liftsFreeze: purpose.liftsFreeze,
    program: substitutes.program ?? thisProgram(),
    distDirectory: join(config.rendererDirectory, '..'),
    url,
    delayed: delivery.delayed,
    storage: () => stored.storage?.trouble ?? null,
    restore: restoring(file, { keychain, random: systemRandom, clock }),
  });
  // Once a vault that was frozen before is frozen again.
  timeline.watch();
  events.add((event) => {
    rpc.emit(event);
  });
  stored.storage?.begin();
  const lock = (): void => {
    log.signBeforeLock();
    keyring.lock();
  };
  const idleLock = new IdleLock({
    clock,
    keys: keyring,
    autoLock: () => settings.autoLock(),
    requestUse: serving.requestUse,
    lock,
    warn: (seconds) => {
      emit({ kind: 'lockSoon', seconds });
    },
    onFault,
  });
  const vault = vaultOver({
    file,
    stored,
    log,
    delivery,
    serving,
    rpc,
    backups,
    idleLock,
    setup,
    emit,
    lock,
  });
  return {
    vault,
    rpc,
    service,
    directory: file.directory,
    journal,
    backups,
    checkpoints,
    settings,
    doors,
    idleLock,
    listensAt: (url) => {
      address = url;
    },
    lock,
  };
}

function surroundingsOf(
  events: Listeners<[VaultEvent]>,
  clock: Clock,
  report: OnFault = logFault,
): Surroundings {
  // The state of the disk was already reported when it changed.
  const onFault = (error: unknown): void => {
    if (!isOfStorage(error)) report(error);
  };
  const emit = (event: VaultEvent): void => {
    events.emit(event).forEach(onFault);
  };
  return { clock, onFault, emit };
}

/** Restores a backup in the place of the file's vault; null for a vault in memory. */
function restoring(
  { connection, directory }: VaultFile,
  sources: Pick<SetupParts, 'keychain' | 'random' | 'clock'>,
): CallSurroundings['restore'] {
  if (directory === undefined) return null;
  return (wish) => restoreHere(connection, directory, { ...wish, ...sources });
}

interface VaultParts {
  readonly file: VaultFile;
  readonly setup: SetupParts;
  readonly stored: StorageParts;
  readonly log: AuditLog;
  readonly delivery: DeliveryParts;
  readonly serving: ServiceParts;
  readonly backups: Backups;
  readonly rpc: VaultCalls;
  readonly idleLock: IdleLock;
  readonly emit: (event: VaultEvent) => void;
  readonly lock: () => void;
}

function vaultOver(parts: VaultParts): OpenVault {
  const { file, setup, stored, log, delivery, serving, rpc, emit } = parts;
  const { outbox, webhooks, messages } = delivery;
  const { lastUses, lastKeyUses, requestUse, waiters } = serving;
  return {
    connection: file.connection,
    units: stored.units,
    guard: stored.guard,
    keyring: setup.keyring,
    rpc,
    log,
    outbox,
    webhooks,
    messages,
    lastUses,
    lastKeyUses,
    requestUse,
    waiters,
    setUp: (vault) => setUp(setup, vault),
    unlockWithPassword: (password) => rpc.unlock({ with: 'password', password }),
    emit,
    close: () => {
      closeParts(parts);
    },
  };
}

/** Ends all that works by itself, then erases the keys, then releases the file. */
function closeParts({ file, setup, stored, delivery, serving, backups, idleLock, lock }: VaultParts): void {
  delivery.network.close();
  serving.lastUses.stop();
  serving.lastKeyUses.stop();
  serving.grants.close();
  idleLock.close();
  void backups.close();
  void delivery.outbox.close();
  void delivery.webhooks.close();
  delivery.messages.close();
  lock();
  // The timeline notes the lock.
  stored.units.flush();
  stored.guard.stop();
  stored.storage?.close();
  setup.keychain.close?.();
  stored.mark?.close();
  void stored.checkpoints?.close();
  closeVaultFile(file);
}

/** Opens the vault and serves it on loopback; the vault may be missing or locked, and the service says so. */
export async function startVault(config: Config, substitutes: Substitutes = {}): Promise<Vault> {
  const opened = open(config, substitutes, { liftsFreeze: true });
  const { vault, service, backups, doors, idleLock, listensAt } = opened;
  const { units, keyring, outbox, webhooks } = vault;
  const { clock, onFault } = service;
  const sessions = new WindowSessions();
  // Ends in reverse order of starting. Each part ends even if another fails, so that the keys are erased and
  // the file is released.
  await using started = new AsyncDisposableStack();
  deferEndOfVault(started, opened);
  backups.start();
  const server = await listen(serverOptions(config, substitutes, opened, sessions));
  started.defer(() => server.close());
  started.defer(() => {
    service.waiters.endAll();
  });
  const url = `http://127.0.0.1:${String(server.port)}`;
  logInfo(`The service listens on port ${String(server.port)}`);
  keyring.onChange((unlocked) => {
    logInfo(`The vault is ${unlocked ? 'unlocked' : keyring.frozenAt === undefined ? 'locked' : 'frozen'}`);
  });
  listensAt(url);
  const pages = new OpeningPages([homeDirectory(), tmpdir()], onFault);
  started.defer(() => {
    pages.close();
  });
  const links = windowLinks(server.port, sessions, pages);
  await listenForCommands(started, config, opened, { port: server.port, links });
  await doors.look();
  started.defer(() => doors.close());
  outbox.start();
  webhooks.start();
  started.defer(startSweeping({ units, keys: keyring, clock, onFault }));
  started.defer(() => {
    idleLock.close();
  });
  const running = started.move();
  return {
    ...vault,
    url,
    ...links,
    close: () => running.disposeAsync(),
  };
}

/** Ends the vault itself, after all that was started over it. */
function deferEndOfVault(started: AsyncDisposableStack, opened: Opened): void {
  const { vault, backups, checkpoints, lock } = opened;
  const { log, outbox, webhooks, messages, lastUses, lastKeyUses } = vault;
  started.defer(() => {
    vault.close();
  });
  // Before the file: the connection that is closed last empties the log.
  started.defer(() => checkpoints?.close());
  started.defer(() => log.settled());
  started.defer(() => {
    lock();
  });
  started.defer(() => backups.close());
  started.defer(() => {
    messages.close();
  });
  started.defer(() => webhooks.close());
  started.defer(() => outbox.close());
  started.defer(() => lastUses.close());
  started.defer(() => lastKeyUses.close());
}

function serverOptions(
  config: Config,
  substitutes: Substitutes,
  opened: Opened,
  sessions: WindowSessions,
): ServerOptions {
  const { vault, rpc, service, journal, backups, settings, doors, idleLock } = opened;
  return {
    service,
    rpc,
    uploadBackup: (part) => backups.upload(part),
    sessions,
    journal,
    origins: { allowed: config.allowedOrigins, loopback: config.allowLoopbackOrigins },
    exposure: config.exposure,
    port: config.port ?? settings.port() ?? defaultPort,
    isPortSetting: config.port === null && settings.port() !== undefined,
    onWindowUsed: () => {
      idleLock.used();
    },
    ...(config.ui ? { window: config.rendererDirectory } : {}),
    discoveryKeys: () => ({ ...rpc.serverKeys() }),
    webhookKeys: () => vault.webhooks.jwks(),
    reference: { version, directory: config.referenceDirectory },
    site: config.siteDirectory,
    ...(substitutes.dev ? { dev: substitutes.dev(vault) } : {}),
    answerProgram: doors.answer,
  };
}

function windowLinks(port: number, sessions: WindowSessions, pages: OpeningPages): WindowLinks {
  // The link uses the name, since passkeys belong to names.
  const linkWith = (code: string): string => `http://localhost:${String(port)}/#code=${code}`;
  return {
    newLink: () => linkWith(sessions.newCode()),
    newPage: () => {
      const code = sessions.newCode(pageLifetimeMs, () => {
        if (page !== null) pages.remove(page);
      });
      const page = pages.write(linkWith(code));
      return page;
    },
  };
}

/** The ways to a service that listens. */
interface Ways {
  readonly port: number;
  readonly links: WindowLinks;
}

/** Listens for the owner's own commands, and says in the vault's directory where: a vault in memory has none. */
async function listenForCommands(
  started: AsyncDisposableStack,
  config: Config,
  { rpc, service, directory }: Opened,
  { port, links }: Ways,
): Promise<void> {
  if (directory === undefined) return;
  const control = await listenForControl({
    directory: directory.path,
    others: [...(config.runtimeDirectory === undefined ? [] : [config.runtimeDirectory]), tmpdir()],
    secret: directory.nonce,
    left: directory.left?.socket ?? undefined,
    press: () => service.turns.press(),
    answer: controlApp(rpc, service, config.ui ? links : undefined, () => rpc.keepFrozen()),
    onServed: eraseReads,
  });
  if (control === undefined) {
    service.onFault(
      new Error('no directory here can hold a private socket: no command can reach this vault'),
    );
  } else started.defer(() => control.close());
  directory.publish({ port, socket: control?.address ?? null });
}

/** Sealing always uses the system's randomness, even where ids and keys come from a seed. */
const systemRandom: Random = (_purpose, length) => randomFillSync(ownBytes(length));
