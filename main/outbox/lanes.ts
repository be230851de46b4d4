/**
 * Serves lanes: what is in order in each, a number of them at once, and none waiting for another. Which lanes have something
 * to do is known in memory alone; whoever owns them can always tell again from the file.
 */
import { hasCome, type Clock } from '../lib/clock.ts';
import { owned, type OnFault } from '../lib/faults.ts';
import { longestPauseMs } from './backoff.ts';

export interface Lane {
  readonly kind: string;
  readonly organizationId: string;
  /** When its first is tried, on the clock's `wall`; 0 for at once. */
  readonly dueAt: number;
}

export interface LanesParts {
  readonly clock: Clock;
  /** Whether anything may be served now; whoever says no calls `pumpSoon` when that has changed. */
  readonly mayServe: () => boolean;
  /**
   * Serves a lane once. Where it rejects, the lane is tried again after a while. Nothing is awaited between its last look at the lane and its return.
   * @returns when the lane is due again; undefined where nothing is left in it.
   */
  readonly serve: (name: string, lane: Lane) => Promise<number | undefined>;
  readonly onFault: OnFault;
  /** How many lanes are served at once, in all and of one organization and kind. */
  readonly mostLanes?: number | undefined;
  readonly mostLanesOfOne?: number | undefined;
}

/** The longest that a timer of Node's can wait is 24 days; a clock that was set is noticed after this. */
export const longestSleepMs = 60_000;

export class Lanes {
  readonly #parts: LanesParts;
  readonly #mostLanes: number;
  readonly #mostLanesOfOne: number;
  /** Lanes that have something to do and are not being served. */
  readonly #waiting = new Map<string, Lane>();
  readonly #serving = new Map<string, { readonly lane: Lane; readonly done: Promise<void> }>();
  #pumping: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: LanesParts) {
    this.#parts = parts;
    this.#mostLanes = parts.mostLanes ?? 64;
    this.#mostLanesOfOne = parts.mostLanesOfOne ?? 16;
  }

  /** Whether no lane waits for anything. */
  get idle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Has a lane served that may have got something to do; one that waits for its time goes on waiting. */
  add(name: string, lane: Omit<Lane, 'dueAt'>): void {
    if (!this.#waiting.has(name) && !this.#serving.has(name)) this.#waiting.set(name, { ...lane, dueAt: 0 });
    this.pumpSoon();
  }

  /** Says when a lane is due, as the file has it. */
  set(name: string, lane: Lane): void {
    if (!this.#serving.has(name)) this.#waiting.set(name, lane);
    this.pumpSoon();
  }

  pumpSoon(): void {
    if (!this.#parts.mayServe()) return;
    this.#pumping ??= setImmediate(
      owned(() => {
        this.#pumping = undefined;
        this.#pump();
      }, this.#onFault),
    );
  }

  /** Begins nothing more. @returns when all that is under way has ended. */
  async stop(): Promise<void> {
    clearImmediate(this.#pumping);
    clearTimeout(this.#timer);
    await Promise.all([...this.#serving.values()].map(({ done }) => done));
  }

  /** Serves the lanes whose time has come, those that came first first. */
  #pump(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#parts.mayServe()) return;
    const now = this.#parts.clock.wall();
    let nextAt = Infinity;
    for (const [name, lane] of this.#waiting) {
      if (this.#serving.size >= this.#mostLanes) return;
      if (!hasCome(lane.dueAt, now, longestPauseMs)) nextAt = Math.min(nextAt, lane.dueAt);
      else if (this.#servedLike(lane) < this.#mostLanesOfOne) {
        this.#waiting.delete(name);
        this.#serving.set(name, { lane, done: this.#serve(name, lane) });
      }
    }
    if (nextAt !== Infinity) this.#sleep(Math.min(Math.max(nextAt - now, 1), longestSleepMs));
  }

  #sleep(milliseconds: number): void {
    this.#timer = setTimeout(
      owned(() => {
        this.#pump();
      }, this.#onFault),
      milliseconds,
    ).unref();
  }

  /** Tells of a fault in choosing what to serve, and tries again after a while. */
  readonly #onFault = (error: unknown): void => {
    this.#parts.onFault(error);
    clearTimeout(this.#timer);
    this.#sleep(longestSleepMs);
  };

  /** A mail server that hangs holds up mail, and no webhook of the same organization. */
  #servedLike({ kind, organizationId }: Lane): number {
    let count = 0;
    for (const { lane } of this.#serving.values()) {
      if (lane.kind === kind && lane.organizationId === organizationId) count++;
    }
    return count;
  }

  async #serve(name: string, lane: Lane): Promise<void> {
    // In a turn of its own: not within the loop that is about to note that it is served.
    await Promise.resolve();
    let dueAt: number | undefined;
    try {
      dueAt = await this.#parts.serve(name, lane);
    } catch (error) {
      this.#parts.onFault(error);
      dueAt = this.#parts.clock.wall() + longestSleepMs;
    } finally {
      // In the turn of the last look: what is written later finds the lane in one of the two.
      this.#serving.delete(name);
      if (dueAt !== undefined) this.#waiting.set(name, { ...lane, dueAt });
      this.pumpSoon();
    }
  }
}
