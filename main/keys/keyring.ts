/**
 * The one holder of the master key while the vault is unlocked, and of the secret keys opened with it.
 * Erasing memory is best effort in JavaScript; what is promised is that nothing is held here after `lock`.
 */
import { timingSafeEqual } from 'node:crypto';
import { checkBytes } from '../crypto/bytes.ts';
import { HmacKey } from '../crypto/hmac.ts';
import { open, rewrap, seal } from '../crypto/sealing.ts';
import { copyOfBytes } from '../crypto/secret-text.ts';
import type { SealContext } from '../crypto/sealing.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { Listeners } from '../lib/listeners.ts';
import type { Random } from '../lib/random.ts';
import { owned } from '../lib/faults.ts';
import { logFault } from '../lib/log.ts';

export interface KeyringOptions {
  readonly random: Random;
  readonly clock: Clock;
  /** Opened keys that are held at most; the one unused for longest is erased first. */
  readonly maxEntries?: number;
  /** Milliseconds from the making of an opened key to its erasure. */
  readonly timeToLive?: number;
}

interface Entry {
  readonly bytes: Uint8Array;
  /** On the clock's `wall`, in milliseconds. */
  readonly madeAt: number;
}

export type KeyringListener = (unlocked: boolean) => void;

export class Keyring {
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #timeToLive: number;
  /** In the order of last use, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Listeners<[unlocked: boolean]>();
  #masterKey: Uint8Array | undefined;
  #rowKey: HmacKey | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #frozenAt: number | undefined;
  #closing = new AbortController();

  constructor({ random, clock, maxEntries = 1024, timeToLive = 5 * 60_000 }: KeyringOptions) {
    this.#random = random;
    this.#clock = clock;
    this.#maxEntries = maxEntries;
    this.#timeToLive = timeToLive;
  }

  get unlocked(): boolean {
    return this.#masterKey !== undefined;
  }

  /**
   * Takes copies of the master key and of the key that authenticates rows (32 bytes each); the caller erases its own.
   * Keys held before are erased first.
   * @param rowKey Left out, the one that is held stays: a new master key for the same vault.
   */
  unlock(masterKey: Uint8Array, rowKey?: Uint8Array): void {
    checkBytes('masterKey', masterKey, 32);
    const copy = copyOfBytes(masterKey);
    const kept = rowKey === undefined ? this.#rowKey : new HmacKey(rowKey);
    if (kept !== this.#rowKey) this.#rowKey?.erase();
    this.#rowKey = undefined;
    this.#drop();
    this.#masterKey = copy;
    this.#rowKey = kept;
    this.#frozenAt = undefined;
    this.#emit();
  }

  /** @throws KeyhearthError VAULT_LOCKED */
  checkUnlocked(): void {
    this.#key();
  }

  /** Erases the master key and every opened key, and ends an unlocking that is under way. Locking twice is locking once. */
  lock(): void {
    this.#close(
      new KeyhearthError(
        'VAULT_LOCKED',
        'The vault was locked while it was being unlocked: unlock it again if it is to be used.',
      ),
    );
    if (!this.unlocked) return;
    this.#drop();
    this.#emit();
  }

