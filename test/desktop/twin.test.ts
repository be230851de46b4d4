/**
 * Promises of the stand-in that Electron did not keep, with the source of its real behavior. Each is a rule
 * of fake-electron.ts now, and each test here fails if Keyhearth relies on the promise again. Sources are
 * files of electron/electron unless stated otherwise.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi, type MockInstance } from 'vitest';
import { readConfig } from '../../main/app/config.ts';
import { ApprovalsDouble } from './approvals-double.ts';
import { RpcDouble } from './rpc-double.ts';
import { hasEnded, Launcher } from './launch.ts';

/** The stand-in of a new process, ready, and what runs on it. */
async function start() {
  vi.resetModules();
  vi.doMock('electron', () => import('./fake-electron.ts'));
  const electron = await import('./fake-electron.ts');
  electron.machine.paths.set('userData', directory);
  electron.becomeReady();
  electron.app.on('window-all-closed', () => undefined);
  return electron;
}

const on = (platform: NodeJS.Platform): void => {
  vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
};

let directory: string;
let logged: MockInstance<typeof process.stderr.write>;
let shown: DisposableStack;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-twin-'));
  logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  shown = new DisposableStack();
});

afterEach(async () => {
  shown.dispose();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

test('quit does nothing until will-quit has returned (shell/browser/browser.cc)', async () => {
  const electron = await start();
  const { closeBeforeQuit } = await import('../../main/desktop/quit.ts');
  closeBeforeQuit(() => Promise.resolve());
  new electron.BrowserWindow();
  electron.app.receiveSignal();
  await hasEnded(electron, 0);
});

test('a login item’s words are quoted by Electron itself (shell/browser/browser_win.cc)', async () => {
  on('win32');
  const { machine, readCommandLine } = await start();
  machine.packaged = true;
  const { loginItem } = await import('../../main/desktop/login.ts');
  const dataDirectory = 'C:\\Ann Lee\\vault\\';
  await loginItem({ ...readConfig([], {}), dataDirectory })?.write(true);
  const [line = ''] = machine.runKey.values();
  expect(readCommandLine(line)).toContain(`--data-dir=${dataDirectory}`);
});

test('Linux may report no locked screen (docs/api/power-monitor.md; Chromium, ui/base/idle/idle_linux.cc)', async () => {
  on('linux');
  const { machine, powerMonitor } = await start();
  Object.assign(machine, { screenLocked: true, saysLocked: false, saysIdle: false, idleSeconds: 3_600 });
  expect(powerMonitor.getSystemIdleState(60)).toBe('active');
  const { startAutoLock } = await import('../../main/desktop/auto-lock.ts');
  // With logind, it is heard: session-watch.test.ts. Without, the settings say so.
  const none = { systemBus: 'unix:path=/nowhere/bus', sessionBus: undefined, loginSession: undefined };
  using lock = startAutoLock(
    new RpcDouble(),
    none,
    () => Infinity,
    () => undefined,
  );
  await vi.waitFor(() => {
    expect(lock.reportsLock).toBe(false);
  });
});

describe('a shortcut that the portal did not give is said to be registered (shell/browser/api/electron_api_global_shortcut.cc)', () => {
  test.each([
    ['in a Wayland session', undefined, 'wayland', 'unknown'],
    ['where Wayland was asked for', 'wayland', 'x11', 'unknown'],
    ['and is one of X11 where that was asked for', 'x11', 'wayland', 'bound'],
  ] as const)('%s', async (_when, chosen, session, state) => {
    on('linux');
    const { machine } = await start();
    machine.shortcutsByPortal = state === 'unknown';
    machine.portalBinds = false;
    if (chosen !== undefined) machine.switches.set('ozone-platform', chosen);
    const { listenForFreeze } = await import('../../main/desktop/freeze.ts');
    const { setMenu } = await import('../../main/desktop/menu.ts');
    using listening = listenForFreeze(new RpcDouble(), session);
    expect(listening.state).toBe(state);
    const nothing = (): void => undefined;
    setMenu('1.0.0', {
      ...{ lock: nothing, freeze: nothing, lookForUpdates: nothing },
      freezeAccelerator: listening.accelerator,
    });
    const shown = machine.menu?.item('Freeze All Signing')?.accelerator;
    expect(shown === undefined).toBe(state === 'unknown');
  });
});

test('links and the count on the icon may be refused, in silence (shell/browser/browser_linux.cc, linux/launcher_entry.cc)', async () => {
  on('linux');
  const { machine } = await start();
  machine.packaged = true;
  machine.desktopName = undefined;
  const { showBadge } = await import('../../main/desktop/badge.ts');
  const { catchLinks } = await import('../../main/desktop/links.ts');
  const approvals = new ApprovalsDouble();
  shown.use(showBadge(approvals));
  approvals.set('one');
  approvals.set('one', 'two');
  shown.use(catchLinks(['keyhearth'], { appImage: undefined }).follow(approvals));
  expect(logged.mock.calls.map(([what]) => what as string)).toEqual([
    expect.stringMatching(/^keyhearth: the count on the icon: Error: /),
    expect.stringMatching(/^keyhearth: links to Keyhearth: Error: /),
  ]);
});

test('a notification of an unsigned application fails later, when another may be in its place (docs/api/notification.md)', async () => {
  on('darwin');
  const { machine } = await start();
  const { notifyOfApprovals } = await import('../../main/desktop/notifications.ts');
  const approvals = new ApprovalsDouble();
  shown.use(notifyOfApprovals(approvals, new RpcDouble()));
  machine.signed = false;
  approvals.set('one', 'two', 'three', 'four');
  machine.signed = true;
  approvals.set('one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight');
  await vi.waitFor(() => {
    expect(logged).toHaveBeenCalledOnce();
  });
  expect(machine.notifications.map(({ isShown }) => isShown)).toEqual([false, true]);
  approvals.set();
  expect(machine.notifications[1]?.isShown).toBe(false);
});

describe('a window is ready to show at its first paint, which may never come (docs/api/browser-window.md)', () => {
  test.each([
    ['that paints nothing', true],
    ['that does not load', false],
  ])('of a page %s', async (_what, loads) => {
    const { machine, protocol, BrowserWindow } = await start();
    machine.pagePaints = false;
    protocol.handle('keyhearth', () => new Response('page', { status: loads ? 200 : 500 }));
    const { showWindow } = await import('../../main/desktop/window.ts');
    showWindow();
    await vi.waitFor(() => {
      expect(BrowserWindow.getAllWindows()[0]?.isVisible()).toBe(true);
    });
  });

  test('of a window that was asked for again before: it is as large as it was', async () => {
    const { protocol, BrowserWindow } = await start();
    protocol.handle('keyhearth', () => new Response('page'));
    const { showWindow } = await import('../../main/desktop/window.ts');
    showWindow();
    const first = BrowserWindow.getAllWindows()[0];
    if (first !== undefined) first.maximized = true;
    first?.close();
    await vi.waitFor(() => {
      expect(first?.isDestroyed()).toBe(true);
    });
    showWindow();
    showWindow();
    expect(BrowserWindow.getAllWindows()[0]?.maximized).toBe(true);
  });
});

describe('of the whole application', () => {
  let launcher: Launcher;

  beforeEach(async () => {
    launcher = await Launcher.create();
  });
  afterEach(() => launcher[Symbol.asyncDispose]());

  test('a switch that is set takes the place of the one that a person gave (Chromium, base/command_line.cc)', async () => {
    on('linux');
    const { electron } = await launcher.open(['--port', '0'], ({ machine }) => {
      machine.switches.set('enable-features', 'AcceleratedVideoEncoder');
    });
    expect([...electron.machine.switches]).toEqual([['enable-features', 'AcceleratedVideoEncoder']]);
  });

  test('a second instance’s words come in another order, with others, or not at all (docs/api/app.md)', async () => {
    const { electron } = await launcher.open();
    const [window] = electron.BrowserWindow.getAllWindows();
    const hidden = await launcher.launch(['--hidden'], ({ machine }) => {
      machine.switches.set('hidden', '');
    });
    const linked = await launcher.launch(['keyhearth://approvals/']);
    expect([hidden.machine.ended, linked.machine.ended]).toEqual([0, 0]);
    await vi.waitFor(() => {
      expect(window?.focused).toBe(1);
    });
  });

  test('a second start while the vault opens has its window', async () => {
    const electron = await launcher.launch(['--port', '0', '--hidden'], ({ machine }) => {
      machine.switches.set('hidden', '');
    });
    electron.app.emit('second-instance', new electron.FakeEvent(), ['keyhearth'], '/', { hidden: false });
    await vi.waitFor(() => {
      expect(electron.BrowserWindow.getAllWindows()).toHaveLength(1);
    });
  });

  test('a second start while the application ends, which the lock keeps from opening, starts it again', async () => {
    const { electron } = await launcher.open(['--port', '0', '--hidden']);
    electron.app.quit();
    const start = (): void => {
      electron.app.emit('second-instance', new electron.FakeEvent(), ['keyhearth'], '/', { hidden: false });
    };
    start();
    start();
    await hasEnded(electron, 0);
    const [again, ...others] = electron.machine.relaunches;
    expect(again?.args).toEqual(process.argv.slice(1).filter((word) => word !== '--hidden'));
    expect(others).toEqual([]);
  });

  test('a link that starts the application comes before it is ready (docs/api/app.md, open-url)', async () => {
    const { electron } = await launcher.open(['--port', '0', '--hidden'], (started) => {
      started.machine.switches.set('hidden', '');
      started.app.once('ready', () =>
        started.app.emit('open-url', new started.FakeEvent(), 'keyhearth://app/'),
      );
    });
    expect(electron.BrowserWindow.getAllWindows()).toHaveLength(1);
  });
});
