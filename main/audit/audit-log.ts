/** The log's notary: signs its head now and then, keeps a witness outside the file, and shows and checks what is there. */
import { toHex } from '../crypto/encodings.ts';
import { p256PublicKey, uncompressP256 } from '../crypto/p256.ts';
import { open, type Place } from '../crypto/sealing.ts';
import { activityHashAt, logEnd } from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { listKeyslots } from '../db/keyslots.ts';
import { insertLogHead, lastLogHead } from '../db/log-heads.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import { getVault, requireVault, type VaultRow } from '../db/vault.ts';
import type { Keychain } from '../keyslots/keychain.ts';
import type { Keyring } from '../keyslots/keyring.ts';
import { openAnySlot, type OpenWith } from '../keyslots/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { LogCheck, LogPart, LogRange, LogState } from '../../preload/contract.ts';
import { checkLog } from './check.ts';
import { exportPart, exportStart } from './export.ts';
import {
  headOfRow,
  headVerifier,
  identityOf,
  notaryKey,
  rowOfHead,
  signHead,
  type SignedHead,
} from './heads.ts';
import type { LogMark } from './mark.ts';
import {
  checkAgainst,
  earlierThanWitness,
  forgetWitness,
  readWitness,
  usesKeychain,
  Witness,
} from './witness.ts';
import { owned } from '../lib/faults.ts';

export interface AuditLogParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly keychain: Keychain;
  readonly clock: Clock;
  /** Undefined for a vault in memory. */
  readonly mark?: LogMark | undefined;
  readonly onFault: (error: unknown) => void;
  /** How many rows are left unsigned at most. */
  readonly mostUnsigned?: number;
  /** Milliseconds for which a row is left unsigned at most. */
  readonly longestUnsigned?: number;
}

/** A file that is older than the keychain knows of. */
export interface Rollback {
  readonly problem: string;
  /** Lets the vault be unlocked as it is. */
  readonly accept: () => Promise<void>;
}

export class AuditLog {
  readonly #parts: AuditLogParts;
  readonly #witness: Witness;
  readonly #mostUnsigned: number;
  readonly #longestUnsigned: number;
  #unsigned = 0;
  #timer: NodeJS.Timeout | undefined;
  #signing: Promise<void> = Promise.resolve();

