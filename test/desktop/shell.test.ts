/** The smaller parts around the window: links, the shortcut, menus, starting with the session, where the window was. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readConfig, type Config } from '../../main/app/config.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { ApprovalsDouble } from './approvals-double.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { app, becomeReady, BrowserWindow, FakeEvent, machine, protocol, readCommandLine } =
  await import('./fake-electron.ts');
const { refuseDebuggers } = await import('../../main/desktop/restrictions.ts');
const { freezeShortcut, listenForFreeze } = await import('../../main/desktop/freeze.ts');
const { catchLinks } = await import('../../main/desktop/links.ts');
const { isHiddenStart, loginItem } = await import('../../main/desktop/login.ts');
const { commandOfApp } = await import('../../main/desktop/program.ts');
const { setMenu } = await import('../../main/desktop/menu.ts');
const { showWindow } = await import('../../main/desktop/window.ts');

let directory: string;
let double: RpcDouble;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-shell-'));
  machine.paths.set('userData', directory);
  machine.paths.set('appData', directory);
  machine.paths.set('home', directory);
  becomeReady();
  app.on('window-all-closed', () => undefined);
  protocol.handle('keyhearth', () => new Response('page'));
});

afterAll(() => rm(directory, { recursive: true }));

beforeEach(() => {
  double = new RpcDouble();
  machine.packaged = false;
  machine.dialogs = [];
});

afterEach(() => {
  for (const window of BrowserWindow.getAllWindows()) window.destroy();
  vi.restoreAllMocks();
});

const address = () => BrowserWindow.getAllWindows()[0]?.webContents.getURL();

describe('a link', () => {
  const id = '0b8e6c9e-5e2b-4b0e-9d2a-6f5d9c0a1b2c';
  let approvals: ApprovalsDouble;
  let following: Disposable;

  beforeEach(() => {
    approvals = new ApprovalsDouble();
    following = catchLinks(['keyhearth'], { appImage: undefined }).follow(approvals);
  });
  afterEach(() => {
    following[Symbol.dispose]();
    for (const name of ['open-url', 'second-instance', 'before-quit']) app.removeAllListeners(name);
  });

  /** As macOS hands it over, and as the others do. */
  const ways: readonly [string, (link: string) => void][] = [
    ['open-url', (link) => app.emit('open-url', new FakeEvent(), link)],
    [
      'second-instance',
      (link) => app.emit('second-instance', new FakeEvent(), ['keyhearth'], '/', { hidden: false, link }),
    ],
  ];

  test.each(ways)('by %s shows what waits, where it names it', async (_name, send) => {
    approvals.set(id);
    send(`keyhearth://approvals/${id}`);
    await vi.waitFor(() => {
      expect(address()).toBe(`keyhearth://app/#/approvals/${id}`);
    });
    expect(double.asked).toEqual([]);
  });

  test.each([
    `keyhearth://approvals/${id}`,
    `keyhearth://approvals/${id}?approve=1`,
    `keyhearth://approve/${id}`,
    'keyhearth://app/#/private-keys/export',
    'keyhearth://app/',
    'keyhearth:javascript:alert(1)',
    'https://example.com/',
  ])('to %s, where nothing of it waits, shows the window and goes nowhere', async (link) => {
    approvals.set('b7c1f5d0-0000-4000-8000-000000000000');
    for (const [, send] of ways) send(link);
    await vi.waitFor(() => {
      expect(address()).toBe('keyhearth://app/');
    });
    expect(BrowserWindow.getAllWindows()).toHaveLength(1);
  });

  test('is none where the session starts what runs already', () => {
    app.emit('second-instance', new FakeEvent(), ['keyhearth'], '/', { hidden: true });
    expect(BrowserWindow.getAllWindows()).toEqual([]);
  });

  test('shows no window of an application that ends', () => {
    following[Symbol.dispose]();
    for (const [, send] of ways) send(`keyhearth://approvals/${id}`);
    expect(BrowserWindow.getAllWindows()).toEqual([]);
  });

  test('is Keyhearth’s to open where it is installed, and not from its sources', () => {
    expect(machine.protocols).toEqual([]);
    machine.packaged = true;
    catchLinks(['keyhearth'], { appImage: undefined }).follow(approvals)[Symbol.dispose]();
    expect(machine.protocols).toEqual(['keyhearth']);
  });
});

