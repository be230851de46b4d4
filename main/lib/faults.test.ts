import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { owned } from './faults.ts';

/** An error thrown by a timer, an immediate or a listener ends the process, unless it has an owner. */
describe('owned', () => {
  const fault = new Error('a fault of the work');
  const told: unknown[] = [];
  const tell = (error: unknown): void => {
    told.push(error);
  };
  beforeEach(() => {
    told.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  test('hands on what is given to the work', () => {
    const given: unknown[] = [];
    owned((one: number, other: string) => given.push(one, other), tell)(1, 'two');
    expect(given).toEqual([1, 'two']);
    expect(told).toEqual([]);
  });

  test.each([
    [
      'throws',
      () => {
        throw fault;
      },
    ],
    ['rejects', () => Promise.reject(fault)],
  ])('tells the owner of work that %s, each time, and the timer goes on', async (_how, work) => {
    const timer = setInterval(owned(work, tell), 10);
    await vi.advanceTimersByTimeAsync(35);
    clearInterval(timer);
    expect(told).toEqual([fault, fault, fault]);
  });

  test('lets the other listeners of an event run', () => {
    const emitter = new EventEmitter();
    const heard = vi.fn();
    emitter.on(
      'news',
      owned(() => {
        throw fault;
      }, tell),
    );
    emitter.on('news', owned(heard, tell));
    emitter.emit('news');
    expect(told).toEqual([fault]);
    expect(heard).toHaveBeenCalledOnce();
  });

  test('writes to standard error where no owner is named', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    owned(() => {
      throw fault;
    })();
    expect(write.mock.calls.flat().join('')).toContain('Error: a fault of the work');
  });
});
