import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { longestPauseMs } from './backoff.ts';
import { DeliveryQueues, longestSleepMs, type DeliveryQueuesParts } from './queues.ts';

const fault = new Error('a fault of the queues');
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

const make = (parts: Partial<DeliveryQueuesParts>): DeliveryQueues =>
  new DeliveryQueues({
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

const queue = { kind: 'test', organizationId: 'o' };

test('reports a queue whose service faults, serves the others, and comes back to it', async () => {
  let isBroken = true;
  const queues = make({
    serve: (name) => {
      served.push(name);
      return isBroken && name === 'broken' ? Promise.reject(fault) : Promise.resolve(undefined);
    },
  });
  queues.add('broken', queue);
  queues.add('whole', queue);
  await pass(1);
  expect(told).toEqual([fault]);
  expect(served).toEqual(['broken', 'whole']);
  isBroken = false;
  await pass(longestSleepMs);
  expect(served).toEqual(['broken', 'whole', 'broken']);
  expect(queues.idle).toBe(true);
  await queues.stop();
});

test('serves a queue that a clock far ahead had put off, as soon as the clock is set right', async () => {
  const queues = make({});
  const day = 24 * 60 * 60_000;
  wall += 10 * day;
  queues.set('put off', { ...queue, dueAt: wall + 1_000 });
  queues.set('put off for longest', { ...queue, dueAt: wall + longestPauseMs });
  await pass(1);
  expect(served).toEqual([]);
  wall -= 10 * day;
  // A clock that was set is noticed after the longest sleep.
  await pass(longestSleepMs);
  expect(served).toEqual(['put off', 'put off for longest']);
  await queues.stop();
});

test('tells of a fault in choosing what to serve, and chooses again', async () => {
  let isBroken = false;
  const queues = make({
    mayServe: () => {
      if (isBroken) throw fault;
      return true;
    },
  });
  queues.add('one', queue);
  isBroken = true;
  await pass(1);
  expect(told).toEqual([fault]);
  expect(served).toEqual([]);
  isBroken = false;
  await pass(longestSleepMs);
  expect(served).toEqual(['one']);
  await queues.stop();
});

describe('with more work than places', () => {
  const places = 64;
  const below = (organizationId: string): boolean => organizationId !== 'own';
  let ends: (() => void)[] = [];
  const slow = (): DeliveryQueues => {
    ends = [];
    return make({
      isBelow: below,
      serve: (name) => {
        served.push(name);
        return new Promise((resolve) =>
          ends.push(() => {
            resolve(undefined);
          }),
        );
      },
    });
  };
  const fill = (queues: DeliveryQueues, organizationId: string): void => {
    for (let each = 0; each < 20; each++)
      queues.add(`${organizationId} ${String(each)}`, { kind: 'test', organizationId });
  };
  const end = async (queues: DeliveryQueues): Promise<void> => {
    const stopped = queues.stop();
    for (const each of ends) each();
    await stopped;
  };

  test('leaves places to the vault’s own organization, however many sub-organizations hang', async () => {
    const queues = slow();
    for (let each = 0; each < 8; each++) fill(queues, `sub ${String(each)}`);
    await pass(1);
    expect(served).toHaveLength(places * 0.75);
    queues.add('own', { kind: 'test', organizationId: 'own' });
    await pass(1);
    expect(served.at(-1)).toBe('own');
    await end(queues);
  });

  test('gives the next place to an organization that has none', async () => {
    const queues = slow();
    for (let each = 0; each < 8; each++) fill(queues, `sub ${String(each)}`);
    await pass(1);
    queues.add('late', { kind: 'test', organizationId: 'late' });
    await pass(1);
    expect(served).not.toContain('late');
    ends.shift()?.();
    await pass(1);
    expect(served.at(-1)).toBe('late');
    await end(queues);
  });

  test('serves sixteen of one organization, oldest first', async () => {
    const queues = slow();
    fill(queues, 'own');
    await pass(1);
    expect(served).toEqual(Array.from({ length: 16 }, (_, each) => `own ${String(each)}`));
    await end(queues);
  });
});
