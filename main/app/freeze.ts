/**
 * Freezing: the keys go at once, before anything is written or awaited, and nothing but a secret of the owner's opens the vault
 * again; neither the keychain does, nor a restart. What waits for votes is rejected as the freeze is lifted, before any vote.
 * That the vault is frozen is a row in the file and the name of a file beside it: either is enough.
 */
import type { Frozen } from '../../preload/contract.ts';
import type { Writer } from '../storage/connection.ts';
import { readable } from '../storage/file/damage.ts';
import { deleteFreeze, findLastSignature, getFrozenAt, insertFreeze } from '../storage/tables/freeze.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { getVault } from '../storage/tables/vault.ts';
import { FreezeMarker } from './freeze-marker.ts';
import type { Service } from '../http/handle.ts';
import { signingTypes } from '../activities/define.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';

interface FreezerParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** The vault's; null for a vault in memory. */
  readonly directory: string | null;
  /** False for a process that opens the vault for its own work: what was frozen stays frozen on the disk meanwhile. */
  readonly liftsFreeze: boolean;
  readonly service: Pick<Service, 'operations' | 'onActivity' | 'onAppended' | 'onFault' | 'rejections'>;
}

export class Freezer {
  readonly #parts: FreezerParts;
  readonly #marker: FreezeMarker | undefined;
  #lastSignature: Frozen['lastSignature'] = null;
  #unsaved: string | null = null;
  #visits = 0;

  /** Takes up what file and marker say. */
  constructor(parts: FreezerParts) {
    this.#parts = parts;
    const { keyring, directory, liftsFreeze } = parts;
    this.#marker = directory === null ? undefined : new FreezeMarker(directory);
    const since = this.#savedAt();
    if (since !== undefined) {
      keyring.freeze(since);
      this.#lastSignature = this.#findLastSignature();
    } else if (readable(() => parts.units.readUnverified(getVault), undefined) !== undefined)
      this.#marker?.prepare();
    keyring.onChange((unlocked) => {
      if (!unlocked) return;
      if (this.#unsaved === null && this.#savedAt() === undefined) {
        this.#marker?.prepare();
        return;
      }
      // At once, so that no vote comes before it.
      parts.units.readUnverified((tx) => {
        parts.service.rejections.begin(tx);
      });
      if (liftsFreeze && this.#visits === 0) this.#lift();
    });
  }

  /** Null where the vault is not frozen. */
  get frozen(): Frozen | null {
    const { frozenAt: at } = this.#parts.keyring;
    return at === undefined ? null : { at, lastSignature: this.#lastSignature, unsaved: this.#unsaved };
  }

  /** Until its end, an unlock lifts no freeze on the disk: a command unlocks for itself, and the vault is frozen again after it. */
  keep(): Disposable {
    this.#visits++;
    return {
      [Symbol.dispose]: () => {
        this.#visits--;
      },
    };
  }

  /** Takes up a freeze that another process noted beside the file of a vault that is locked. */
  look(): void {
    const { keyring } = this.#parts;
    if (keyring.unlocked || keyring.frozenAt !== undefined) return;
    const since = this.#marker?.frozenAt;
    if (since === undefined) return;
    keyring.freeze(since);
    this.#lastSignature = this.#findLastSignature();
  }

  /**
   * Returns once the disk records the freeze. The keys are erased first, even if the disk fails. Requests
   * that wait to be written find no keys.
   * @throws KeyhearthError STORAGE_UNAVAILABLE where a restart would forget the freeze.
   */
  freeze(): void {
    const { units, keyring, clock, service } = this.#parts;
    const now = clock.now();
    const tell = attempt(() => {
      keyring.freeze(keyring.frozenAt ?? now);
    });
    if (tell !== undefined) service.onFault(tell.error);
    const marking = this.#marker && attempt(() => this.#marker?.set());
    const note = (tx: Writer): void => {
      insertFreeze(tx, now);
    };
    const writing = attempt(() => {
      units.first(note, { mustFit: true });
    });
    this.#lastSignature = this.#findLastSignature();
    const isSaved = writing === undefined || (this.#marker !== undefined && marking === undefined);
    this.#unsaved = isSaved ? null : sentenceOf(writing.error);
    if (this.#unsaved === null) return;
    throw new KeyhearthError(
      'STORAGE_UNAVAILABLE',
      `The vault is frozen in memory, but not in the file: ${this.#unsaved} Its keys are gone, and nothing is signed; a restart would forget the freeze. Make the disk writable, and freeze again.`,
    );
  }

  /**
   * The owner has opened the vault. The disk says that the vault is frozen until all that waited is rejected: a process that
   * ends before leaves a vault that is frozen.
   */
  #lift(): void {
    const { units, clock, service } = this.#parts;
    this.#unsaved = null;
    service.rejections
      .run(
        { units, clock, onAppended: service.onAppended },
        {
          within: (tx, isLast) => {
            if (isLast) deleteFreeze(tx);
            else insertFreeze(tx, clock.now());
          },
          committed: (rejected) => {
            for (const row of rejected) service.onActivity(row);
          },
        },
      )
      .then((isDone) => {
        // After the row: a crash between the two leaves the vault frozen.
        if (isDone) this.#marker?.clear();
      })
      .catch((error: unknown) => {
        // The next unlock goes on.
        if (!isLocked(error)) service.onFault(error);
      });
  }

  /** Since when the disk says that the vault is frozen. */
  #savedAt(): number | undefined {
    return readable(() => this.#parts.units.readUnverified(getFrozenAt), undefined) ?? this.#marker?.frozenAt;
  }

  /** Committed signatures alone are given: the log has them all. */
  #findLastSignature(): Frozen['lastSignature'] {
    const { units, service } = this.#parts;
    const types = signingTypes(service.operations);
    try {
      return units.readUnverified((tx) => findLastSignature(tx, types)) ?? null;
    } catch {
      // A disk that cannot be read does not keep the vault from being frozen.
      return null;
    }
  }
}

/** @returns what the work threw; undefined where it threw nothing. */
function attempt(work: () => void): { readonly error: unknown } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return { error };
  }
}

const isLocked = (error: unknown): boolean =>
  error instanceof KeyhearthError && (error.code === 'VAULT_LOCKED' || error.code === 'VAULT_FROZEN');

/** A sentence. */
function sentenceOf(error: unknown): string {
  const message = reasonOf(error);
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
