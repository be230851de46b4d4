/** The audit log: signs its head now and then, keeps a rollback anchor outside the file, and shows and checks the log. */
import { toHex } from '../crypto/encodings.ts';
import { p256PublicKey, uncompressP256 } from '../crypto/keys/p256.ts';
import { open, type SealContext } from '../crypto/sealing.ts';
import { activityHashAt, logEnd } from '../storage/tables/activities.ts';
import type { Reader, Writer } from '../storage/connection.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import { insertLogHead, lastLogHead } from '../storage/tables/log-heads.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { getVault, requireVault, type VaultRow } from '../storage/tables/vault.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import type { Keyring } from '../keys/keyring.ts';
import { openAnySlot, type OpenWith } from '../keys/keyslots/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { LogCheck, LogPart, LogRange, LogState } from '../../preload/contract.ts';
import { checkLog } from './check.ts';
import { exportPart, exportStart } from './export.ts';
import {
  headOfRow,
  headVerifier,
  identityOf,
  logSigningKey,
  rowOfHead,
  signHead,
  type SignedHead,
} from './signed-heads.ts';
import type { LogMark } from './mark.ts';
import {
  checkAgainst,
  earlierThanAnchor,
  forgetAnchor,
  readAnchor,
  usesKeychain,
  RollbackAnchor,
} from './rollback-anchor.ts';
import { owned } from '../lib/faults.ts';