describe('the place to show', () => {
  test('is gone to without loading the page again, and not twice', async () => {
    showWindow();
    await vi.waitFor(() => {
      expect(address()).toBe('keyhearth://app/');
    });
    const [window] = BrowserWindow.getAllWindows();
    const loads = vi.spyOn(protocol, 'request');
    showWindow('/approvals');
    showWindow('/approvals');
    expect(address()).toBe('keyhearth://app/#/approvals');
    expect(loads).not.toHaveBeenCalled();
    expect(BrowserWindow.getAllWindows()).toEqual([window]);
  });
});

describe('the shortcut for freezing', () => {
  test('freezes, whatever is in front, until it is given back', () => {
    const listening = listenForFreeze(double, undefined);
    expect(listening.accelerator).toBe(freezeShortcut);
    machine.shortcuts.get(freezeShortcut)?.();
    expect(double.count('freeze')).toBe(1);
    listening[Symbol.dispose]();
    expect(machine.shortcuts.size).toBe(0);
  });

  test('is not promised where another application has it', () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    machine.shortcutsTaken = true;
    using listening = listenForFreeze(double, undefined);
    machine.shortcutsTaken = false;
    expect(listening.accelerator).toBeUndefined();
    expect(logged).toHaveBeenCalledOnce();
  });

  test('says where the freeze could not be noted, and nothing where there is no vault', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const listening = listenForFreeze(double, undefined);
    double.failure = new KeyhearthError('VAULT_MISSING', 'there is no vault yet');
    machine.shortcuts.get(freezeShortcut)?.();
    double.failure = new Error('the disk is full');
    machine.shortcuts.get(freezeShortcut)?.();
    await vi.waitFor(() => {
      expect(machine.dialogs).toHaveLength(1);
    });
    expect(machine.dialogs[0]?.title).toBe('Couldn’t save the freeze');
    listening[Symbol.dispose]();
  });
});

describe('the menu', () => {
  const actions = { lock: vi.fn(), freeze: vi.fn(), freezeAccelerator: 'F9', lookForUpdates: vi.fn() };

  test.each(['darwin', 'linux', 'win32'] as const)(
    'on %s has the brakes, the about panel and no links',
    (platform) => {
      vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
      setMenu('1.2.3', actions);
      expect(machine.menu?.labels).toEqual(
        platform === 'darwin'
          ? ['Keyhearth', 'editMenu', 'View', 'windowMenu']
          : ['&File', 'editMenu', 'View', 'windowMenu', 'Help'],
      );
      machine.menu?.choose('Lock Now');
      machine.menu?.choose('Freeze All Signing');
      expect(actions.lock).toHaveBeenCalledOnce();
      machine.menu?.choose('Check for Updates…');
      expect(actions.freeze).toHaveBeenCalledOnce();
      expect(actions.lookForUpdates).toHaveBeenCalledOnce();
      actions.lookForUpdates.mockClear();
      actions.lock.mockClear();
      actions.freeze.mockClear();
      expect(JSON.stringify(machine.menu?.template)).toContain('"about"');
      expect(machine.about).toMatchObject({ applicationName: 'Keyhearth', applicationVersion: '1.2.3' });
    },
  );

  test('has developer tools only where it runs from its sources', () => {
    setMenu('1.2.3', actions);
    expect(JSON.stringify(machine.menu?.template)).toContain('toggleDevTools');
    machine.packaged = true;
    setMenu('1.2.3', actions);
    expect(JSON.stringify(machine.menu?.template)).not.toContain('toggleDevTools');
    // The panel cannot read an archive.
    expect(machine.about?.iconPath).toBe(join(process.resourcesPath, 'icon.png'));
  });
});

