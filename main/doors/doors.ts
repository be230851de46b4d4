/** The doors: which are on, which programs are paired, and the sockets that let them in. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { DoorNode, DoorProgram, DoorStatus } from '../../preload/contract.ts';
import { networkName } from '../chains/ethereum/networks.ts';
import { encodeBase58, toHex } from '../crypto/encodings.ts';
import { generateP256, uncompressP256 } from '../crypto/keys/p256.ts';
import type { AnswerProgram } from '../http/door-routes.ts';
import { Waiters } from '../http/waiters.ts';
import type { Service } from '../http/handle.ts';
import type { Keyring } from '../keys/keyring.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import { parseSecret } from '../lib/parse.ts';
import { doorKinds, doorNames, type DoorName } from '../lib/policies/doors.ts';
import type { Random } from '../lib/random.ts';
import type { Reader } from '../storage/connection.ts';
import { findApiKey } from '../storage/tables/api-keys.ts';
import {
  deleteDoorKey,
  findKeyByToken,
  getServerKey,
  insertServerKey,
  listDoorKeys,
  serverKeyContext,
} from '../storage/tables/server-keys.ts';
import { listNodes, type EthereumNodeRow } from '../storage/tables/ethereum-nodes.ts';
import { endTransactionsOf } from '../storage/tables/ethereum-transactions.ts';
import { getSetting, putSetting } from '../storage/tables/settings.ts';
import { getVault, requireVault } from '../storage/tables/vault.ts';
import type { OpenDoor, OpenProgram } from './door.ts';
import { openEthereum } from './ethereum/door.ts';
import { chainIdText, nodeUrl, type Nodes } from '../nodes/nodes.ts';
import { Transactions } from './ethereum/sending.ts';
import { compressed, keyNameOf, Program } from './program.ts';
import { openSshAgent } from './ssh/server.ts';

export interface DoorsParts {
  readonly service: Service;
  readonly keyring: Keyring;
  /** Closed with the doors. */
  readonly nodes: Nodes;
  readonly random: Random;
  readonly homeDirectory: string;
  /** Undefined for a vault in memory: it has no sockets. */
  readonly directory: string | undefined;
  /** When credentials of an organization were last used, in milliseconds, by their ids. */
  readonly lastUses: (tx: Reader, organizationId: string) => ReadonlyMap<string, number>;
  /** The URL of the port. */
  readonly url: () => string;
  readonly onChange: () => void;
  /** Called once a change is committed. */
  readonly onEvent: (kind: DoorEvent, door: DoorName) => void;
}

const door = z.enum(doorNames);
const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'Expected small letters, digits and hyphens');
const change = z.discriminatedUnion('change', [
  z.object({ change: z.literal('switch'), door, on: z.boolean() }),
  z.object({ change: z.enum(['pair', 'remove']), door, name }),
  z.object({
    change: z.literal('node'),
    door: z.literal('ethereum'),
    chainId: chainIdText,
    url: nodeUrl.nullable(),
  }),
  z.object({
    change: z.literal('previews'),
    door: z.literal('ethereum'),
    chainId: chainIdText,
    on: z.boolean(),
  }),
]);

/** More would be more sockets than a person reads. */
const mostPrograms = 50;

interface Entry {
  readonly program: Program;
  /** Aborted when the program is let in no longer. */
  readonly closing: AbortController;
  open?: OpenProgram;
}

