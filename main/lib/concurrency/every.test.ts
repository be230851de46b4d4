import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { every } from './every.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const fault = new Error('a fault of the work');

test.each([
  ['rejects', () => Promise.reject(fault)],
  [
    'throws',
    () => {
      throw fault;
    },
  ],
])('work that %s is done again, and its owner told each time', async (_how, work) => {
  const told: unknown[] = [];
  const stop = every(10, work, (error) => told.push(error));
  await vi.advanceTimersByTimeAsync(35);
  expect(told).toEqual([fault, fault, fault]);
  stop();
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toHaveLength(3);
});

test('keeps no process from ending, and leaves no timer once it is stopped', () => {
  const timer = vi.spyOn(globalThis, 'setInterval');
  const stop = every(10, () => undefined);
  expect((timer.mock.results[0] as { value: NodeJS.Timeout }).value.hasRef()).toBe(false);
  stop();
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