describe('the command for programs that start it', () => {
  const { resourcesPath } = process;
  const { appPath } = machine;
  let place: string;

  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'keyhearth-command-'));
    await mkdir(join(place, 'bin'));
    machine.appPath = place;
    Object.defineProperty(process, 'resourcesPath', { value: place, configurable: true });
    return async () => {
      machine.appPath = appPath;
      Object.defineProperty(process, 'resourcesPath', { value: resourcesPath, configurable: true });
      await rm(place, { recursive: true });
    };
  });

  test.each([
    ['linux', true, join('bin', 'keyhearth')],
    ['win32', true, join('bin', 'keyhearth.exe')],
    ['linux', false, 'keyhearth'],
    ['win32', false, 'keyhearth.cmd'],
  ] as const)('is a file of the app, on %s, packaged: %s', async (platform, packaged, name) => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
    machine.packaged = packaged;
    // A package that was built without the command has no such file.
    expect(commandOfApp(undefined)).toEqual(['keyhearth']);
    await writeFile(join(place, name), '');
    expect(commandOfApp(undefined)).toEqual([join(place, name)]);
  });

  test('is not a path into an AppImage, which is gone after it', async () => {
    machine.packaged = true;
    await writeFile(join(place, 'bin', 'keyhearth'), '');
    expect(commandOfApp('/home/ada/Keyhearth.AppImage')).toEqual(['keyhearth']);
  });
});