  constructor(parts: AuditLogParts) {
    const { units, keyring, keychain, onFault, mostUnsigned = 1000, longestUnsigned = 10 * 60_000 } = parts;
    this.#parts = parts;
    this.#mostUnsigned = mostUnsigned;
    this.#longestUnsigned = longestUnsigned;
    this.#witness = new Witness({
      units,
      keychain,
      onRolledBack: (error) => {
        keyring.lock();
        onFault(error);
      },
    });
  }

  /** An activity was answered: its row is to be signed in time. */
  noticed(): void {
    if (!this.#parts.keyring.unlocked) return;
    this.#unsigned += 1;
    if (this.#unsigned >= this.#mostUnsigned) void this.sign();
    else {
      this.#timer ??= setTimeout(
        owned(() => this.sign(), this.#parts.onFault),
        this.#longestUnsigned,
      ).unref();
    }
  }

  /**
   * Signs the head, where rows came since the last one and the key is there. Does not reject: a fault is reported.
   * @param mustFit Whether a full disk gives it the room that was held back: nothing can sign it later.
   */
  sign(mustFit = false): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unsigned = 0;
    if (!this.#parts.keyring.unlocked) return Promise.resolve();
    this.#signing = this.#sign(mustFit);
    return this.#signing;
  }

  async #sign(mustFit: boolean): Promise<void> {
    const { units, onFault } = this.#parts;
    try {
      const appended = await units.write((tx) => this.#appendHead(tx), { mustFit });
      if (appended?.isKept === true) this.#witness.keep(appended.vault, appended.head);
    } catch (error) {
      onFault(error);
    }
  }

  /** Commits what waits and signs it, at once: the keys are about to be erased. */
  signBeforeLock(): void {
    this.#witness.retry();
    void this.sign(true);
    this.#parts.units.flush();
  }

  /**
   * Holds the file against the keychain's note of it.
   * @throws LatchkeyError VAULT_ROLLED_BACK
   */
  async checkWitness(masterKey: Uint8Array): Promise<void> {
    const vault = this.#parts.units.peek(requireVault);
    await this.#witness.check(vault, () => this.#ownKey(openedWith(masterKey)).publicKey);
  }

  /**
   * Holds the file against the mark beside it.
   * @throws LatchkeyError VAULT_ROLLED_BACK
   */
  checkMark(): void {
    const { units, mark } = this.#parts;
    units.peek((tx) => mark?.check(tx));
  }

  /** The vault was unlocked: signs what was left unsigned, and makes up for a note that the keychain did not get. */
  async unlocked(): Promise<void> {
    await this.sign();
    const { units, keyring, mark } = this.#parts;
    if (!keyring.unlocked) return;
    units.peek((tx) => mark?.note(tx, logEnd(tx).sequence));
    const { vault, publicKey } = this.#ownKey((place, sealed) => keyring.open(place, sealed));
    const last = units.peek(lastLogHead);
    if (last === undefined || !units.peek(usesKeychain)) return;
    const head = headOfRow(last);
    if (headVerifier(identityOf(vault), publicKey)(head)) this.#witness.keep(vault, head);
  }

  /** @throws LatchkeyError VAULT_MISSING */
  state(): LogState {
    const publicKey = this.#publicKey();
    return this.#parts.units.peek((tx) => {
      const head = lastLogHead(tx);
      return {
        rows: logEnd(tx).sequence,
        head: head === undefined ? null : headOfRow(head),
        publicKey,
        witness: this.#witness.state(tx),
      };
    });
  }

  /** @throws LatchkeyError VAULT_MISSING */
  async check(): Promise<LogCheck> {
    const { units } = this.#parts;
    const identity = identityOf(units.peek(requireVault));
    const noted = this.#witness.noted();
    return checkLog((work) => units.peek(work), { identity, publicKey: this.#publicKey(), noted });
  }

  /**
   * The exported log, part by part; the first is asked for without a range, and has the head signed.
   * @throws LatchkeyError VAULT_MISSING
   */
  async export(range?: LogRange): Promise<LogPart> {
    const { units } = this.#parts;
    if (range !== undefined) return units.peek((tx) => exportPart(tx, range));
    const identity = identityOf(units.peek(requireVault));
    await this.sign();
    const publicKey = this.#publicKey();
    return units.peek((tx) => exportStart(tx, identity, publicKey, this.#newestHead(tx)));
  }

  /** Waits, not for long, for what the keychain is being told. */
  async settled(): Promise<void> {
    await this.#signing;
    await this.#witness.settled();
  }

  /**
   * Whether the vault is refused as rolled back, told to whoever opens it with something that is not the keychain's.
   * @returns undefined where nothing stands against the file.
   */
  async findRollback(how: Exclude<OpenWith, { readonly with: 'keychain' }>): Promise<Rollback | undefined> {
    const { units, keychain, mark } = this.#parts;
    const { id } = units.peek(requireVault);
    const masterKey = await openAnySlot(id, units.peek(listKeyslots), how);
    try {
      const marked = await refusedAsRolledBack(() => {
        this.checkMark();
      });
      const witnessed = await refusedAsRolledBack(async () => {
        if (!units.peek(usesKeychain)) return;
        const witness = await readWitness(keychain, id);
        if (witness === undefined) return;
        const { vault, publicKey } = this.#ownKey(openedWith(masterKey));
        units.peek((tx) => {
          checkAgainst(tx, vault, publicKey, witness);
        });
      });
      if (marked === undefined && witnessed === undefined) return undefined;
      return {
        problem: [marked, witnessed].filter((problem) => problem !== undefined).join('\n'),
        accept: async () => {
          if (witnessed !== undefined) await forgetWitness(keychain, id);
          units.peek((tx) => mark?.accept(tx));
        },
      };
    } finally {
      masterKey.fill(0);
    }
  }

  #appendHead(
    tx: Writer,
  ): { readonly vault: VaultRow; readonly head: SignedHead; readonly isKept: boolean } | undefined {
    const vault = getVault(tx);
    const end = logEnd(tx);
    const last = lastLogHead(tx);
    if (vault === undefined || !this.#parts.keyring.unlocked) return undefined;
    if (last !== undefined) {
      const held = activityHashAt(tx, last.sequence);
      if (held === undefined || Buffer.compare(held, last.hash) !== 0) {
        throw new Error(
          `row ${last.sequence} of the activity log is not the one that was signed: nothing more is signed; run \`latchkey audit verify\``,
        );
      }
    }
    if (end.sequence === (last?.sequence ?? 0)) return undefined;
    const head = this.#signed(tx, vault);
    insertLogHead(tx, rowOfHead(head));
    return { vault, head, isKept: usesKeychain(tx) };
  }

  /** A head of the log as it is at this moment. */
  #signed(tx: Reader, vault: VaultRow): SignedHead {
    const { keyring, clock } = this.#parts;
    const { place, sealed } = notaryKey(tx, vault);
    const privateKey = keyring.cached('server key notarizer', () => keyring.open(place, sealed));
    return signHead(identityOf(vault), privateKey, logEnd(tx), clock.now());
  }

  /** Fresh while the key is there: that the log has not grown since the last head is worth knowing too. */
  #newestHead(tx: Reader): SignedHead | null {
    if (this.#parts.keyring.unlocked) return this.#signed(tx, requireVault(tx));
    const last = lastLogHead(tx);
    return last === undefined ? null : headOfRow(last);
  }

  /** As the private half gives it, while that is there; else as the file says. */
  #publicKey(): string {
    const { units, keyring } = this.#parts;
    if (keyring.unlocked) return this.#ownKey((place, sealed) => keyring.open(place, sealed)).publicKey;
    return units.peek((tx) => notaryKey(tx, requireVault(tx)).publicKey);
  }

  #ownKey(openKey: (place: Place, sealed: Uint8Array) => Uint8Array): {
    readonly vault: VaultRow;
    readonly publicKey: string;
  } {
    const { vault, place, sealed } = this.#parts.units.peek((tx) => {
      const found = requireVault(tx);
      return { vault: found, ...notaryKey(tx, found) };
    });
    const privateKey = openKey(place, sealed);
    try {
      return { vault, publicKey: toHex(uncompressP256(p256PublicKey(privateKey))) };
    } finally {
      privateKey.fill(0);
    }
  }
}

/** @returns what is said of a file that holds less than it did; undefined where that is not so. */
async function refusedAsRolledBack(check: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === 'VAULT_ROLLED_BACK') return error.message;
    throw error;
  }
}

/** Opens with a master key that was offered; a vault of before there were witnesses sealed otherwise. */
const openedWith =
  (masterKey: Uint8Array) =>
  (place: Place, sealed: Uint8Array): Uint8Array => {
    try {
      return open(masterKey, place, sealed);
    } catch {
      throw earlierThanWitness();
    }
  };
