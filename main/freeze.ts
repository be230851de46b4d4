/**
 * Freezing: the keys go at once, what waits for votes is rejected, and nothing but a secret of the owner's opens the vault
 * again; neither the keychain does, nor a restart. That it is frozen is a row in the file.
 */
import { rejectWaiting } from './activities/reject-waiting.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { ActivityRow } from './db/activities.ts';
import { deleteFreeze, getFrozenAt, insertFreeze } from './db/freeze.ts';
import type { UnitOfWork } from './db/unit-of-work.ts';
import type { Service } from './http/handle.ts';
import type { Keyring } from './keyslots/keyring.ts';
import type { Clock } from './lib/clock.ts';

interface FreezerParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Pick<AuditLog, 'signBeforeLock'>;
  readonly service: Pick<Service, 'onActivity' | 'onAppended' | 'onFault'>;
}

export class Freezer {
  readonly #parts: FreezerParts;

  /** Takes up what the file says. */
  constructor(parts: FreezerParts) {
    this.#parts = parts;
    const { units, keyring } = parts;
    const frozenAt = units.peek(getFrozenAt);
    if (frozenAt !== undefined) keyring.freeze(frozenAt);
    keyring.onChange((unlocked) => {
      if (unlocked && units.peek(getFrozenAt) !== undefined) this.#lift();
    });
  }

  /**
   * Returns once the file says so too. The keys are gone before anything is awaited, and whatever becomes of the file; what
   * a locked vault cannot reject, its next unlocking does.
   */
  async freeze(): Promise<void> {
    const { units, keyring, clock, log, service } = this.#parts;
    const now = clock.now();
    let written: Promise<readonly ActivityRow[]> | undefined;
    try {
      written = units.write((tx) => {
        insertFreeze(tx, now);
        return keyring.unlocked ? rejectWaiting(tx, service, now) : [];
      });
      // Whoever awaits it comes after the keys are gone.
      written.catch(() => undefined);
      units.flush();
      log.signBeforeLock();
    } finally {
      keyring.freeze(keyring.frozenAt ?? now);
    }
    this.#tell(await written);
  }

  /** The owner has opened the vault. Queued at once, so that no vote comes before it. */
  #lift(): void {
    const { units, clock, service } = this.#parts;
    units
      .write((tx) => {
        deleteFreeze(tx);
        return rejectWaiting(tx, service, clock.now());
      })
      .then((rejected) => {
        this.#tell(rejected);
      })
      .catch(service.onFault);
  }

  #tell(rejected: readonly ActivityRow[]): void {
    for (const row of rejected) this.#parts.service.onActivity(row);
  }
}
