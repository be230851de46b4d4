import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hasAddress, NetworkWatch } from './network-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const at = (address: string, internal = false) => ({ address, internal });

test.each([
  [{}, false],
  [{ lo: [at('127.0.0.1', true), at('::1', true)] }, false],
  [{ lo: [at('127.0.0.1', true)], eth0: [at('fe80::1'), at('169.254.7.1')] }, false],
  [{ lo: [at('127.0.0.1', true)], eth0: [at('192.168.1.7')] }, true],
  [{ wlan0: [at('fe80::1'), at('2001:db8::7')] }, true],
])('%j', (interfaces, online) => {
  expect(hasAddress(interfaces)).toBe(online);
});

test('tells of a look that fails, and looks again', () => {
  const fault = new Error('no interfaces can be listed');
  let isBroken = false;
  const seen: unknown[] = [];
  const watch = new NetworkWatch({
    isOnline: () => {
      if (isBroken) throw fault;
      return !seen.includes(fault);
    },
    onChange: () => seen.push(watch.online),
    onFault: (error) => seen.push(error),
  });
  isBroken = true;
  vi.advanceTimersByTime(2_000);
  isBroken = false;
  vi.advanceTimersByTime(2_000);
  expect(seen).toEqual([fault, false]);
  watch.close();
});

test('tells of each change once, until it is closed', () => {
  let online = true;
  const seen: boolean[] = [];
  const watch = new NetworkWatch({
    isOnline: () => online,
    onChange: () => seen.push(watch.online),
    onFault: (error) => {
      throw error;
    },
  });
  expect(watch.online).toBe(true);
  for (const next of [true, false, false, true]) {
    online = next;
    vi.advanceTimersByTime(5_000);
  }
  expect(seen).toEqual([false, true]);
  watch.close();
  online = false;
  vi.advanceTimersByTime(60_000);
  expect(seen).toHaveLength(2);
});
