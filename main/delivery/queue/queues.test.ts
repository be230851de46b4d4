import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { longestPauseMs } from './backoff.ts';
import { Lanes, longestSleepMs, type LanesParts } from './lanes.ts';

const fault = new Error('a fault of the lanes');
let wall = 1_000_000;
let told: unknown[] = [];
let served: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  wall = 1_000_000;
  told = [];
  served = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const make = (parts: Partial<LanesParts>): Lanes =>
  new Lanes({
    clock: { now: () => wall, wall: () => wall },
    mayServe: () => true,
    serve: (name) => {
      served.push(name);
      return Promise.resolve(undefined);
    },
    onFault: (error) => told.push(error),
    ...parts,
  });

const pass = async (milliseconds: number): Promise<void> => {
  wall += milliseconds;
  await vi.advanceTimersByTimeAsync(milliseconds);
};

const lane = { kind: 'test', organizationId: 'o' };

test('tells of a lane whose service faults, serves the others, and comes back to it', async () => {
  let isBroken = true;
  const lanes = make({
    serve: (name) => {
      served.push(name);
      return isBroken && name === 'broken' ? Promise.reject(fault) : Promise.resolve(undefined);
    },
  });
  lanes.add('broken', lane);
  lanes.add('whole', lane);
  await pass(1);
  expect(told).toEqual([fault]);
  expect(served).toEqual(['broken', 'whole']);
  isBroken = false;
  await pass(longestSleepMs);
  expect(served).toEqual(['broken', 'whole', 'broken']);
  expect(lanes.idle).toBe(true);
  await lanes.stop();
});

test('serves a lane at once that a clock far ahead had put off, once the clock is set right', async () => {
  const lanes = make({});
  const day = 24 * 60 * 60_000;
  wall += 10 * day;
  lanes.set('put off', { ...lane, dueAt: wall + 1_000 });
  lanes.set('put off for longest', { ...lane, dueAt: wall + longestPauseMs });
  await pass(1);
  expect(served).toEqual([]);
  wall -= 10 * day;
  // A clock that was set is noticed after the longest sleep.
  await pass(longestSleepMs);
  expect(served).toEqual(['put off', 'put off for longest']);
  await lanes.stop();
});

test('tells of a fault in choosing what to serve, and chooses again', async () => {
  let isBroken = false;
  const lanes = make({
    mayServe: () => {
      if (isBroken) throw fault;
      return true;
    },
  });
  lanes.add('one', lane);
  isBroken = true;
  await pass(1);
  expect(told).toEqual([fault]);
  expect(served).toEqual([]);
  isBroken = false;
  await pass(longestSleepMs);
  expect(served).toEqual(['one']);
  await lanes.stop();
});