describe('starting with the session', () => {
  const on = (platform: NodeJS.Platform) => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
    machine.packaged = true;
    machine.login = {
      openAtLogin: false,
      wasOpenedAtLogin: false,
      status: 'not-registered',
    };
    machine.runKey.clear();
    machine.switchedOff.clear();
  };
  // The defaults are those of the platform.
  const usual = (): Config => readConfig([], {});
  const other = (): Config => readConfig(['--data-dir', '/home/ann/a $5 "vault" 100%', '--port', '7400'], {});

  test('is not for what runs from its sources, nor from where a file could not say', () => {
    expect(loginItem(usual())).toBeUndefined();
    on('linux');
    expect(loginItem({ ...usual(), appImage: '/home/ann/two\nlines' })).toBeUndefined();
  });

  test('is a file on Linux, which comes and goes', async () => {
    on('linux');
    const item = loginItem({ ...usual(), appImage: '/home/ann/My "Apps"/$5 100%\\/Keyhearth.AppImage' });
    const file = join(directory, 'autostart', 'keyhearth.desktop');
    expect(item?.read()).toBe(false);
    void item?.write(true);
    expect(item?.read()).toBe(true);
    // The session runs what is there: its directory is this user's alone, whatever the umask.
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(/^\[Desktop Entry\]\nType=Application\n/);
    expect(text).toContain(
      String.raw`Exec="/home/ann/My \\"Apps\\"/\\$5 100%%\\\\/Keyhearth.AppImage" --hidden` + '\n',
    );
    // The file as the desktop's own settings write it.
    await writeFile(file, text.replace('enabled=true', 'enabled=false'));
    expect(item?.read()).toBe(false);
    void item?.write(false);
    void item?.write(false);
    expect(existsSync(file)).toBe(false);
  });

  test('has the arguments of its vault, and an entry for each vault', async () => {
    on('linux');
    void loginItem(usual())?.write(true);
    const item = loginItem({ ...other(), appImage: '/opt/old.AppImage' });
    expect(item?.read()).toBe(false);
    void item?.write(true);
    const [file = ''] = (await readdir(join(directory, 'autostart'))).filter((name) =>
      /^keyhearth-[0-9a-f]{8}\.desktop$/.test(name),
    );
    const read = () => readFile(join(directory, 'autostart', file), 'utf8');
    expect(await read()).toContain(
      String.raw`Exec="/opt/old.AppImage" --hidden "--data-dir=/home/ann/a \\$5 \\"vault\\" 100%%" "--port=7400"` +
        '\n',
    );
    // The file is gone by the next start, which is of another.
    void loginItem({ ...other(), appImage: process.execPath });
    expect(await read()).toContain(`TryExec=${process.execPath}\n`);
    void loginItem({ ...other(), appImage: '/opt/a-third.AppImage' });
    expect(await read()).toContain(`TryExec=${process.execPath}\n`);
    for (const each of [usual(), other()]) void loginItem(each)?.write(false);
    expect(await readdir(join(directory, 'autostart'))).toEqual([]);
  });

  test('is macOS’s own for what needs no arguments, and says where macOS wants to be asked', async () => {
    on('darwin');
    const item = loginItem(usual());
    void item?.write(true);
    expect(item?.read()).toBe(true);
    expect(machine.login.openAtLogin).toBe(true);
    void item?.write(false);
    expect(item?.read()).toBe(false);
    machine.login.status = 'requires-approval';
    await expect((async () => item?.write(true))()).rejects.toThrow('System Settings, General, Login Items');
  });

  test('is an agent of launchd for a vault elsewhere, or with a port of its own', async () => {
    on('darwin');
    const agents = join(directory, 'Library', 'LaunchAgents');
    for (const config of [
      readConfig(['--data-dir', '/Users/ann/a & <b>'], {}),
      readConfig(['--port', '1'], {}),
    ]) {
      const item = loginItem(config);
      expect(item?.read()).toBe(false);
      void item?.write(true);
      expect(item?.read()).toBe(true);
      expect(machine.login.openAtLogin).toBe(false);
      const [file = ''] = await readdir(agents);
      const text = await readFile(join(agents, file), 'utf8');
      expect(text).toContain(`<string>${process.execPath}</string>\n      <string>--hidden</string>\n`);
      expect(text).toContain(
        config.port === null
          ? '<string>--data-dir=/Users/ann/a &amp; &lt;b&gt;</string>'
          : '<string>--port=1</string>',
      );
      void item?.write(false);
      expect(await readdir(agents)).toEqual([]);
    }
  });

  test('is a value of the registry on Windows, which starts the same vault and port again', () => {
    on('win32');
    const executable = String.raw`C:\Program Files\Keyhearth\Keyhearth.exe`;
    vi.spyOn(process, 'execPath', 'get').mockReturnValue(executable);
    const dataDirectory = 'C:\\Users\\Ann "Lee"\\my vault\\';
    const config = { ...readConfig(['--rp-id', 'vault.example', '--port', '7400'], {}), dataDirectory };
    const item = loginItem(config);
    const plain = loginItem(usual());
    void plain?.write(true);
    expect(item?.read()).toBe(false);
    void item?.write(true);
    expect(item?.read()).toBe(true);
    expect(machine.runKey.get('keyhearth')).toBe(`"${executable}" --hidden`);
    const other = [...machine.runKey.keys()].find((name) => /^keyhearth-[0-9a-f]{8}$/.test(name)) ?? '';
    const [started, ...words] = readCommandLine(machine.runKey.get(other) ?? '');
    expect(started).toBe(executable);
    expect(words[0]).toBe('--hidden');
    expect(readConfig(words, {})).toMatchObject({ rpId: 'vault.example', port: 7400 });
    expect(words).toContain(`--data-dir=${dataDirectory}`);
    void item?.write(false);
    expect([item?.read(), plain?.read()]).toEqual([false, true]);
    // In the Task Manager.
    machine.switchedOff.add('keyhearth');
    expect(plain?.read()).toBe(false);
  });

  test('is known by its switch, or by macOS', () => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    expect(isHiddenStart()).toBe(false);
    machine.switches.set('hidden', '');
    expect(isHiddenStart()).toBe(true);
    machine.switches.delete('hidden');
    machine.login.wasOpenedAtLogin = true;
    expect(isHiddenStart()).toBe(true);
    machine.login.wasOpenedAtLogin = false;
  });
});

