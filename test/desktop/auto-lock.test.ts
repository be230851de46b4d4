import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { LatchkeyError } from '../../main/lib/errors.ts';
import { BridgeDouble } from './bridge-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine, powerMonitor } = await import('./fake-electron.ts');
const { defaultIdleSeconds, startAutoLock } = await import('../../main/desktop/auto-lock.ts');

const minute = 60_000;
let double: BridgeDouble;
let watch: Disposable | undefined;

beforeAll(becomeReady);

beforeEach(() => {
  vi.useFakeTimers();
  machine.idleSeconds = 0;
  machine.screenLocked = false;
  double = new BridgeDouble();
});

afterEach(() => {
  watch?.[Symbol.dispose]();
  watch = undefined;
  vi.useRealTimers();
});

describe('auto-lock', () => {
  test.each(['lock-screen', 'suspend', 'user-did-resign-active'])('locks on %s, at once', (signal) => {
    watch = startAutoLock(double);
    powerMonitor.emit(signal);
    // Not a tick later: the machine may sleep by then.
    expect(double.asked).toEqual([{ name: 'lock', args: [] }]);
  });

  test('locks when nobody touched the machine for ten minutes, and not before', async () => {
    expect(defaultIdleSeconds).toBe(600);
    watch = startAutoLock(double);
    machine.idleSeconds = 599;
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(0);
    machine.idleSeconds = 600;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(double.count('lock')).toBe(1);
  });

  test('takes another limit', async () => {
    watch = startAutoLock(double, 60);
    machine.idleSeconds = 60;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(double.count('lock')).toBe(1);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity])('refuses a limit of %s seconds', (limit) => {
    expect(() => startAutoLock(double, limit)).toThrow(
      /^idleSeconds: expected a whole number of seconds from 1/,
    );
  });

  test('sees a locked screen where the system sends no signal of it', async () => {
    watch = startAutoLock(double);
    machine.screenLocked = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(double.count('lock')).toBe(1);
  });

  test('leaves a locked vault alone, and locks one that was opened meanwhile', async () => {
    watch = startAutoLock(double);
    machine.idleSeconds = 3600;
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(1);
    double.state = 'unlocked';
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(2);
  });

  test('says nothing where there is no open vault, and logs a vault that did not lock', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue(undefined);
    watch = startAutoLock(double);
    double.failure = new LatchkeyError('VAULT_MISSING', 'there is no vault yet');
    powerMonitor.emit('suspend');
    await vi.advanceTimersByTimeAsync(0);
    expect(log).not.toHaveBeenCalled();
    double.failure = new Error('closed');
    powerMonitor.emit('suspend');
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  test('stops', async () => {
    startAutoLock(double)[Symbol.dispose]();
    machine.idleSeconds = 3600;
    powerMonitor.emit('suspend');
    powerMonitor.emit('lock-screen');
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.asked).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
