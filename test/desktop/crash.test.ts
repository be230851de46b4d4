import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MockInstance } from 'vitest';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { app, becomeReady, BrowserWindow, machine } = await import('./fake-electron.ts');
const { endOnFault, reviveWindows } = await import('../../main/desktop/crash.ts');

beforeAll(becomeReady);

let logged: MockInstance<typeof process.stderr.write>;

beforeEach(() => {
  vi.useFakeTimers();
  logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  machine.questions = [];
  machine.answers = [];
  machine.ended = undefined;
  machine.dialogs = [];
});

afterEach(() => {
  vi.useRealTimers();
  logged.mockRestore();
});

describe('a page', () => {
  let window: InstanceType<typeof BrowserWindow>;
  let reviving: Disposable;

  beforeEach(() => {
    reviving = reviveWindows();
    window = new BrowserWindow();
  });

  afterEach(() => {
    reviving[Symbol.dispose]();
    window.destroy();
    for (const name of ['render-process-gone', 'child-process-gone', 'browser-window-created']) {
      expect(app.listenerCount(name)).toBe(0);
    }
  });

  const crash = (reason = 'crashed') =>
    app.emit('render-process-gone', {}, window.webContents, { reason, exitCode: 5 });

  test('whose process crashed is loaded again, and its owner asked where that does not help', async () => {
    for (let times = 0; times < 3; times++) crash();
    expect(window.webContents.reloads).toBe(3);
    expect(machine.questions).toEqual([]);
    crash();
    await vi.advanceTimersByTimeAsync(0);
    expect(machine.questions).toMatchObject([
      { message: 'The window stopped working', buttons: ['Reload', 'Quit Keyhearth'] },
    ]);
    expect(window.webContents.reloads).toBe(4);
    expect(logged).toHaveBeenCalledTimes(4);
  });

  test('that crashes now and then is loaded again each time', async () => {
    for (let times = 0; times < 10; times++) {
      crash('oom');
      await vi.advanceTimersByTimeAsync(30_000);
    }
    expect(window.webContents.reloads).toBe(10);
    expect(machine.questions).toEqual([]);
  });

  test('that ended as it should is left alone', () => {
    crash('clean-exit');
    expect(window.webContents.reloads).toBe(0);
  });

  test('that does not answer is loaded again, waited for, or given up, as its owner says', async () => {
    window.emit('unresponsive');
    await vi.advanceTimersByTimeAsync(0);
    expect(machine.questions).toMatchObject([{ buttons: ['Reload', 'Wait', 'Quit Keyhearth'], cancelId: 1 }]);
    expect(window.webContents.reloads).toBe(1);
    machine.answers = [1];
    window.emit('unresponsive');
    await vi.advanceTimersByTimeAsync(0);
    expect(window.webContents.reloads).toBe(1);
    machine.answers = [2];
    window.emit('unresponsive');
    await vi.waitFor(() => {
      expect(machine.ended).toBe(0);
    });
  });

  test('is not touched by the crash of a helper of Chromium’s, which is logged', () => {
    app.emit('child-process-gone', {}, { type: 'GPU', reason: 'crashed', exitCode: 1 });
    expect(window.webContents.reloads).toBe(0);
    expect(String(logged.mock.calls[0])).toContain('GPU');
  });
});

describe('an error without a handler', () => {
  test('locks the vault at once, says so, and ends the application', () => {
    const double = new RpcDouble();
    const before = process.listenerCount('uncaughtException');
    const ending = endOnFault(double);
    const [own] = process.listeners('uncaughtException').slice(-1);
    own?.(new Error('the secret is 42'), 'uncaughtException');
    expect(double.state).toBe('locked');
    expect(machine.ended).toBe(1);
    expect(machine.dialogs[0]?.title).toBe('Keyhearth must quit');
    expect(machine.dialogs[0]?.content).not.toContain('42');
    ending[Symbol.dispose]();
    expect(process.listenerCount('uncaughtException')).toBe(before);
  });
});
