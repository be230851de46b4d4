import { expect, test, vi } from 'vitest';
import { Listeners } from './listeners.ts';

test('a listener that throws does not stop the others', () => {
  const listeners = new Listeners<[string]>();
  const fault = new Error('its own');
  const [first, last] = [vi.fn(), vi.fn()];
  listeners.add(first);
  const stop = listeners.add(() => {
    throw fault;
  });
  listeners.add(last);
  expect(listeners.size).toBe(3);
  expect(listeners.emit('one')).toEqual([fault]);
  expect([first.mock.calls, last.mock.calls]).toEqual([[['one']], [['one']]]);
  stop();
  expect(listeners.emit('two')).toEqual([]);
});
