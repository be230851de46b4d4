import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SerialQueue } from './serial.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const late = (): Error => new Error('late');

test('a piece begins once the one before it has ended, and never beside it', async () => {
  const queue = new SerialQueue();
  const seen: string[] = [];
  const piece = (name: string) => async (): Promise<string> => {
    seen.push(`${name} begins`);
    await nextTurn();
    seen.push(`${name} ends`);
    return name;
  };
  const all = Promise.all([queue.run(piece('a')), queue.run(piece('b')), queue.run(() => 'c')]);
  expect(queue.length).toBe(3);
  expect(await all).toEqual(['a', 'b', 'c']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(queue.length).toBe(0);
});

test.each([
  ['rejects', () => Promise.reject(new Error('fault'))],
  [
    'throws',
    () => {
      throw new Error('fault');
    },
  ],
])('a piece that %s reports it to its own caller, and delays no other piece', async (_how, work) => {
  const queue = new SerialQueue();
  const failing = queue.run<unknown>(work);
  const next = queue.run(() => 'next');
  await expect(failing).rejects.toThrow('fault');
  expect(await next).toBe('next');
});

test('all that was asked for has ended, also where it failed', async () => {
  const idle = vi.fn();
  const queue = new SerialQueue(idle);
  await queue.ended();
  let isOver = false;
  const failing = queue.run(async () => {
    await nextTurn();
    isOver = true;
    throw new Error('fault');
  });
  const heard = expect(failing).rejects.toThrow('fault');
  await queue.ended();
  expect([isOver, idle.mock.calls.length]).toEqual([true, 1]);
  await heard;
});

test('a caller who waits longer than the limit gets an error, and the next piece waits for the work itself', async () => {
  const queue = new SerialQueue();
  const { promise, resolve } = Promise.withResolvers<string>();
  let given: AbortSignal | undefined;
  const hanging = queue.runWithin(100, late, (signal) => {
    given = signal;
    return promise;
  });
  const begun = vi.fn(() => Promise.resolve('begun'));
  const patient = queue.runWithin(1000, late, begun);
  const refused = expect(hanging).rejects.toThrow('late');
  await vi.advanceTimersByTimeAsync(100);
  await refused;
  expect([queue.isOverdue, given?.aborted, begun.mock.calls.length]).toEqual([true, true, 0]);
  resolve('too late');
  expect(await patient).toBe('begun');
  expect([queue.isOverdue, queue.length]).toEqual([false, 0]);
});

test('work that no caller awaits is not begun', async () => {
  const queue = new SerialQueue();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const first = queue.run(() => promise);
  const begun = vi.fn(() => Promise.resolve());
  const refused = expect(queue.runWithin(100, late, begun)).rejects.toThrow('late');
  await vi.advanceTimersByTimeAsync(100);
  await refused;
  resolve(undefined);
  await first;
  await queue.ended();
  expect(begun).not.toHaveBeenCalled();
});

test('a limit that is kept leaves no timer', async () => {
  const queue = new SerialQueue();
  expect(await queue.runWithin(100, late, () => Promise.resolve(1))).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
  expect(queue.isOverdue).toBe(false);
});