export interface AuditLogParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly keychain: Keychain;
  readonly clock: Clock;
  /** Undefined for a vault in memory. */
  readonly mark?: LogMark | undefined;
  readonly onFault: (error: unknown) => void;
  /** Rows that may be unsigned at most. */
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
  readonly #anchor: RollbackAnchor;
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
    this.#anchor = new RollbackAnchor({
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
      if (appended?.isKept === true) this.#anchor.keep(appended.vault, appended.head);
    } catch (error) {
      onFault(error);
    }
  }

  /** Commits what waits and signs it, at once: the keys are about to be erased. */
  signBeforeLock(): void {
    this.#anchor.retry();
    void this.sign(true);
    this.#parts.units.flush();
  }

  /**
   * Holds the file against the keychain's note of it.
   * @throws KeyhearthError VAULT_ROLLED_BACK
   */
  async checkAnchor(masterKey: Uint8Array): Promise<void> {
    const vault = this.#parts.units.readUnverified(requireVault);
    await this.#anchor.check(vault, () => this.#ownKey(openedWith(masterKey)).publicKey);
  }

  /**
   * Holds the file against the mark beside it.
   * @throws KeyhearthError VAULT_ROLLED_BACK
   */
  checkMark(): void {
    const { units, mark } = this.#parts;
    units.readUnverified((tx) => mark?.check(tx));
  }

  /** The vault was unlocked: signs what was left unsigned, and makes up for a note that the keychain did not get. */
  async unlocked(): Promise<void> {
    await this.sign();
    const { units, keyring, mark } = this.#parts;
    if (!keyring.unlocked) return;
    units.readUnverified((tx) => mark?.note(tx, logEnd(tx).sequence));
    const { vault, publicKey } = this.#ownKey((context, sealed) => keyring.open(context, sealed));
    const last = units.readUnverified(lastLogHead);
    if (last === undefined || !units.readUnverified(usesKeychain)) return;
    const head = headOfRow(last);
    if (headVerifier(identityOf(vault), publicKey)(head)) this.#anchor.keep(vault, head);
  }

  /** @throws KeyhearthError VAULT_MISSING */
  state(): LogState {
    const publicKey = this.#publicKey();
    return this.#parts.units.readUnverified((tx) => {
      const head = lastLogHead(tx);
      return {
        rows: logEnd(tx).sequence,
        head: head === undefined ? null : headOfRow(head),
        publicKey,
        witness: this.#anchor.state(tx),
      };
    });
  }

  /** @throws KeyhearthError VAULT_MISSING */
  async check(): Promise<LogCheck> {
    const { units } = this.#parts;
    const identity = identityOf(units.readUnverified(requireVault));
    const noted = this.#anchor.noted();
    return checkLog((work) => units.readUnverified(work), { identity, publicKey: this.#publicKey(), noted });
  }

  /**
   * The exported log, part by part; the first is asked for without a range, and has the head signed.
   * @throws KeyhearthError VAULT_MISSING
   */
  async export(range?: LogRange): Promise<LogPart> {
    const { units } = this.#parts;
    if (range !== undefined) return units.readUnverified((tx) => exportPart(tx, range));
    const identity = identityOf(units.readUnverified(requireVault));
    await this.sign();
    const publicKey = this.#publicKey();
    return units.readUnverified((tx) => exportStart(tx, identity, publicKey, this.#newestHead(tx)));
  }

  /** Waits, not for long, for the keychain to keep the anchor. */
  async settled(): Promise<void> {
    await this.#signing;
    await this.#anchor.settled();
  }

  /**
   * Finds whether the vault is refused as rolled back. Needs a secret that opens the vault, and not the keychain's.
   * @returns undefined where nothing stands against the file.
   */
  async findRollback(how: Exclude<OpenWith, { readonly with: 'keychain' }>): Promise<Rollback | undefined> {
    const { units, keychain, mark } = this.#parts;
    const { id } = units.readUnverified(requireVault);
    const masterKey = await openAnySlot(id, units.readUnverified(listKeyslots), how);
    try {
      const markProblem = await refusedAsRolledBack(() => {
        this.checkMark();
      });
      const anchorProblem = await refusedAsRolledBack(async () => {
        if (!units.readUnverified(usesKeychain)) return;
        const anchor = await readAnchor(keychain, id);
        if (anchor === undefined) return;
        const { vault, publicKey } = this.#ownKey(openedWith(masterKey));
        units.readUnverified((tx) => {
          checkAgainst(tx, vault, publicKey, anchor);
        });
      });
      if (markProblem === undefined && anchorProblem === undefined) return undefined;
      return {
        problem: [markProblem, anchorProblem].filter((problem) => problem !== undefined).join('\n'),
        accept: async () => {
          if (anchorProblem !== undefined) await forgetAnchor(keychain, id);
          units.readUnverified((tx) => mark?.accept(tx));
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
      const logged = activityHashAt(tx, last.sequence);
      if (logged === undefined || Buffer.compare(logged, last.hash) !== 0) {
        throw new Error(
          `entry ${last.sequence} of the activity log is not the one that was signed: nothing more is signed; run \`keyhearth audit verify\``,
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
    const { context, sealed } = logSigningKey(tx, vault);
    const privateKey = keyring.cached('server key notarizer', () => keyring.open(context, sealed));
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
    if (keyring.unlocked) return this.#ownKey((context, sealed) => keyring.open(context, sealed)).publicKey;
    return units.readUnverified((tx) => logSigningKey(tx, requireVault(tx)).publicKey);
  }

  #ownKey(openKey: (context: SealContext, sealed: Uint8Array) => Uint8Array): {
    readonly vault: VaultRow;
    readonly publicKey: string;
  } {
    const { vault, context, sealed } = this.#parts.units.readUnverified((tx) => {
      const found = requireVault(tx);
      return { vault: found, ...logSigningKey(tx, found) };
    });
    const privateKey = openKey(context, sealed);
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
    if (error instanceof KeyhearthError && error.code === 'VAULT_ROLLED_BACK') return error.message;
    throw error;
  }
}

/** Opens with the master key that a user offers. A vault from before there were anchors sealed otherwise. */
const openedWith =
  (masterKey: Uint8Array) =>
  (context: SealContext, sealed: Uint8Array): Uint8Array => {
    try {
      return open(masterKey, context, sealed);
    } catch {
      throw earlierThanAnchor();
    }
  };
