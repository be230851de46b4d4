/** Removes expired codes, tokens and sessions. Nothing that is still usable changes. */
import { deleteExpiredApiKeys } from '../storage/tables/api-keys.ts';
import type { Reader, Writer } from '../storage/connection.ts';
import { deleteExpiredOneTimeCodes } from '../storage/tables/one-time-codes.ts';
import { settleReservations } from '../storage/tables/policy-reservations.ts';
import { deleteExpiredReadOnlySessions } from '../storage/tables/read-only-sessions.ts';
import { deleteExpiredSpentTokens } from '../storage/tables/spent-tokens.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { getVault } from '../storage/tables/vault.ts';
import type { Clock } from '../lib/clock.ts';
import { forgetContacts } from './users/contacts.ts';
import { sessionCredentialTypes } from './sign-in/session-keys.ts';
import { every } from '../lib/concurrency/every.ts';

/** For so long, a client with an expired key learns that it has expired, and not that it is unknown. */
const tellsExpiredMs = 3_600_000;

/** @param now Milliseconds. */
export function sweepExpired(tx: Writer, now: number): void {
  deleteExpiredOneTimeCodes(tx, now);
  forgetContacts(tx, now);
  deleteExpiredSpentTokens(tx, now);
  deleteExpiredReadOnlySessions(tx, now);
  deleteExpiredApiKeys(tx, sessionCredentialTypes, now - tellsExpiredMs);
}

/**
 * True if the clock may be right. It is not if the battery of a machine's clock is empty, and it starts years
 * ago.
 */
const isPlausible = (tx: Reader, now: number): boolean => now >= (getVault(tx)?.createdAt ?? 0);

export interface SweepParts {
  readonly units: UnitOfWork;
  readonly keys: { readonly unlocked: boolean };
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

/**
 * Sweeps now and then while the vault is unlocked.
 * @returns what ends it.
 */
export function startSweeping({ units, keys, clock, onFault }: SweepParts, everyMs = 60_000): () => void {
  let before = Number.POSITIVE_INFINITY;
  const sweep = async (): Promise<void> => {
    if (!keys.unlocked) return;
    const now = clock.now();
    await units.write((tx) => {
      sweepExpired(tx, now);
      // They are looked through where the clock may have been set back: once at first, and when it was.
      if (now < before && isPlausible(tx, now)) settleReservations(tx, now);
    });
    before = now;
  };
  return every(everyMs, sweep, onFault);
}