describe('the window', () => {
  const file = () => join(directory, 'window-state.json');
  const options = () => {
    showWindow();
    const [window] = BrowserWindow.getAllWindows();
    if (window === undefined) throw new Error('there is no window');
    return window;
  };

  beforeEach(async () => {
    machine.displays = [
      { workArea: { x: 0, y: 25, width: 1440, height: 875 } },
      { workArea: { x: 1440, y: 0, width: 1920, height: 1080 } },
    ];
    await rm(file(), { force: true });
  });

  test('comes back where it was, as large as it was', async () => {
    const first = options();
    expect(first.options).toMatchObject({ width: 1120, height: 760 });
    expect(first.options).not.toHaveProperty('x');
    first.bounds = { x: 1500, y: 40, width: 900, height: 700 };
    first.maximized = true;
    first.close();
    await vi.waitFor(() => {
      expect(first.isDestroyed()).toBe(true);
    });
    const second = options();
    expect(second.options).toMatchObject({ x: 1500, y: 40, width: 900, height: 700 });
    await vi.waitFor(() => {
      expect(second.maximized).toBe(true);
    });
  });

  test('notes a move a moment later, in a file of its owner’s alone', async () => {
    vi.useFakeTimers();
    const window = options();
    window.bounds = { x: 10, y: 30, width: 800, height: 600 };
    window.emit('move');
    window.emit('resize');
    await vi.advanceTimersByTimeAsync(500);
    vi.useRealTimers();
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({
      x: 10,
      y: 30,
      width: 800,
      height: 600,
      isMaximized: false,
    });
  });

  test.each([
    ['whose screen is gone', { x: 5000, y: 100, width: 900, height: 700 }, { width: 900, height: 700 }],
    ['above every screen', { x: 100, y: -900, width: 900, height: 700 }, { width: 900, height: 700 }],
    [
      'larger than its screen',
      { x: 0, y: 25, width: 4000, height: 3000 },
      { x: 0, y: 25, width: 1440, height: 875 },
    ],
    ['too small to use', { x: 0, y: 25, width: 1, height: 1 }, { x: 0, y: 25, width: 720, height: 520 }],
  ])('%s comes where it can be had', async (_what, noted, expected) => {
    await writeFile(file(), JSON.stringify({ ...noted, isMaximized: false }));
    const { width, height, x, y } = options().options;
    expect({ width, height, ...(x === undefined ? {} : { x, y }) }).toEqual(expected);
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '{"x":1}',
    '{"x":"1","y":1,"width":1,"height":1}',
    '{"x":1e308,"y":0,"width":9,"height":9}',
  ])('opens as usual where the file says %j', async (text) => {
    await writeFile(file(), text);
    expect(options().options).toMatchObject({ width: 1120, height: 760 });
  });

  test('opens also where its place cannot be noted', () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    machine.paths.set('userData', join(directory, 'nowhere'));
    options().close();
    machine.paths.set('userData', directory);
    expect(logged).toHaveBeenCalledOnce();
  });
});

describe('an installed application', () => {
  // Chromium's content/public/common/content_switches.cc has the last four: each names a program to run as a process of the window's.
  test.each([
    'remote-debugging-port',
    'remote-debugging-pipe',
    'load-extension',
    'browser-subprocess-path',
    'renderer-cmd-prefix',
    'utility-cmd-prefix',
    'gpu-launcher',
  ])('does not start with --%s', (name) => {
    machine.switches.set(name, '9222');
    expect(refuseDebuggers).not.toThrow();
    machine.packaged = true;
    expect(refuseDebuggers).toThrow(`Keyhearth does not start with --${name}`);
    machine.name = 'Keyhearth Test';
    expect(refuseDebuggers).not.toThrow();
    machine.name = 'keyhearth';
    machine.switches.delete(name);
    expect(refuseDebuggers).not.toThrow();
  });
});