export class Doors {
  readonly #parts: DoorsParts;
  readonly #unlocking: Waiters;
  readonly #open = new Map<string, Entry>();
  readonly #problems = new Map<DoorName, string>();
  readonly #stop: () => void;
  /** The protocol of each door. */
  readonly #openers: Readonly<Record<DoorName, OpenDoor>>;
  #isClosed = false;
  /** One change at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: DoorsParts) {
    this.#parts = parts;
    const { keyring, nodes, service } = parts;
    this.#unlocking = new Waiters(() => keyring.frozenAt !== undefined, service.onFault);
    const { units, clock } = service;
    const transactions = new Transactions(units, () => clock.now());
    this.#openers = {
      ssh: openSshAgent,
      ethereum: openEthereum({ nodes, transactions }),
      // Loaded once the door is open: its library is large.
      mcp: async (program, options) => (await import('./mcp/server.ts')).openMcp(program, options),
    };
    this.#stop = keyring.onChange((unlocked) => {
      if (unlocked || keyring.frozenAt !== undefined) {
        // The rows are verified by then.
        queueMicrotask(
          owned(() => {
            this.#unlocking.endAll();
          }, service.onFault),
        );
      }
    });
  }

  status(): readonly DoorStatus[] {
    return this.#parts.service.units.readUnverified((tx) => {
      const organizationId = getVault(tx)?.organizationId ?? '';
      const uses = this.#parts.lastUses(tx, organizationId);
      return doorNames.map((door) => ({
        door,
        on: isOn(tx, door),
        problem: this.#problems.get(door) ?? null,
        nodes: doorKinds[door].hasNodes ? listNodes(tx).map(shownNode) : [],
        programs: listDoorKeys(tx, door).map((key): DoorProgram => {
          const entry = this.#open.get(key.name);
          const publicKey = compressed(key.publicKey);
          const credential = findApiKey(tx, organizationId, publicKey);
          return {
            name: key.name.slice(`door ${door} `.length),
            publicKey,
            pairedAt: key.createdAt,
            socket: entry?.open?.address ?? null,
            waiting: entry?.program.waiting ?? 0,
            expiresAt: credential?.expiresAt ?? null,
            lastUsedAt: (credential && uses.get(credential.id)) ?? null,
          };
        }),
      }));
    });
  }

  /**
   * @returns the token of a program that was paired with a door over HTTP. It is kept nowhere.
   * @throws KeyhearthError VAULT_LOCKED, ALREADY_EXISTS, NOT_FOUND, or FAILED_PRECONDITION for a vault in memory.
   */
  async change(input: unknown): Promise<string | null> {
    // The address of a node may have a secret in it.
    const wanted = parseSecret(change, input, 'doors');
    const { service, keyring, nodes, directory, onChange, onEvent } = this.#parts;
    keyring.checkUnlocked();
    if (directory === undefined) {
      throw new KeyhearthError(
        'FAILED_PRECONDITION',
        'a vault in memory has no doors: start with a directory',
      );
    }
    const token =
      wanted.change === 'pair' && doorKinds[wanted.door].endpoint !== undefined
        ? `kht_${encodeBase58(this.#parts.random('program token', 32))}`
        : null;
    await service.units.write((tx) => {
      if (wanted.change === 'switch') {
        const on = { ...switches(tx), [wanted.door]: wanted.on };
        putSetting(tx, 'doors', JSON.stringify(on), service.clock.now());
        return;
      }
      if (wanted.change === 'node') {
        const at = { own: this.#parts.url(), now: service.clock.now() };
        nodes.change(tx, wanted.chainId, wanted.url, at);
        return;
      }
      if (wanted.change === 'previews') {
        nodes.switchPreviews(tx, wanted.chainId, wanted.on);
        return;
      }
      const key = keyNameOf(wanted.door, wanted.name);
      const { organizationId } = requireVault(tx);
      if (wanted.change === 'remove') {
        endTransactionsOf(tx, key);
        if (deleteDoorKey(tx, key) > 0) return;
        throw new KeyhearthError('NOT_FOUND', `no program ${wanted.name} is paired`);
      }
      if (getServerKey(tx, key) !== undefined) {
        throw new KeyhearthError(
          'ALREADY_EXISTS',
          `a program ${wanted.name} is paired already: revoke it first, or take another name`,
        );
      }
      if (listDoorKeys(tx, wanted.door).length >= mostPrograms) {
        throw new KeyhearthError('RESOURCE_EXHAUSTED', `a door has at most ${String(mostPrograms)} programs`);
      }
      const { privateKey, publicKey } = generateP256((length) => this.#parts.random('program key', length));
      const context = serverKeyContext(key, organizationId);
      insertServerKey(tx, {
        name: key,
        publicKey: toHex(uncompressP256(publicKey)),
        sealed: keyring.seal(context, privateKey),
        createdAt: service.clock.now(),
        tokenHash: token && hashOf(token),
      });
      privateKey.fill(0);
    });
    if (wanted.change !== 'node' && wanted.change !== 'previews') onEvent(eventOf(wanted), wanted.door);
    await this.look();
    onChange();
    return token;
  }

  /** While the vault is locked, a token is looked up in rows that are not verified: nothing is decided before the unlock. */
  readonly answer: AnswerProgram = (door, token, request) => {
    const key = this.#parts.service.units.read((tx) => findKeyByToken(tx, hashOf(token)));
    const entry = key && this.#open.get(key.name);
    if (entry?.program.door !== door) return undefined;
    return entry.open?.answer?.({ ...request, gone: AbortSignal.any([request.gone, entry.closing.signal]) });
  };

  /** Opens the sockets that are to be open, and closes the others. */
  look(): Promise<void> {
    const next = this.#last.then(() => this.#look());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #look(): Promise<void> {
    const { directory, homeDirectory, url, service, keyring, onChange } = this.#parts;
    if (directory === undefined) return;
    const wanted = this.#isClosed
      ? []
      : this.status().flatMap(({ door, on, programs }) =>
          on ? programs.map((program) => ({ door, name: program.name })) : [],
        );
    const names = new Set<string>(wanted.map((each) => keyNameOf(each.door, each.name)));
    for (const [key, entry] of this.#open) {
      if (names.has(key)) continue;
      this.#open.delete(key);
      entry.closing.abort();
      await entry.open?.close();
    }
    this.#problems.clear();
    for (const { door, name } of wanted) {
      const key = keyNameOf(door, name);
      if (this.#open.has(key)) continue;
      const closing = new AbortController();
      const own = { unlocking: this.#unlocking, onWaiting: onChange, closing: closing.signal };
      const entry: Entry = { program: new Program({ service, keyring, ...own }, door, name), closing };
      try {
        const { onFault } = service;
        const options = { directory, homeDirectory, url: url(), onFault };
        entry.open = await this.#openers[door](entry.program, options);
        this.#open.set(key, entry);
      } catch (error) {
        this.#problems.set(door, `${name} cannot be let in: ${String(error)}`);
        service.onFault(error);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    this.#unlocking.endAll();
    this.#parts.nodes.close();
    await this.look();
  }
}

/** The rows are not verified: one that something else has changed is found by its name, at the unlock. */
const shownNode = ({ chainId, origin, previews }: EthereumNodeRow): DoorNode => ({
  ...{ chainId, origin, previews: previews === 1 },
  chain: chainIdText.safeParse(chainId).success ? networkName(BigInt(chainId)) : chainId,
});

type DoorEvent = 'doorOn' | 'doorOff' | 'programPaired' | 'programRevoked';

function eventOf(wanted: Exclude<z.output<typeof change>, { change: 'node' | 'previews' }>): DoorEvent {
  if (wanted.change === 'switch') return wanted.on ? 'doorOn' : 'doorOff';
  return wanted.change === 'pair' ? 'programPaired' : 'programRevoked';
}

const switches = (tx: Reader): Partial<Record<DoorName, boolean>> =>
  JSON.parse(getSetting(tx, 'doors') ?? '{}') as Partial<Record<DoorName, boolean>>;

const isOn = (tx: Reader, door: DoorName): boolean => switches(tx)[door] === true;

const hashOf = (token: string): string => hash('sha256', token);
