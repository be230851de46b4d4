/**
 * Remembers for a short time that the vault's owner has given a secret. The window may be open on an
 * unattended desk. Exports of secrets need the owner, and so does adding a way in.
 */
import { stepUpRequired } from '../../preload/contract.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';

/** The purposes of a step-up, and how long each lasts. */
const uses = {
  export: {
    lastsMs: 2 * 60_000,
    refused:
      'an export needs the vault’s password or recovery phrase, given in the window within two minutes before it',
  },
  /** Any number of them: setting up three programs needs one step-up. */
  wayIn: {
    lastsMs: 5 * 60_000,
    refused:
      'to add or widen a way to sign in needs the vault’s password or recovery phrase, given within five minutes before it',
  },
  /** Given with `wayIn`: a policy for any user lets them add ways in. */
  policy: {
    lastsMs: 5 * 60_000,
    refused:
      'a policy that any user may use, or that goes beyond a bot’s budget, needs the vault’s password or recovery phrase, given within five minutes before it',
  },
} as const;

type Use = keyof typeof uses;

/** How long a reserved step-up waits for its request. */
const reservedMs = 2 * 60_000;

export class StepUp {
  readonly #clock: Clock;
  #until: Record<Exclude<Use, 'policy'>, number> = { export: 0, wayIn: 0 };
  /** Ends of reservations, by the request that each is for. */
  #reserved = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The owner gave a secret on demand.
   * @returns the time at which exports end, in milliseconds since the epoch.
   */
  give(): number {
    this.open();
    this.#until.export = this.#clock.wall() + uses.export.lastsMs;
    return this.#until.export;
  }

  /**
   * The vault was created, or opened with a secret. This allows no export: each export asks for the secret.
   */
  open(): void {
    this.#until.wayIn = this.#clock.wall() + uses.wayIn.lastsMs;
  }

  /**
   * Keeps a step-up for one request that is sent soon: a vote that can still be taken back. Each export takes a step-up of its own.
   * @param request Identifies the request, and nothing else.
   * @throws KeyhearthError PERMISSION_DENIED, as `check`.
   */
  reserve(use: Use, request: string): void {
    for (const each of this.#reserved.keys()) if (!this.#isReserved(each)) this.#reserved.delete(each);
    this.check(use, request);
    if (this.#reserved.has(request)) return;
    this.used(use);
    this.#reserved.set(request, this.#clock.wall() + reservedMs);
  }

  /**
   * @param request As for `reserve`; a reservation of it is enough.
   * @throws KeyhearthError PERMISSION_DENIED where none was given in time, or what it allowed is done.
   */
  check(use: Use, request?: string): void {
    if (request !== undefined && this.#isReserved(request)) return;
    const { lastsMs, refused } = uses[use];
    const left = this.#until[use === 'policy' ? 'wayIn' : use] - this.#clock.wall();
    // A clock that was set back makes no step-up last longer.
    if (left > 0 && left <= lastsMs) return;
    throw new KeyhearthError('PERMISSION_DENIED', refused, { turnkeyErrorCode: stepUpRequired });
  }

  /**
   * Takes a step-up for a request that begins: requests at one time do not share it.
   * @param request As for `check`.
   * @returns the function that gives an export's step-up back, or a reservation, where the request came to nothing. After a lock
   * it gives nothing.
   * @throws KeyhearthError PERMISSION_DENIED, as `check`.
   */
  take(use: Use, request?: string): () => void {
    this.check(use, request);
    const [until, reserved] = [this.#until, this.#reserved];
    const before = { ...until };
    const reservation =
      request !== undefined && this.#isReserved(request) ? reserved.get(request) : undefined;
    this.used(use, request);
    return () => {
      if (request !== undefined && reservation !== undefined) reserved.set(request, reservation);
      else if (use === 'export') {
        until.export = Math.max(until.export, before.export);
        until.wayIn = Math.max(until.wayIn, before.wayIn);
      }
    };
  }

  /** It is for one export, or for ways in: a key that is added exports as well. A reserved request uses its reservation up. */
  used(use: Use, request?: string): void {
    const isReserved = request !== undefined && this.#isReserved(request);
    if (request !== undefined) this.#reserved.delete(request);
    if (isReserved) return;
    this.#until.export = 0;
    if (use === 'export') this.#until.wayIn = 0;
  }

  /** The vault is locked. */
  end(): void {
    this.#until = { export: 0, wayIn: 0 };
    this.#reserved = new Map();
  }

  #isReserved(request: string): boolean {
    const left = (this.#reserved.get(request) ?? 0) - this.#clock.wall();
    return left > 0 && left <= reservedMs;
  }
}
