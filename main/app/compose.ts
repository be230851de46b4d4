/** The composition root: wires the service over an open file, and listens. The only wiring there is. */
import { randomFillSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VaultEvent, VaultRpc, VaultStatus } from '../../preload/contract.ts';
import { Rejections } from '../activities/request/reject-waiting.ts';
import { AuditLog } from '../audit/audit-log.ts';
import { isMarked } from '../audit/mark.ts';
import { idTokenVerifier } from '../auth/id-tokens.ts';
import { credentialUses, keyUses, LastUses } from '../auth/last-uses.ts';
import { SecurityTimeline } from '../audit/security-timeline.ts';
import { SigningCounts } from '../activities/answer/signing-counts.ts';
import { signingTypes } from '../activities/define.ts';
import { Backups } from '../backup/backups.ts';
import { restoreHere } from '../backup/restore.ts';
import { Waiters } from '../http/waiters.ts';
import { VaultCalls } from '../rpc/calls.ts';
import { homeDirectory } from './home-directory.ts';
import { defaultPort, version, type Config } from './config.ts';
import { listenForControl } from '../control/server.ts';
import { checkSecp256k1Accelerator } from '../crypto/keys/secp256k1.ts';
import type { Checkpoints } from '../storage/checkpoints.ts';
import { ownBytes } from '../crypto/secret-text.ts';
import type { Connection } from '../storage/connection.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import { isNetworkOn } from '../storage/tables/settings.ts';
import { namingDatabase } from '../storage/file/disk-state.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { VaultDirectory } from '../storage/file/vault-directory.ts';
import { getVault } from '../storage/tables/vault.ts';
import { controlApp, type WindowLinks } from '../http/control.ts';
import { eraseReads } from '../http/erase-reads.ts';
import type { DevControls } from '../http/dev/routes.ts';
import type { Service } from '../http/handle.ts';
import { OpeningPages, pageLifetimeMs } from '../http/window/opening-pages.ts';
import { RequestJournal } from '../http/request-journal.ts';
import { listen } from '../http/server.ts';
import { WindowSessions } from '../http/window/sessions.ts';
import type { RowGuard } from '../storage/integrity/guard.ts';
import { misshapen } from '../storage/integrity/refusal.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import { Keyring } from '../keys/keyring.ts';
import { defaultPasswordCost, type PasswordCost } from '../keys/keyslots/password.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { isOfStorage } from '../lib/errors.ts';
import { Listeners } from '../lib/listeners.ts';
import { logFault, logInfo, logWarning } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { DesktopCapabilities } from '../lib/desktop-capabilities.ts';
import type { Messages } from '../delivery/messages/messages.ts';
import { operations } from '../operations/index.ts';
import { startSweeping } from '../operations/sweeping.ts';
import type { Outbox } from '../delivery/queue/outbox.ts';
import { createGrant } from '../operations/policies/grants.ts';
import { GrantEnds } from '../operations/policies/grant-ends.ts';
import { Doors } from '../doors/doors.ts';
import { Nodes } from '../nodes/nodes.ts';
import { IdleLock } from '../settings/idle-lock.ts';
import { RequestUse } from '../settings/request-use.ts';
import { Settings } from '../settings/settings.ts';
import { setUp, type MadeVault, type NewVault } from './create-vault.ts';
import { keychainOf } from './keychain.ts';
import { deliveryParts } from './delivery-parts.ts';
import { closeVaultFile, openVaultFile, type VaultFile } from './open-file.ts';
import { storageParts } from './storage-parts.ts';
import type { Surroundings } from './surroundings.ts';
import { thisProgram } from './this-program.ts';
import { LogWatch } from '../delivery/webhooks/log-watch.ts';
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