  /**
   * Erases what `lock` erases before anything else, and says so to every caller that asks for a key until the next unlock.
   * @param at In milliseconds.
   */
  freeze(at: number): void {
    this.#drop();
    this.#frozenAt = at;
    this.#close(
      new KeyhearthError(
        'VAULT_FROZEN',
        'The vault was frozen while it was being unlocked: unlock it again if it is to be used.',
      ),
    );
    this.#emit();
  }

  /** Since when the vault is frozen, in milliseconds; undefined where it is not. */
  get frozenAt(): number | undefined {
    return this.#frozenAt;
  }

  /** Aborted by the next lock or freeze, also of a vault that is locked: they are a later wish than an unlocking before them. */
  get untilClosed(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * True for the master key that the keyring holds.
   * @throws KeyhearthError VAULT_LOCKED
   */
  holds(masterKey: Uint8Array): boolean {
    checkBytes('masterKey', masterKey, 32);
    return timingSafeEqual(this.#key(), masterKey);
  }

  /**
   * Moves a sealed record to another master key; what is sealed is not opened.
   * @throws KeyhearthError VAULT_LOCKED, or INTERNAL where the record does not open.
   */
  rewrap(newMasterKey: Uint8Array, context: SealContext, sealed: Uint8Array): Uint8Array {
    return rewrap(this.#key(), newMasterKey, context, sealed, this.#random);
  }

  /**
   * Switches to another master key, under which the records now are: copies it, and erases the old one and
   * every opened key. The vault is unlocked before and after.
   * @throws KeyhearthError VAULT_LOCKED
   */
  replaceKey(masterKey: Uint8Array): void {
    checkBytes('masterKey', masterKey, 32);
    const old = this.#key();
    this.forget();
    this.#masterKey = copyOfBytes(masterKey);
    old.fill(0);
    this.#emit();
  }

  /** Erases every opened key and stays unlocked: for when what the names of the opened keys mean has changed. */
  forget(): void {
    for (const name of this.#entries.keys()) this.#erase(name);
  }

  /**
   * Lends the master key for as long as `use` runs, for keys that follow from it and for what wraps it.
   * @throws KeyhearthError VAULT_LOCKED
   */
  lend<T>(use: (masterKey: Uint8Array) => T): T {
    return use(this.#key());
  }

  /** Seals a secret for one record of the database. @throws KeyhearthError VAULT_LOCKED */
  seal(context: SealContext, secret: Uint8Array): Uint8Array {
    return seal(this.#key(), context, secret, this.#random);
  }

  /**
   * Opens what `seal` made for the same record.
   * @returns A copy, which the caller erases after use.
   * @throws KeyhearthError VAULT_LOCKED, or INTERNAL where the record does not open.
   */
  open(context: SealContext, sealed: Uint8Array): Uint8Array {
    return open(this.#key(), context, sealed);
  }

  /** HMAC-SHA-256 under the row key: what shows that a row is as Keyhearth wrote it. @throws KeyhearthError VAULT_LOCKED */
  mac(data: string | Uint8Array): Uint8Array {
    return (this.#rowKey ?? this.#noKey()).mac(data);
  }

  /**
   * Answers an opened or derived secret key, and calls `make` only if it is not held.
   *
   * The answer belongs to the keyring, which may erase it in any later turn of the event loop. Use it at
   * once, within the same synchronous stretch and before asking for another key. Never keep or change it.
   * @param name Names the key among all the vault's keys: table, row and path, for example.
   * @param make Builds the key. The keyring takes over the bytes, so no other code may keep them.
   * @throws KeyhearthError VAULT_LOCKED
   */
  cached(name: string, make: () => Uint8Array): Uint8Array {
    this.#key();
    const known = this.#entries.get(name);
    if (known !== undefined && this.#isFresh(known)) {
      this.#entries.delete(name);
      this.#entries.set(name, known);
      return known.bytes;
    }
    const bytes = make();
    try {
      // Making one key may have locked the vault, or have made this very key on the way.
      this.#key();
    } catch (error) {
      bytes.fill(0);
      throw error;
    }
    this.#erase(name);
    this.#entries.set(name, { bytes, madeAt: this.#clock.wall() });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#erase(oldest);
    }
    this.#armSweep();
    return bytes;
  }

  /** Calls back after each unlock, lock and freeze. @returns the function that stops it. */
  onChange(listener: KeyringListener): () => void {
    return this.#listeners.add(listener);
  }

  #close(reason: KeyhearthError): void {
    const closing = this.#closing;
    this.#closing = new AbortController();
    closing.abort(reason);
  }

  #key(): Uint8Array {
    return this.#masterKey ?? this.#noKey();
  }

  #noKey(): never {
    if (this.#frozenAt !== undefined) {
      throw new KeyhearthError(
        'VAULT_FROZEN',
        'The vault is frozen: nothing is signed until its owner unlocks it with its password or recovery phrase.',
      );
    }
    throw new KeyhearthError(
      'VAULT_LOCKED',
      'The vault is locked: unlock it with its password, keychain or recovery phrase, then send the request again.',
    );
  }

  #drop(): void {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    this.forget();
    this.#masterKey?.fill(0);
    this.#rowKey?.erase();
    this.#masterKey = undefined;
    this.#rowKey = undefined;
  }

  #erase(name: string): void {
    this.#entries.get(name)?.bytes.fill(0);
    this.#entries.delete(name);
  }

  /** A clock that was set back makes a key stale, rather than giving it a longer life. */
  #isFresh({ madeAt }: Entry): boolean {
    const age = this.#clock.wall() - madeAt;
    return age >= 0 && age < this.#timeToLive;
  }

  /** Erases stale keys when their time comes, also without another call. */
  #armSweep(delay = this.#timeToLive): void {
    this.#sweep ??= setTimeout(
      owned(
        () => {
          this.#sweep = undefined;
          let next = this.#timeToLive;
          for (const [name, entry] of this.#entries) {
            if (this.#isFresh(entry))
              next = Math.min(next, entry.madeAt + this.#timeToLive - this.#clock.wall());
            else this.#erase(name);
          }
          if (this.#entries.size > 0) this.#armSweep(Math.max(next, 1));
        },
        (error) => {
          logFault(error);
          // If the sweep fails, every key may be stale.
          this.forget();
        },
      ),
      delay,
    ).unref();
  }

  #emit(): void {
    const faults = this.#listeners.emit(this.unlocked);
    if (faults.length === 0) return;
    throw faults.length === 1 && faults[0] instanceof Error ? faults[0] : new AggregateError(faults);
  }
}
