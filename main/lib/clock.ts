/** Time, in whole milliseconds since the epoch. */
export interface Clock {
  /** The time that records carry and expiry is measured against. */
  now(): number;
  /** The time that a request's liveness is measured against: always the machine's, also where `now` stands still. */
  wall(): number;
}

export const systemClock: Clock = { now: () => Date.now(), wall: () => Date.now() };

/**
 * Whether a time that was set ahead has come. One that lies further ahead than it can have been set was set by a clock that was
 * wrong then and was set right since: nothing waits for that clock's time.
 * @param longestMs How far ahead it can have been set.
 */
export const hasCome = (at: number, now: number, longestMs: number): boolean =>
  at <= now || at - now > longestMs;

/** Clocks are set back by seconds all the time. */
const slackMs = 60_000;

/** Whether what holds for a time holds no longer: its end has come, or a clock that was ahead made it. */
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
