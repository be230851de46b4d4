/**
 * The end of the application, by each way to it, on the stand-in with Electron's own rules (fake-electron.ts, `quit`). The class
 * of fault: an end that Electron ignores, or that waits for ever, leaves a process without window and tray that holds the lock,
 * and every later start ends at once.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { hasEnded, Launcher, type Electron } from './launch.ts';

let launcher: Launcher;

beforeEach(async () => {
  launcher = await Launcher.create();
});

afterEach(async () => {
  vi.doUnmock('../../main/desktop/updates/update-key.ts');
  vi.doUnmock('../../main/desktop/updates/update-provider.ts');
  await launcher[Symbol.asyncDispose]();
});

/** The last thing of a start: nothing of the first process is in the way of the second. */
async function startsAgain(): Promise<void> {
  expect(existsSync(join(launcher.vault, 'endpoint.json'))).toBe(false);
  const { electron } = await launcher.open();
  expect(electron.BrowserWindow.getAllWindows()).toHaveLength(1);
  expect(electron.machine.ended).toBeUndefined();
}

describe('quitting with the window open', () => {
  const routes: readonly [string, (electron: Electron) => void][] = [
    ['the menu', ({ machine }) => machine.menu?.choose('Quit Keyhearth')],
    ['the tray', ({ machine }) => machine.trays[0]?.menu?.choose('Quit Keyhearth')],
    [
      'Command-Q',
      ({ app }) => {
        app.terminate();
      },
    ],
    [
      'SIGINT',
      ({ app }) => {
        app.receiveSignal();
      },
    ],
    [
      'SIGTERM',
      ({ app }) => {
        app.receiveSignal();
      },
    ],
  ];

  test.each(routes)('by %s ends the process, and a second start opens a window', async (_name, quit) => {
    const { electron } = await launcher.open();
    quit(electron);
    await hasEnded(electron, 0);
    await startsAgain();
  });

  test('by “Install now” of an update ends the process, and a second start opens a window', async () => {
    const appPath = join(launcher.directory, 'app');
    await mkdir(appPath);
    await writeFile(join(appPath, 'package.json'), '{"updateUrl":"https://updates.example/"}');
    vi.doMock('../../main/desktop/updates/update-key.ts', () => ({ updateKey: '00'.repeat(32) }));
    const started: Electron[] = [];
    vi.doMock('../../main/desktop/updates/update-provider.ts', () => ({
      followFeed: () => undefined,
      // As electron-updater/out/BaseUpdater.js quits, once the installer of the new version runs.
      systemUpdater: () => ({
        on: () => undefined,
        off: () => undefined,
        once: () => undefined,
        checkForUpdates: () => Promise.resolve({ isUpdateAvailable: true, updateInfo: { version: '9.9.9' } }),
        downloadUpdate: () => Promise.resolve([]),
        quitAndInstall: () => setImmediate(() => started[0]?.app.quit()),
      }),
    }));
    const { electron } = await launcher.open(['--port', '0'], ({ machine }) => {
      machine.packaged = true;
      machine.appPath = appPath;
    });
    started.push(electron);
    electron.machine.menu?.choose('Check for Updates…');
    await hasEnded(electron, 0);
    expect(electron.machine.questions.map(({ message }) => message)).toEqual([
      'Keyhearth 9.9.9 is available',
      'Keyhearth 9.9.9 is ready to install',
    ]);
    vi.doUnmock('../../main/desktop/updates/update-key.ts');
    vi.doUnmock('../../main/desktop/updates/update-provider.ts');
    await startsAgain();
  });

  test.each(routes)('by %s after the window was closed ends the process too', async (_name, quit) => {
    const { electron } = await launcher.open();
    electron.BrowserWindow.getAllWindows()[0]?.close();
    await vi.waitFor(() => {
      expect(electron.BrowserWindow.getAllWindows()).toEqual([]);
    });
    quit(electron);
    await hasEnded(electron, 0);
    await startsAgain();
  });

  test('ends though the page has stopped answering', async () => {
    const { electron } = await launcher.open();
    electron.machine.pageAnswers = false;
    electron.app.quit();
    await hasEnded(electron, 0);
    await startsAgain();
  });

  test('ends while the vault opens, and leaves none of it', async () => {
    const electron = await launcher.launch();
    electron.app.receiveSignal();
    await hasEnded(electron, 0);
    await startsAgain();
  });
});

describe('what is open', () => {
  async function closingBy(close: () => Promise<void>): Promise<Electron> {
    vi.resetModules();
    vi.doMock('electron', () => import('./fake-electron.ts'));
    const electron = await import('./fake-electron.ts');
    electron.becomeReady();
    const { closeBeforeQuit } = await import('../../main/desktop/quit.ts');
    closeBeforeQuit(close);
    return electron;
  }

  test.each<[string, () => Promise<void>, number]>([
    ['closes without waiting for anything', () => Promise.resolve(), 0],
    ['closes after a turn', () => new Promise((resolve) => setImmediate(resolve)), 0],
    ['does not close', () => Promise.reject(new Error('the disk is gone')), 1],
  ])('and %s ends with the application', async (_what, close, code) => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const closed = vi.fn(close);
    const electron = await closingBy(closed);
    new electron.BrowserWindow();
    electron.app.receiveSignal();
    electron.app.quit();
    await hasEnded(electron, code);
    expect(closed).toHaveBeenCalledOnce();
  });

  test('and never closes is left after five seconds', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const electron = await closingBy(() => new Promise(() => undefined));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      electron.app.quit();
      await vi.advanceTimersByTimeAsync(4_999);
      expect(electron.machine.ended).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
    } finally {
      vi.useRealTimers();
    }
    await hasEnded(electron, 1);
  });

  test('does not prevent a log-out on macOS', async () => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    const electron = await closingBy(() => new Promise(() => undefined));
    let isPrevented: boolean | undefined;
    electron.app.on('will-quit', (event: InstanceType<Electron['FakeEvent']>) => {
      isPrevented = event.defaultPrevented;
    });
    new electron.BrowserWindow();
    electron.app.logOut();
    await hasEnded(electron, 0);
    expect(isPrevented).toBe(false);
  });
});