function wire(config: Config, substitutes: Substitutes, file: VaultFile, { liftsFreeze }: Purpose): Opened {
  const { directory, connection } = file;
  const { random = systemRandom, clock = systemClock, passwordCost = defaultPasswordCost } = substitutes;
  const keychain = substitutes.keychain ?? keychainOf(config);
  const isDev = substitutes.dev !== undefined;
  const report = substitutes.onFault ?? logFault;
  // The state of the disk was already reported when it changed.
  const onFault = (error: unknown): void => {
    if (!isOfStorage(error)) report(error);
  };
  // The window's calls, which are created last, listen to these.
  const events = new Listeners<[VaultEvent]>();
  const emit = (event: VaultEvent): void => {
    events.emit(event).forEach(onFault);
  };
  const surroundings: Surroundings = { clock, onFault, emit };
  const keyring = new Keyring({ random: systemRandom, clock });
  const { guard, units, turns, verifications, storage, mark, checkpoints } = storageParts(
    file,
    keyring,
    surroundings,
  );
  const log = new AuditLog({ units, keyring, keychain, clock, mark, onFault });
  const delivery = deliveryParts(
    units,
    keyring,
    { isDev, isOnline: substitutes.shell?.isOnline },
    surroundings,
  );
  const { outbox, messages, webhooks, network } = delivery;
  const watch = new LogWatch(onFault);
  const waiters = new Waiters(() => keyring.frozenAt !== undefined, onFault);
  // Nothing that waits can be decided on before the owner thaws the vault.
  keyring.onChange(() => {
    if (keyring.frozenAt !== undefined) waiters.endAll();
  });
  const requestUse = new RequestUse(clock);
  const lastUses = new LastUses({ table: credentialUses, units, keys: keyring, onFault });
  const lastKeyUses = new LastUses({ table: keyUses, units, keys: keyring, onFault });
  // Created before the doors: a request that waits at one goes on once the grants are deleted.
  const grants = new GrantEnds({
    units,
    keys: keyring,
    clock,
    onFault,
    onEnd: () => {
      emit({ kind: 'status' });
    },
  });
  const signing: ReadonlySet<string> = new Set(signingTypes(operations));
  const signingCounts = new SigningCounts([...signing]);
  const nodes = new Nodes(units, keyring);
  const service: Service = {
    units,
    turns,
    verifications,
    keys: keyring,
    random,
    clock,
    rpId: config.rpId,
    verifyIdToken: idTokenVerifier({
      issuers: config.oidcIssuers,
      allowLoopback: config.allowLoopbackIssuers,
      clock,
      isNetworkOn: () => units.read(isNetworkOn),
    }),
    preview: (wanted) => nodes.preview(wanted),
    sandbox: isDev,
    post: (tx, organizationId, message) => {
      messages.post(tx, organizationId, message);
    },
    lastUses: (tx, organizationId) => lastUses.of(tx, organizationId),
    keyUses: (tx, organizationId) => lastKeyUses.of(tx, organizationId),
    onKeyUse: (keyId, use) => {
      lastKeyUses.note(keyId, use);
    },
    signingCounts,
    onAppended: (tx, row, by) => {
      webhooks.onAppended(tx, row);
      watch.appended();
      // Members of a sub-organization are strangers to the owner of this computer: anyone may have signed up
      // there.
      if (by !== null && getOrganization(tx, by.organizationId)?.parentId === null) requestUse.note();
    },
    logFollowed: () => guard.followed(),
    rejections: new Rejections(),
    watchLog: (listener) => watch.add(listener),
    operations,
    waiters,
    onActivity: ({ id, organizationId, type, status }) => {
      if (status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') waiters.decided(id);
      if (status === 'ACTIVITY_STATUS_COMPLETED' && !signing.has(type)) waiters.changed(organizationId);
      log.noticed();
      if (type === createGrant.versions[0].type && status === 'ACTIVITY_STATUS_COMPLETED') grants.look();
      emit({ kind: 'activity', id, type, status });
    },
    onCaller: (caller) => {
      const { credentialId, organizationId } = caller;
      if (credentialId !== undefined) lastUses.note(credentialId, { organizationId, usedAt: clock.now() });
    },
    onFault,
  };
  const journal = new RequestJournal(service, () => {
    emit({ kind: 'requests' });
  });
  let url = '';
  const parts = { units, guard, keyring, keychain, random, clock, passwordCost };
  const timeline = new SecurityTimeline({ units, keyring, clock, onFault });
  const backups = new Backups({
    units,
    keyring,
    clock,
    directory: config.dataDirectory,
    suggestedDirectory: join(homeDirectory(), 'Keyhearth backups'),
    onChange: () => {
      emit({ kind: 'backups' });
    },
    onFailure: logWarning,
    onEvent: (kind) => {
      timeline.note(kind);
    },
  });
  const settings = new Settings({
    units,
    keys: keyring,
    clock,
    shell: substitutes.shell ?? {},
    onChange: () => {
      // Deliveries that waited for the network start at once.
      delivery.look();
      emit({ kind: 'settings' });
    },
  });
  const doors = new Doors({
    service,
    keyring,
    nodes,
    random: systemRandom,
    lastUses: service.lastUses,
    homeDirectory: homeDirectory(),
    directory: config.dataDirectory ?? undefined,
    url: () => url,
    onChange: () => {
      emit({ kind: 'doors' });
    },
    onEvent: (kind, door) => {
      timeline.note(kind, door);
    },
  });
  const rpc = new VaultCalls(parts, service, {
    log,
    backups,
    messages,
    journal,
    settings,
    doors,
    timeline,
    version,
    directory: config.dataDirectory,
    liftsFreeze,
    program: substitutes.program ?? thisProgram(),
    distDirectory: join(config.rendererDirectory, '..'),
    url: () => url,
    delayed: delivery.delayed,
    storage: () => storage?.trouble ?? null,
    restore:
      directory === undefined
        ? null
        : (wish) => restoreHere(connection, directory, { ...wish, keychain, random: systemRandom, clock }),
  });
  // Once a vault that was frozen before is frozen again.
  timeline.watch();
  events.add((event) => {
    rpc.emit(event);
  });
  storage?.begin();
  const lock = (): void => {
    log.signBeforeLock();
    keyring.lock();
  };
  const idleLock = new IdleLock({
    clock,
    keys: keyring,
    autoLock: () => settings.autoLock(),
    requestUse,
    lock,
    warn: (seconds) => {
      emit({ kind: 'lockSoon', seconds });
    },
    onFault,
  });
  const vault: OpenVault = {
    connection,
    units,
    guard,
    keyring,
    rpc,
    log,
    outbox,
    webhooks,
    messages,
    lastUses,
    lastKeyUses,
    requestUse,
    waiters,
    setUp: (vault) => setUp(parts, vault),
    unlockWithPassword: (password) => rpc.unlock({ with: 'password', password }),
    emit,
    close: () => {
      network.close();
      lastUses.stop();
      lastKeyUses.stop();
      grants.close();
      idleLock.close();
      void backups.close();
      void outbox.close();
      void webhooks.close();
      messages.close();
      lock();
      // The timeline notes the lock.
      units.flush();
      guard.stop();
      storage?.close();
      keychain.close?.();
      mark?.close();
      void checkpoints?.close();
      closeVaultFile(file);
    },
  };
  const listensAt = (address: string): void => {
    url = address;
  };
  return {
    vault,
    rpc,
    service,
    directory,
    journal,
    backups,
    checkpoints,
    settings,
    doors,
    idleLock,
    listensAt,
    lock,
  };
}

/** Opens the vault and serves it on loopback; the vault may be missing or locked, and the service says so. */
export async function startVault(config: Config, substitutes: Substitutes = {}): Promise<Vault> {
  const {
    vault,
    rpc,
    service,
    directory,
    journal,
    backups,
    settings,
    doors,
    idleLock,
    listensAt,
    lock,
    checkpoints,
  } = open(config, substitutes, { liftsFreeze: true });
  const { units, keyring, log, outbox, webhooks, messages, lastUses, lastKeyUses } = vault;
  const sessions = new WindowSessions();
  // Ends in reverse order of starting. Each part ends even if another fails, so that the keys are erased and
  // the file is released.
  await using started = new AsyncDisposableStack();
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
  backups.start();
  const server = await listen({
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
    webhookKeys: () => webhooks.jwks(),
    reference: { version, directory: config.referenceDirectory },
    site: config.siteDirectory,
    ...(substitutes.dev ? { dev: substitutes.dev(vault) } : {}),
    answerProgram: doors.answer,
  });
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
  const { clock, onFault } = service;
  // The link uses the name, since passkeys belong to names.
  const linkWith = (code: string): string => `http://localhost:${server.port}/#code=${code}`;
  const pages = new OpeningPages([homeDirectory(), tmpdir()], onFault);
  started.defer(() => {
    pages.close();
  });
  const links: WindowLinks = {
    newLink: () => linkWith(sessions.newCode()),
    newPage: () => {
      const code = sessions.newCode(pageLifetimeMs, () => {
        if (page !== null) pages.remove(page);
      });
      const page = pages.write(linkWith(code));
      return page;
    },
  };
  if (directory !== undefined) {
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
      onFault(new Error('no directory here can hold a private socket: no command can reach this vault'));
    } else started.defer(() => control.close());
    directory.publish({ port: server.port, socket: control?.address ?? null });
  }
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

/** Sealing always uses the system's randomness, even where ids and keys come from a seed. */
const systemRandom: Random = (_purpose, length) => randomFillSync(ownBytes(length));
