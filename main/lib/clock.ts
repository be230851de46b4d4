/** Time, in whole milliseconds since the epoch. */
export interface Clock {
  /** The time that records carry and expiry is measured against. */
  now(): number;
  /** The time that a request's liveness is measured against: always the machine's, also where `now` stands still. */
  wall(): number;
}

export const systemClock: Clock = { now: () => Date.now(), wall: () => Date.now() };

/**
 * True if a scheduled time has come. A time further ahead than it can have been set was set by a clock that
 * was ahead and was corrected since: it counts as come.
 * @param longestMs The longest time ahead that can have been set.
 */
export const hasCome = (at: number, now: number, longestMs: number): boolean =>
  at <= now || at - now > longestMs;

/** Clocks are set back by seconds all the time. */
const slackMs = 60_000;

/** True if the validity has ended, or began in the future because a clock was ahead. */
export const isOver = (
  { createdAt, expiresAt }: { readonly createdAt: number; readonly expiresAt: number | null },
  now: number,
): boolean => expiresAt !== null && hasCome(expiresAt, now, expiresAt - createdAt + slackMs);

/** The latest time that can have been noted by now. What is noted as later was noted by a clock that was ahead. */
export const latest = (now: number): number => now + slackMs;

/** The wire's form of a time: strings, whole seconds. */
export interface Timestamp {
  readonly seconds: string;
  readonly nanos: string;
}

export const timestamp = (milliseconds: number): Timestamp => ({
  seconds: String(Math.floor(milliseconds / 1000)),
  nanos: '0',
});
