/** `keyhearth dev`: an ephemeral vault for tests, in memory, reproducible from a seed. */
import { randomBytes } from 'node:crypto';
import { environmentWith, type Config, type VaultVariables } from '../../app/config.ts';
import { mnemonicFromEntropy } from '../../crypto/keys/mnemonics.ts';
import { toHex } from '../../crypto/encodings.ts';
import { generateP256 } from '../../crypto/keys/p256.ts';
import type { Connection } from '../../storage/connection.ts';
import { getServerKey, serverKeyContext } from '../../storage/tables/server-keys.ts';
import type { RowGuard } from '../../storage/integrity/guard.ts';
import { getVault } from '../../storage/tables/vault.ts';
import type { DevControls, DevMessage } from '../../http/dev/routes.ts';
import { noKeychain } from '../../keys/keychain/keychain.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { Clock } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { SeededRandom } from '../../lib/seeded-random.ts';
import { freezeOnSignal } from '../../app/freeze-signal.ts';
import { startVault, type OpenVault, type Vault } from '../../app/compose.ts';
import { startServiceLog } from '../../app/service-log.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { untilSignalled, untilStdinEnds } from '../shared/signals.ts';
import { endLike, runToItsEnd, type CommandEnd } from './run-command.ts';

export interface DevOptions {
  /** Random where none is given. */
  readonly seed?: string;
  readonly clock: 'fixed' | 'real';
}

export interface DevRun extends DevOptions {
  /** Ends when standard input does. */
  readonly stdinLifetime: boolean;
  /** The command to run and end with, and its arguments; empty to serve until a signal comes. */
  readonly command: readonly string[];
}

/** The values that a script needs to use the vault: the shapes that the SDKs accept. */
export interface DevVault {
  readonly url: string;
  readonly organizationId: string;
  readonly rootUserId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
  readonly signerPublicKey: string;
  readonly notarizerPublicKey: string;
  readonly tlsFetcherPublicKey: string;
  /** Unlocks the vault again, once something locked it. */
  readonly recoveryPhrase: string;
  /** The window, where it is served. */
  readonly windowUrl?: string;
}

/** The start of a fixed clock: 2026-01-01T00:00:00Z. */
const fixedStart = Date.UTC(2026, 0, 1);

export async function dev(config: Config, options: DevRun): Promise<void> {
  const { command, stdinLifetime } = options;
  if (command.length > 0 && stdinLifetime) {
    throw new CommandError(
      exitCodes.usage,
      'invalid --stdin-lifetime: with a command, standard input is the command’s, and the vault ends with it',
    );
  }
  const end = await serveDev(config, options);
  if (end !== undefined) endLike(end);
}

/** @returns how the command ended; undefined without one. */
async function serveDev(
  config: Config,
  { command, stdinLifetime, ...options }: DevRun,
): Promise<CommandEnd | undefined> {
  using _log = startServiceLog({ ...config, dataDirectory: null });
  const { vault, line } = await startDev(config, options);
  const stopListening = freezeOnSignal(vault.rpc);
  try {
    const [program, ...operands] = command;
    if (program !== undefined)
      return await runToItsEnd(program, operands, environmentWith(variablesOf(line)));
    // The program that reads the line may send the signal at once.
    const signalled = untilSignalled(config);
    process.stdout.write(`${JSON.stringify(line)}\n`);
    await (stdinLifetime ? Promise.race([signalled, untilStdinEnds()]) : signalled);
    return undefined;
  } finally {
    stopListening();
    await vault.close();
  }
}

const variablesOf = (line: DevVault): VaultVariables => ({
  KEYHEARTH_URL: line.url,
  KEYHEARTH_ORGANIZATION: line.organizationId,
  KEYHEARTH_SIGNER: line.signerPublicKey,
  KEYHEARTH_API_KEY: `${line.apiPublicKey}:${line.apiPrivateKey}`,
});

export async function startDev(
  config: Config,
  options: DevOptions,
): Promise<{ readonly vault: Vault; readonly line: DevVault }> {
  const random = new SeededRandom(options.seed ?? randomBytes(16).toString('hex'));
  const clock = new DevClock(options.clock);
  let snapshots: DevSnapshots | undefined;
  await using started = new AsyncDisposableStack();
  const vault = await startVault(
    { ...config, dataDirectory: null, allowLoopbackOrigins: true, allowLoopbackIssuers: true },
    {
      random: random.generate,
      clock,
      keychain: noKeychain('keyhearth dev touches no keychain'),
      dev: (parts) => (snapshots = new DevSnapshots(parts, random, clock)),
    },
  );
  started.defer(() => vault.close());
  const pair = generateP256((length) => random.generate('dev api key', length));
  const apiPublicKey = toHex(pair.publicKey);
  const recoveryPhrase = mnemonicFromEntropy(random.generate('recovery phrase', 32));
  const { organizationId, userId } = await vault.setUp({
    organizationName: 'Development',
    userName: 'Root user',
    useKeychain: false,
    recoveryPhrase,
    recoveryConfirmed: true,
    apiKey: { name: 'dev', publicKey: apiPublicKey },
  });
  snapshots?.markStart();
  const { serverKeys } = await vault.rpc.status();
  started.move();
  return {
    vault,
    line: {
      url: vault.url,
      organizationId,
      rootUserId: userId,
      apiPublicKey,
      apiPrivateKey: toHex(pair.privateKey),
      signerPublicKey: serverKeys?.signer ?? '',
      notarizerPublicKey: serverKeys?.notarizer ?? '',
      tlsFetcherPublicKey: serverKeys?.tlsFetcher ?? '',
      recoveryPhrase,
      ...(config.ui ? { windowUrl: vault.newLink() } : {}),
    },
  };
}

