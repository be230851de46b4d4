/** The whole application on a stand-in for Electron: the real entry, the real vault on disk, the real preload script. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { close, open, url } from 'node:inspector';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WindowRpc } from '../../preload/contract.ts';
import { createVault, Launcher, password, type Electron } from './launch.ts';

let launcher: Launcher;

beforeEach(async () => {
  launcher = await Launcher.create();
});

afterEach(() => launcher[Symbol.asyncDispose]());

describe('the application', () => {
  test('makes a vault, works in it, and locks it when the screen locks', async () => {
    const { electron, keyhearth } = await launcher.open();
    expect(electron.machine.sandboxed).toBe(true);
    expect(electron.machine.paths.get('userData')).toBe(join(launcher.vault, 'window'));
    expect((await stat(launcher.vault)).mode & 0o777).toBe(0o700);
    const [tray] = electron.machine.trays;
    const [window] = electron.BrowserWindow.getAllWindows();
    expect(tray?.toolTip).toBe('Keyhearth: no vault yet');
    await expect(keyhearth.lock()).rejects.toThrow(/there is no vault yet/);

    await createVault(keyhearth);
    const created = await keyhearth.call('/public/v1/submit/create_wallet', {
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      parameters: {
        walletName: 'Savings',
        accounts: [
          {
            curve: 'CURVE_SECP256K1',
            pathFormat: 'PATH_FORMAT_BIP32',
            path: "m/44'/60'/0'/0/0",
            addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
          },
        ],
      },
    });
    expect(created).toMatchObject({
      status: 200,
      body: { activity: { status: 'ACTIVITY_STATUS_COMPLETED' } },
    });
    await expect(keyhearth.call('/public/v1/query/list_wallets', {})).resolves.toMatchObject({
      status: 200,
      body: { wallets: [{ walletName: 'Savings' }] },
    });
    expect(window?.webContents.sent.map(({ args }) => args[0])).toEqual(
      expect.arrayContaining([
        { kind: 'status' },
        expect.objectContaining({ kind: 'activity', type: 'ACTIVITY_TYPE_CREATE_WALLET' }),
      ]),
    );
    await vi.waitFor(() => {
      expect(tray?.toolTip).toBe('Keyhearth: unlocked');
    });

    await keyhearth.changeMessages({ channel: 'desktop', on: true });
    const asked = await keyhearth.call('/public/v1/submit/init_otp', {
      type: 'ACTIVITY_TYPE_INIT_OTP_V3',
      parameters: { otpType: 'OTP_TYPE_EMAIL', contact: 'ada@example.com', appName: 'Home' },
    });
    expect(asked).toMatchObject({ status: 200 });
    await vi.waitFor(() => {
      expect(electron.machine.notifications).toHaveLength(1);
    });
    const [notification] = electron.machine.notifications;
    const [shown] = await keyhearth.shownMessages();
    expect(notification).toMatchObject({ isShown: true, body: shown?.code });

    electron.machine.screenLocked = true;
    await vi.waitFor(async () => {
      expect(await keyhearth.status()).toMatchObject({ state: 'locked' });
    });
    electron.machine.screenLocked = false;
    await expect(keyhearth.status()).resolves.toMatchObject({ state: 'locked' });
    await vi.waitFor(() => {
      expect(tray?.toolTip).toBe('Keyhearth: locked');
      expect(notification?.isShown).toBe(false);
    });
    await expect(keyhearth.unlock({ with: 'password', password: 'incorrect' })).rejects.toThrow(/password/);
    await expect(keyhearth.unlock({ with: 'password', password })).resolves.toMatchObject({
      state: 'unlocked',
    });
    tray?.menu?.choose('Lock now');
    await expect(keyhearth.status()).resolves.toMatchObject({ state: 'locked' });

    electron.app.quit();
    const log = join(launcher.vault, 'keyhearth.log');
    await vi.waitFor(async () => {
      expect(await readFile(log, 'utf8')).toMatch(
        /info {2}Keyhearth \S+ starts: [^]*The service listens on [^]*unlocked\n[^]*locked\n[^]*info {2}Keyhearth ends\n$/,
      );
    });
    expect((await stat(log)).mode & 0o777).toBe(0o600);
  });

  test('finds its vault again, locked', async () => {
    const first = await launcher.open();
    await createVault(first.keyhearth);
    await launcher.quit(first.electron);
    const second = await launcher.open();
    await expect(second.keyhearth.status()).resolves.toMatchObject({
      state: 'locked',
      organization: { name: 'Home' },
    });
    await expect(second.keyhearth.unlock({ with: 'password', password })).resolves.toMatchObject({
      state: 'unlocked',
    });
  });

  test('stays in the tray without a window, and comes back from there', async () => {
    const { electron } = await launcher.open();
    const { BrowserWindow, machine } = electron;
    const close = async (): Promise<void> => {
      BrowserWindow.getAllWindows()[0]?.close();
      await vi.waitFor(() => {
        expect(BrowserWindow.getAllWindows()).toEqual([]);
      });
    };
    await close();
    expect(machine.ended).toBeUndefined();
    expect(machine.trays[0]?.isDestroyed()).toBe(false);
    // Without a tray, only this notification says so.
    expect(machine.notifications.map(({ title }) => title)).toEqual([
      'Keyhearth keeps running without its window',
    ]);
    machine.trays[0]?.menu?.choose('Open Keyhearth');
    expect(BrowserWindow.getAllWindows()).toHaveLength(1);
    await close();
    expect(machine.notifications).toHaveLength(1);
    machine.trays[0]?.menu?.choose('Open Keyhearth');
    electron.app.emit('activate');
    expect(BrowserWindow.getAllWindows()).toHaveLength(1);
  });

  test('closes the vault once, however often it is asked to quit, and ends', async () => {
    const { electron, keyhearth } = await launcher.open();
    const { machine } = electron;
    const { url } = await keyhearth.status();
    const endpoint = join(launcher.vault, 'endpoint.json');
    expect(existsSync(endpoint)).toBe(true);
    machine.trays[0]?.menu?.choose('Quit Keyhearth');
    electron.app.quit();
    expect(machine.ended).toBeUndefined();
    await launcher.quit(electron);
    expect(machine.ended).toBe(0);
    expect(existsSync(endpoint)).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
    expect(electron.ipcMain.handlers.size).toBe(0);
    expect(machine.trays[0]?.isDestroyed()).toBe(true);
    expect(electron.powerMonitor.listenerCount('suspend')).toBe(0);
  });

  test('shows its window when it is started a second time', async () => {
    const { electron } = await launcher.open();
    const [window] = electron.BrowserWindow.getAllWindows();
    const second = await launcher.launch();
    expect(second.machine.ended).toBe(0);
    await vi.waitFor(() => {
      expect(window?.focused).toBe(1);
    });
    expect(electron.BrowserWindow.getAllWindows()).toHaveLength(1);
  });

  test('has a menu without links', async () => {
    const { electron } = await launcher.open();
    expect(electron.machine.menu?.labels).toEqual(['&File', 'editMenu', 'View', 'windowMenu', 'Help']);
  });
});

// One that is installed has fuses for this; `npm start` runs an Electron without them.
describe('a debugger', () => {
  afterEach(() => {
    close();
    process.removeAllListeners('SIGUSR1');
  });

  test('that the environment or a signal opens does not stay', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    open(0, '127.0.0.1');
    expect(url()).toBeDefined();
    await launcher.open();
    expect(url()).toBeUndefined();
    expect(said.mock.calls.map(([text]) => text)).toContain(
      'a debugger that the environment (NODE_OPTIONS) had opened was closed: through it every user of this computer could read the keys\n',
    );
    // Without a listener, Node opens one.
    if (process.platform !== 'win32') expect(process.listenerCount('SIGUSR1')).toBe(1);
  });

  test('that its arguments name stays', async () => {
    open(0, '127.0.0.1');
    const opened = url();
    await launcher.open(['--port', '0', '--inspect=0']);
    expect(url()).toBe(opened);
  });
});

describe('a start that cannot be', () => {
  beforeEach(() => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  });

  async function failure(electron: Electron): Promise<string> {
    await vi.waitFor(
      () => {
        expect(electron.machine.ended).toBe(1);
      },
      { timeout: 60_000 },
    );
    expect(electron.BrowserWindow.getAllWindows()).toEqual([]);
    expect(electron.machine.dialogs).toHaveLength(1);
    expect(electron.machine.dialogs[0]?.title).toBe('Keyhearth could not start');
    return electron.machine.dialogs[0]?.content ?? '';
  }

  test('names who holds the vault', async () => {
    const { makeConfig } = await import('../../main/app/config.ts');
    const { openVault } = await import('../../main/app/compose.ts');
    const held = openVault(makeConfig({ dataDir: launcher.vault, keychain: false }, {}));
    try {
      const message = await failure(await launcher.launch());
      expect(message).toContain(`is in use by process ${String(process.pid)}`);
      expect(message).toContain(launcher.vault);
    } finally {
      held.close();
    }
  });

  test('is a window of the process that holds the vault, where its owner wants that', async () => {
    const { makeConfig } = await import('../../main/app/config.ts');
    const { startVault } = await import('../../main/app/compose.ts');
    const config = makeConfig({ dataDir: launcher.vault, keychain: false, port: '0' }, {});
    const held = await startVault(config);
    vi.stubEnv('APPIMAGE', '/home/ada/Keyhearth.AppImage');
    vi.stubEnv('APPDIR', dirname(process.execPath));
    let isHeld = true;
    const end = async (): Promise<void> => {
      if (isHeld) await held.close();
      isHeld = false;
    };
    try {
      const electron = await launcher.launch();
      const { machine, BrowserWindow } = electron;
      await vi.waitFor(
        () => {
          expect(BrowserWindow.getAllWindows()[0]?.isVisible()).toBe(true);
        },
        { timeout: 60_000 },
      );
      expect(machine.questions).toMatchObject([
        { message: 'The vault is already in use', buttons: ['Use this window', 'Quit'] },
      ]);
      await import('../../preload/index.ts');
      const keyhearth = machine.mainWorld['keyhearth'] as WindowRpc;
      await createVault(keyhearth);
      expect(held.keyring.unlocked).toBe(true);
      await expect(keyhearth.unlock({ with: 'password', password: 'incorrect' })).rejects.toThrow(
        'The password does not open this vault.',
      );
      await vi.waitFor(() => {
        expect(machine.trays[0]?.toolTip).toBe('Keyhearth: unlocked');
      });
      // That process decides about locking; the owner's actions here apply.
      electron.powerMonitor.emit('suspend');
      expect(held.keyring.unlocked).toBe(true);
      machine.trays[0]?.menu?.choose('Freeze all signing');
      await vi.waitFor(() => {
        expect(machine.trays[0]?.toolTip).toBe('Keyhearth: frozen');
      });
      expect(held.keyring.unlocked).toBe(false);

      await end();
      await vi.waitFor(
        () => {
          expect(machine.ended).toBe(0);
        },
        { timeout: 60_000 },
      );
      expect(machine.questions[1]).toMatchObject({
        message: 'The process that held the vault has ended',
        buttons: ['Open here', 'Quit'],
      });
      // Its program is in a directory that goes with this process.
      expect(machine.relaunches).toEqual([
        { execPath: '/home/ada/Keyhearth.AppImage', args: process.argv.slice(1) },
      ]);
    } finally {
      await end();
    }
  });

  test('ends without a word where its owner leaves the vault to the process that holds it', async () => {
    const { makeConfig } = await import('../../main/app/config.ts');
    const { startVault } = await import('../../main/app/compose.ts');
    const held = await startVault(makeConfig({ dataDir: launcher.vault, keychain: false, port: '0' }, {}));
    try {
      const electron = await launcher.launch(['--port', '0'], ({ machine }) => {
        machine.answers = [1];
      });
      await vi.waitFor(
        () => {
          expect(electron.machine.ended).toBe(0);
        },
        { timeout: 60_000 },
      );
      expect(electron.machine.dialogs).toEqual([]);
    } finally {
      await held.close();
    }
  });

  test('names the port that is taken, and lets go of the vault', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      expect(await failure(await launcher.launch(['--port', String(port)]))).toContain(String(port));
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect(existsSync(join(launcher.vault, 'endpoint.json'))).toBe(false);
    await launcher.open();
  });

  test('names the argument that cannot be used', async () => {
    expect(await failure(await launcher.launch(['--port', 'http']))).toContain('invalid port "http"');
  });

  test('names the version that is too old', async () => {
    Object.defineProperty(process.versions, 'electron', { value: '44.0.0', configurable: true });
    expect(await failure(await launcher.launch())).toBe(
      'Keyhearth needs electron 45 or later; this is electron 44.0.0.',
    );
    expect(existsSync(launcher.vault)).toBe(false);
  });
});
