/** Time, in whole milliseconds since the epoch. */
export interface Clock {
  /** The time that records carry and expiry is measured against. */
  now(): number;
  /** The time that a request's liveness is measured against: always the machine's, also where `now` stands still. */
  wall(): number;
}

export const systemClock: Clock = { now: () => Date.now(), wall: () => Date.now() };

/** The wire's form of a time: strings, whole seconds. */
export interface Timestamp {
  readonly seconds: string;
  readonly nanos: string;
}

export const timestamp = (milliseconds: number): Timestamp => ({
  seconds: String(Math.floor(milliseconds / 1000)),
  nanos: '0',
});