/** Stands still until moved, or runs with the machine's clock plus what it was moved by. */
class DevClock implements Clock {
  readonly mode: 'fixed' | 'real';
  #at: number;

  constructor(mode: 'fixed' | 'real') {
    this.mode = mode;
    this.#at = mode === 'fixed' ? fixedStart : 0;
  }

  now(): number {
    return this.mode === 'fixed' ? this.#at : Date.now() + this.#at;
  }

  /** Clients stamp with the real time, wherever this clock stands. */
  wall(): number {
    return Date.now();
  }

  moveTo(now: number): void {
    this.#at = this.mode === 'fixed' ? now : now - Date.now();
  }

  /** The argument of `restore`: a time, or the offset of this clock from the machine's. */
  get position(): number {
    return this.#at;
  }

  restore(position: number): void {
    this.#at = position;
  }
}

interface Snapshot {
  readonly database: Buffer;
  readonly positions: ReadonlyMap<string, number>;
  readonly clock: number;
  readonly messages: OpenVault['messages']['kept'];
}

/** The parts of the open vault that a snapshot restores. */
interface SnapshotParts {
  readonly connection: Connection;
  readonly guard: RowGuard;
  readonly keyring: Keyring;
  readonly messages: OpenVault['messages'];
  readonly outbox: OpenVault['outbox'];
  readonly webhooks: OpenVault['webhooks'];
}

class DevSnapshots implements DevControls {
  readonly #connection: Connection;
  readonly #guard: RowGuard;
  readonly #keyring: Keyring;
  readonly #messages: OpenVault['messages'];
  readonly #outbox: OpenVault['outbox'];
  readonly #webhooks: OpenVault['webhooks'];
  readonly #random: SeededRandom;
  readonly #clock: DevClock;
  readonly #snapshots = new Map<string, Snapshot>();
  #start: Snapshot | undefined;

  constructor(
    { connection, guard, keyring, messages, outbox, webhooks }: SnapshotParts,
    random: SeededRandom,
    clock: DevClock,
  ) {
    this.#connection = connection;
    this.#guard = guard;
    this.#keyring = keyring;
    this.#messages = messages;
    this.#outbox = outbox;
    this.#webhooks = webhooks;
    this.#random = random;
    this.#clock = clock;
  }

  /** Makes the vault as it is now the one that `reset` goes back to. */
  markStart(): void {
    this.#start = this.#take();
  }

  snapshot(): { readonly id: string } {
    const id = String(this.#snapshots.size + 1);
    this.#snapshots.set(id, this.#take());
    return { id };
  }

  reset(id: string | undefined): void {
    const snapshot = id === undefined ? this.#start : this.#snapshots.get(id);
    if (snapshot === undefined) {
      const known = [...this.#snapshots.keys()].join(', ') || 'none yet';
      throw new KeyhearthError(
        'NOT_FOUND',
        `there is no snapshot ${JSON.stringify(id)}; there are: ${known}`,
      );
    }
    this.#connection.restore(snapshot.database);
    this.#guard.restart();
    this.#random.rewind(snapshot.positions);
    this.#clock.restore(snapshot.clock);
    this.#messages.restore(snapshot.messages);
    this.#keyring.forget();
    if (this.#keyring.unlocked && !this.#isOurs()) this.#keyring.lock();
    // Deliveries that waited at the snapshot wait again.
    this.#outbox.look();
    this.#webhooks.look();
  }

  /** True if the current master key is the snapshot's; it may have been replaced since. */
  #isOurs(): boolean {
    const organizationId = getVault(this.#connection)?.organizationId;
    const key = getServerKey(this.#connection, 'window');
    if (organizationId === undefined || key === undefined) return true;
    try {
      this.#keyring.open(serverKeyContext('window', organizationId), key.sealed).fill(0);
      return true;
    } catch (error) {
      if (error instanceof KeyhearthError) return false;
      throw error;
    }
  }

  async inbox(): Promise<readonly DevMessage[]> {
    await this.#messages.settled();
    return this.#messages.shown();
  }

  clock(): { readonly mode: 'fixed' | 'real'; readonly now: number } {
    return { mode: this.#clock.mode, now: this.#clock.now() };
  }

  moveClock(move: { readonly now: number } | { readonly advanceMs: number }): void {
    this.#clock.moveTo('now' in move ? move.now : this.#clock.now() + move.advanceMs);
  }

  #take(): Snapshot {
    return {
      database: this.#connection.serialize(),
      positions: this.#random.positions(),
      clock: this.#clock.position,
      messages: this.#messages.kept,
    };
  }
}
