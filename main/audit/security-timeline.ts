/**
 * The security timeline: what happened to the vault itself, and not to what is in it. The log has no rows of it, since the log takes
 * activities alone and most of these events happen around a locked vault.
 *
 * A locked vault cannot authenticate rows. It counts events in rows that a program with the file could change. They say only what
 * may happen while locked, and the unlock checks that before it authenticates them.
 */
import type { SecurityEvent } from '../../preload/contract.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import {
  lockedEventKinds,
  securityWays,
  type SecurityEventKind,
  type SecurityWay,
} from '../lib/text/security-events.ts';
import type { Keyring } from '../keys/keyring.ts';
import {
  addSecurityEvent,
  addWaitingEvent,
  listSecurityEvents,
  takeWaitingEvents,
  type SecurityEventRow,
  type WaitingEventRow,
} from '../storage/tables/security-events.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';

interface TimelineParts {
  readonly units: UnitOfWork;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

export class SecurityTimeline {
  readonly #parts: TimelineParts;
  readonly #noted = new WeakSet<KeyhearthError>();

  constructor(parts: TimelineParts) {
    this.#parts = parts;
  }

  /** Notes the locks and freezes from now on, and takes up what waited at each unlock. */
  watch(): void {
    const { keyring } = this.#parts;
    keyring.onChange((unlocked) => {
      if (unlocked) {
        this.#write((tx) => {
          this.#takeUp(tx);
        });
      } else this.note(keyring.frozenAt === undefined ? 'locked' : 'frozen');
    });
  }

  /** Notes an event of now. A failure to write it stops nothing. */
  note(kind: SecurityEventKind, way: SecurityWay = ''): void {
    const { keyring, clock } = this.#parts;
    const at = clock.now();
    this.#write((tx) => {
      // The write comes later, and the vault may be locked by then.
      if (!keyring.unlocked) {
        addWaitingEvent(tx, kind, way, at);
        return;
      }
      this.#takeUp(tx);
      addSecurityEvent(tx, { kind, way, count: 1, firstAt: at, lastAt: at });
    });
  }

  /** Notes a secret that does not open the vault, and passes the refusal on. */
  async refusing<T>(way: SecurityWay, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      // Of one secret inside another, the inner one is noted.
      if (error instanceof KeyhearthError && error.code === 'WRONG_SECRET' && !this.#noted.has(error)) {
        this.#noted.add(error);
        this.note('wrongSecret', way);
      }
      throw error;
    }
  }

  /**
   * Lists the events, newest first.
   * @throws KeyhearthError VAULT_LOCKED, since the rows of a locked vault are not verified.
   */
  list(): readonly SecurityEvent[] {
    const { units, keyring } = this.#parts;
    keyring.checkUnlocked();
    units.flush();
    return units
      .read(listSecurityEvents)
      .map(({ way, ...event }) => ({ ...event, way: way === '' ? null : way }));
  }

  #takeUp(tx: Parameters<Parameters<UnitOfWork['write']>[0]>[0]): void {
    if (!this.#parts.keyring.unlocked) return;
    const now = this.#parts.clock.now();
    for (const row of takeWaitingEvents(tx, lockedEventKinds.length * securityWays.length)) {
      const event = checkedEvent(row, now);
      if (event !== undefined) addSecurityEvent(tx, event);
    }
  }

  #write(work: Parameters<UnitOfWork['write']>[0]): void {
    this.#parts.units.write(work).catch((error: unknown) => {
      // A file that is refused, and a disk that takes nothing, are reported elsewhere.
      if (!(error instanceof KeyhearthError)) this.#parts.onFault(error);
    });
  }
}

/** @returns undefined for a row that no locked vault writes. */
function checkedEvent(row: WaitingEventRow, now: number): SecurityEventRow | undefined {
  const kind = lockedEventKinds.find((each) => each === row.kind);
  const way = securityWays.find((each) => each === row.way);
  if (kind === undefined || way === undefined || row.count < 1) return undefined;
  const lastAt = Math.min(row.lastAt, now);
  return { kind, way, count: row.count, firstAt: Math.min(row.firstAt, lastAt), lastAt };
}
