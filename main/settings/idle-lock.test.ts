import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { IdleLock } from './idle-lock.ts';
import { RequestUse } from './request-use.ts';

const minute = 60_000;

describe('IdleLock', () => {
  let wall = 0;
  let keys: { unlocked: boolean };
  let minutes: number | null = 10;
  let requestsKeepOpen: boolean;
  let requestUse: RequestUse;
  let locked: number;
  /** The warnings so far: seconds until the lock, or null. */
  let warned: (number | null)[];
  let idle: IdleLock;

  beforeEach(() => {
    vi.useFakeTimers();
    wall = 1_000_000;
    minutes = 10;
    requestsKeepOpen = true;
    requestUse = new RequestUse({ wall: () => wall });
    keys = { unlocked: true };
    locked = 0;
    warned = [];
    idle = new IdleLock({
      clock: { now: () => wall, wall: () => wall },
      keys,
      autoLock: () => ({ idleMinutes: minutes, requestsKeepOpen }),
      requestUse,
      lock: () => {
        locked += 1;
        keys.unlocked = false;
      },
      warn: (seconds) => {
        warned.push(seconds);
      },
      onFault: (error) => {
        throw error;
      },
    });
  });
  afterEach(() => {
    idle.close();
    vi.useRealTimers();
  });

  /** The clock goes on, and a timer sees it. */
  const pass = (milliseconds: number): void => {
    wall += milliseconds;
    vi.advanceTimersByTime(1_000);
  };

  test('locks when no window was used for as long as is set, and not before', () => {
    idle.used();
    pass(10 * minute - 1);
    expect(locked).toBe(0);
    pass(1);
    expect(locked).toBe(1);
  });

  test('warns a minute before, once, and takes the warning back at a use', () => {
    idle.used();
    pass(9 * minute - 1);
    expect(warned).toEqual([]);
    pass(1);
    pass(10_000);
    expect(warned).toEqual([60]);
    idle.used();
    expect(warned).toEqual([60, null]);
    pass(9 * minute);
    pass(minute);
    expect(locked).toBe(1);
    expect(warned).toEqual([60, null, 60, null]);
  });

  test('takes a warning back when a request uses the vault, or the vault is locked by hand', () => {
    idle.used();
    pass(9 * minute);
    requestUse.note();
    pass(1_000);
    expect(warned).toEqual([60, null]);
    pass(9 * minute);
    keys.unlocked = false;
    pass(1_000);
    expect(warned).toEqual([60, null, 59, null]);
    expect(locked).toBe(0);
  });

  test('warns for half of the time at most', () => {
    minutes = 1;
    idle.used();
    pass(29_000);
    expect(warned).toEqual([]);
    pass(1_000);
    expect(warned).toEqual([30]);
  });

  test('counts from the last use', () => {
    idle.used();
    pass(9 * minute);
    idle.used();
    pass(9 * minute);
    expect(locked).toBe(0);
    pass(minute);
    expect(locked).toBe(1);
  });

  test('counts from the last request that used it, where requests count', () => {
    idle.used();
    pass(9 * minute);
    requestUse.note();
    pass(10 * minute - 1);
    expect(locked).toBe(0);
    pass(1);
    expect(locked).toBe(1);
  });

  test('counts no requests once they are switched off, also no earlier ones', () => {
    idle.used();
    pass(9 * minute);
    requestUse.note();
    requestsKeepOpen = false;
    pass(minute);
    expect(locked).toBe(1);
  });

  test('locks in time where a request came while the clock was ahead', () => {
    idle.used();
    wall += 30 * 24 * 60 * minute;
    requestUse.note();
    wall -= 30 * 24 * 60 * minute;
    pass(0);
    pass(10 * minute);
    expect(locked).toBe(1);
  });

  test('locks in time where the clock was ahead when a window was used last, and is set right', () => {
    wall += 30 * 24 * 60 * minute;
    idle.used();
    pass(minute);
    wall -= 30 * 24 * 60 * minute;
    pass(1_000);
    expect(locked).toBe(0);
    pass(10 * minute);
    expect(locked).toBe(1);
  });

  test('never locks where no window was used, nor where it is switched off', () => {
    pass(100 * minute);
    expect(locked).toBe(0);
    minutes = null;
    idle.used();
    pass(100 * minute);
    expect(locked).toBe(0);
    minutes = 5;
    pass(0);
    expect(locked).toBe(1);
  });

  test('leaves a vault alone that was unlocked without a window, until a window is used again', () => {
    idle.used();
    pass(10 * minute);
    keys.unlocked = true;
    pass(100 * minute);
    expect(locked).toBe(1);
    idle.used();
    pass(10 * minute);
    expect(locked).toBe(2);
  });
});
