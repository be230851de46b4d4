import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Settings } from '../../preload/contract.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine, powerMonitor } = await import('./fake-electron.ts');
const { startAutoLock } = await import('../../main/desktop/auto-lock.ts');

const minute = 60_000;
/** session-watch.test.ts tests the reports of Linux beside Electron. */
const noBus = { systemBus: '', sessionBus: undefined, loginSession: undefined };
let double: RpcDouble;
let sinceRequestMs = Infinity;
let watch: Disposable | undefined;
/** The warnings so far: seconds until the lock, or null. */
let warned: (number | null)[];
const warn = (seconds: number | null): void => {
  warned.push(seconds);
};

beforeAll(becomeReady);

beforeEach(() => {
  vi.useFakeTimers();
  machine.idleSeconds = 0;
  warned = [];
  sinceRequestMs = Infinity;
  machine.screenLocked = false;
  double = new RpcDouble();
});

afterEach(() => {
  watch?.[Symbol.dispose]();
  watch = undefined;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('auto-lock', () => {
  test.each([
    ['lock-screen', 'win32'],
    ['suspend', 'linux'],
    ['user-did-resign-active', 'darwin'],
    ['shutdown', 'linux'],
  ] as const)('locks on %s of %s, at once', (signal, platform) => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
    watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    powerMonitor.emit(signal);
    // Not a tick later: the machine may sleep by then.
    expect(double.count('lock')).toBe(1);
  });

  test('locks after ten minutes without input, and not before', async () => {
    watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    machine.idleSeconds = 599;
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(0);
    machine.idleSeconds = 600;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(double.count('lock')).toBe(1);
  });

  test('warns a minute before, once, and takes it back when the person returns', async () => {
    watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    machine.idleSeconds = 535;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(warned).toEqual([]);
    machine.idleSeconds = 540;
    await vi.advanceTimersByTimeAsync(5_000);
    machine.idleSeconds = 545;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(warned).toEqual([60]);
    machine.idleSeconds = 0;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(warned).toEqual([60, null]);
  });

  describe('as the settings say', () => {
    const set = async (autoLock: Partial<Settings['autoLock']>): Promise<void> => {
      double.settingsNow = {
        ...double.settingsNow,
        autoLock: { ...double.settingsNow.autoLock, ...autoLock },
      };
      double.announce({ kind: 'settings' });
      await vi.advanceTimersByTimeAsync(0);
    };

    beforeEach(() => {
      watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    });

    test('locks after another time', async () => {
      await set({ idleMinutes: 1 });
      machine.idleSeconds = 59;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(0);
      machine.idleSeconds = 60;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(1);
    });

    test('stays open while requests use it, until as long after the last one', async () => {
      await set({});
      machine.idleSeconds = 3600;
      sinceRequestMs = 10 * minute - 1;
      await vi.advanceTimersByTimeAsync(minute);
      expect(double.count('lock')).toBe(0);
      sinceRequestMs = 10 * minute;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(1);
    });

    test('locks under requests that do not count, with the screen, and for sleep', async () => {
      sinceRequestMs = 0;
      await set({});
      powerMonitor.emit('suspend');
      expect(double.count('lock')).toBe(1);
      double.state = 'unlocked';
      machine.screenLocked = true;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(2);
      double.state = 'unlocked';
      machine.screenLocked = false;
      await set({ requestsKeepOpen: false });
      machine.idleSeconds = 600;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(3);
    });

    test('counts no requests where the settings cannot be read', async () => {
      sinceRequestMs = 0;
      machine.idleSeconds = 600;
      double.failure = new KeyhearthError('VAULT_TAMPERED', 'changed');
      await set({});
      double.failure = undefined;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(1);
    });

    test('does not lock an idle vault, and still with the screen', async () => {
      await set({ idleMinutes: null });
      machine.idleSeconds = 10 * 3600;
      await vi.advanceTimersByTimeAsync(minute);
      expect(double.count('lock')).toBe(0);
      machine.screenLocked = true;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(1);
    });

    test('does not lock with the screen, and still locks without input', async () => {
      vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
      await set({ onScreenLock: false });
      powerMonitor.emit('lock-screen');
      powerMonitor.emit('user-did-resign-active');
      machine.screenLocked = true;
      machine.idleSeconds = 599;
      await vi.advanceTimersByTimeAsync(minute);
      expect(double.count('lock')).toBe(0);
      machine.idleSeconds = 600;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(1);
    });

    test('does not lock for sleep, and still when the machine is turned off', async () => {
      await set({ onSuspend: false });
      powerMonitor.emit('suspend');
      expect(double.count('lock')).toBe(0);
      powerMonitor.emit('shutdown');
      expect(double.count('lock')).toBe(1);
    });

    test('is as cautious as at first where they cannot be read', async () => {
      await set({ idleMinutes: null, onScreenLock: false, onSuspend: false });
      double.failure = new KeyhearthError('VAULT_TAMPERED', 'changed');
      await set({});
      double.failure = undefined;
      powerMonitor.emit('suspend');
      expect(double.count('lock')).toBe(1);
    });
  });

  test('sees a locked screen where the system sends no signal of it', async () => {
    watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    machine.screenLocked = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(double.count('lock')).toBe(1);
  });

  test('leaves a locked vault alone, and locks one that was opened meanwhile', async () => {
    watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    machine.idleSeconds = 3600;
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(1);
    double.state = 'unlocked';
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(2);
  });

  test('says nothing where there is no open vault, and logs a vault that did not lock', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    watch = startAutoLock(double, noBus, () => sinceRequestMs, warn);
    double.failure = new KeyhearthError('VAULT_MISSING', 'there is no vault yet');
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
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    startAutoLock(double, noBus, () => sinceRequestMs, warn)[Symbol.dispose]();
    machine.idleSeconds = 3600;
    powerMonitor.emit('suspend');
    powerMonitor.emit('lock-screen');
    await vi.advanceTimersByTimeAsync(minute);
    expect(double.count('lock')).toBe(0);
    expect(double.listeners).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
