/** The whole application on a stand-in for Electron: the real entry, the real vault on disk, the real preload script. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bridge } from '../../preload/contract.ts';
import type * as fakeElectron from './fake-electron.ts';

type Electron = typeof fakeElectron;

const projectRoot = join(import.meta.dirname, '../..');
const password = 'correct horse battery staple';

let directory: string;
let running: Electron[] = [];
let setArgv: readonly string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-app-'));
  setArgv = process.argv;
  // Without a session bus there is no keychain to reach; a developer's own stays untouched.
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', undefined);
  vi.stubEnv('XDG_RUNTIME_DIR', undefined);
  Object.defineProperty(process.versions, 'electron', { value: '45.4.1', configurable: true });
});

afterEach(async () => {
  for (const electron of running) await quit(electron);
  running = [];
  process.argv = [...setArgv];
  Reflect.deleteProperty(process.versions, 'electron');
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

/** Loads the entry as Electron does, in a copy of everything of its own, and comes to `ready` after it. */
async function launch(
  argv: readonly string[] = ['--port', '0'],
  prepare: (electron: Electron) => void = () => undefined,
): Promise<Electron> {
  vi.resetModules();
  // Resetting leaves a mocked module as it is; mocking it again makes a new one.
  vi.doMock('electron', () => import('./fake-electron.ts'));
  const electron = await import('./fake-electron.ts');
  running.push(electron);
  electron.machine.appPath = projectRoot;
  prepare(electron);
  process.argv = [
    'electron',
    projectRoot,
    '--data-dir',
    vaultDirectory(),
    '--config-dir',
    directory,
    ...argv,
  ];
  await import('../../main/index.ts');
  if (electron.machine.ended === undefined) electron.becomeReady();
  return electron;
}

/** Launches, and waits for the page. */
async function open(): Promise<{ electron: Electron; latchkey: Bridge }> {
  const electron = await launch();
  const { BrowserWindow, machine } = electron;
  const isVisible = (): boolean => BrowserWindow.getAllWindows()[0]?.isVisible() ?? false;
  await vi.waitUntil(() => isVisible() || machine.ended !== undefined, { timeout: 60_000 });
  expect(machine.dialogs).toEqual([]);
  await import('../../preload/index.ts');
  return { electron, latchkey: electron.machine.mainWorld['latchkey'] as Bridge };
}

async function quit(electron: Electron): Promise<void> {
  if (electron.machine.ended === undefined) electron.app.quit();
  await vi.waitFor(
    () => {
      expect(electron.machine.ended).toBeDefined();
    },
    { timeout: 60_000 },
  );
}

const vaultDirectory = (): string => join(directory, 'vault');

async function createVault(latchkey: Bridge): Promise<void> {
  const words = (await latchkey.newRecoveryPhrase()).phrase.split(' ');
  const confirmedWords = [1, 12, 24].map((position) => ({ position, word: words[position - 1] ?? '' }));
  const vault = { organizationName: 'Home', userName: 'Ada', useKeychain: false, password, confirmedWords };
  await expect(latchkey.create(vault)).resolves.toMatchObject({
    state: 'unlocked',
    keyslots: expect.any(Array) as unknown,
  });
}

describe('the application', () => {
  test('makes a vault, works in it, and locks it when the screen locks', async () => {
    const { electron, latchkey } = await open();
    expect(electron.machine.sandboxed).toBe(true);
    expect(electron.machine.paths.get('userData')).toBe(join(vaultDirectory(), 'window'));
    expect((await stat(vaultDirectory())).mode & 0o777).toBe(0o700);
    const [tray] = electron.machine.trays;
    const [window] = electron.BrowserWindow.getAllWindows();
    expect(tray?.toolTip).toBe('Latchkey: no vault yet');
    await expect(latchkey.lock()).rejects.toThrow(/there is no vault yet/);

    await createVault(latchkey);
    const created = await latchkey.call('/public/v1/submit/create_wallet', {
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
    await expect(latchkey.call('/public/v1/query/list_wallets', {})).resolves.toMatchObject({
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
      expect(tray?.toolTip).toBe('Latchkey: unlocked');
    });

    await latchkey.changeMessages({ channel: 'desktop', on: true });
    const asked = await latchkey.call('/public/v1/submit/init_otp', {
      type: 'ACTIVITY_TYPE_INIT_OTP_V3',
      parameters: { otpType: 'OTP_TYPE_EMAIL', contact: 'ada@example.com', appName: 'Home' },
    });
    expect(asked).toMatchObject({ status: 200 });
    await vi.waitFor(() => {
      expect(electron.machine.notifications).toHaveLength(1);
    });
    const [notification] = electron.machine.notifications;
    const [shown] = await latchkey.shownMessages();
    expect(notification).toMatchObject({ isShown: true, body: shown?.code });

    electron.powerMonitor.emit('lock-screen');
    await expect(latchkey.status()).resolves.toMatchObject({ state: 'locked' });
    await vi.waitFor(() => {
      expect(tray?.toolTip).toBe('Latchkey: locked');
      expect(notification?.isShown).toBe(false);
    });
    await expect(latchkey.unlock({ with: 'password', password: 'incorrect' })).rejects.toThrow(/password/);
    await expect(latchkey.unlock({ with: 'password', password })).resolves.toMatchObject({
      state: 'unlocked',
    });
    tray?.menu?.choose('Lock now');
    await expect(latchkey.status()).resolves.toMatchObject({ state: 'locked' });
  });

  test('finds its vault again, locked', async () => {
    const first = await open();
    await createVault(first.latchkey);
    await quit(first.electron);
    const second = await open();
    await expect(second.latchkey.status()).resolves.toMatchObject({
      state: 'locked',
      organization: { name: 'Home' },
    });
    await expect(second.latchkey.unlock({ with: 'password', password })).resolves.toMatchObject({
      state: 'unlocked',
    });
  });

  test('stays in the tray without a window, and comes back from there', async () => {
    const { electron } = await open();
    const { BrowserWindow, machine } = electron;
    BrowserWindow.getAllWindows()[0]?.closeByHand();
    expect(BrowserWindow.getAllWindows()).toEqual([]);
    expect(machine.ended).toBeUndefined();
    expect(machine.trays[0]?.isDestroyed()).toBe(false);
    // Where the tray is not shown, this is all that says so.
    expect(machine.notifications.map(({ title }) => title)).toEqual(['Latchkey goes on without its window']);
    machine.trays[0]?.menu?.choose('Open Latchkey');
    expect(BrowserWindow.getAllWindows()).toHaveLength(1);
    BrowserWindow.getAllWindows()[0]?.closeByHand();
    expect(machine.notifications).toHaveLength(1);
    machine.trays[0]?.menu?.choose('Open Latchkey');
    electron.app.emit('activate');
    expect(BrowserWindow.getAllWindows()).toHaveLength(1);
  });

  test('closes the vault once, however often it is asked to quit, and ends', async () => {
    const { electron, latchkey } = await open();
    const { machine } = electron;
    const { url } = await latchkey.status();
    const endpoint = join(vaultDirectory(), 'endpoint.json');
    expect(existsSync(endpoint)).toBe(true);
    machine.trays[0]?.menu?.choose('Quit Latchkey');
    electron.app.quit();
    expect(machine.ended).toBeUndefined();
    await quit(electron);
    expect(machine.ended).toBe(0);
    expect(existsSync(endpoint)).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
    expect(electron.ipcMain.handlers.size).toBe(0);
    expect(machine.trays[0]?.isDestroyed()).toBe(true);
    expect(electron.powerMonitor.listenerCount('suspend')).toBe(0);
  });

  test('shows its window when it is started a second time', async () => {
    const { electron } = await open();
    const [window] = electron.BrowserWindow.getAllWindows();
    electron.app.emit('second-instance', new electron.FakeEvent(), ['latchkey'], '/', {});
    expect(window?.focused).toBe(1);
    expect(electron.BrowserWindow.getAllWindows()).toHaveLength(1);
  });

  test('has a menu without links', async () => {
    const { electron } = await open();
    expect(electron.machine.menu?.labels).toEqual(['&File', 'editMenu', 'View', 'windowMenu', 'Help']);
  });
});

describe('a start that cannot be', () => {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockReturnValue(undefined);
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
    expect(electron.machine.dialogs[0]?.title).toBe('Latchkey could not start');
    return electron.machine.dialogs[0]?.content ?? '';
  }

  test('is no start at all where an instance runs already', async () => {
    const electron = await launch(['--port', '0'], ({ machine }) => {
      machine.secondInstance = true;
    });
    expect(electron.machine.ended).toBe(0);
    expect(electron.machine.dialogs).toEqual([]);
    expect(existsSync(join(vaultDirectory(), 'vault.db'))).toBe(false);
  });

  test('names who holds the vault', async () => {
    const { makeConfig } = await import('../../main/config.ts');
    const { openVault } = await import('../../main/vault.ts');
    const held = openVault(makeConfig({ dataDir: vaultDirectory(), keychain: false }, {}));
    try {
      const message = await failure(await launch());
      expect(message).toContain(`is in use by process ${String(process.pid)}`);
      expect(message).toContain(vaultDirectory());
    } finally {
      held.close();
    }
  });

  test('is a window of the process that holds the vault, where its owner wants that', async () => {
    const { makeConfig } = await import('../../main/config.ts');
    const { startVault } = await import('../../main/vault.ts');
    const config = makeConfig({ dataDir: vaultDirectory(), keychain: false, port: '0' }, {});
    const held = await startVault(config);
    let isHeld = true;
    const end = async (): Promise<void> => {
      if (isHeld) await held.close();
      isHeld = false;
    };
    try {
      const electron = await launch();
      const { machine, BrowserWindow } = electron;
      await vi.waitFor(
        () => {
          expect(BrowserWindow.getAllWindows()[0]?.isVisible()).toBe(true);
        },
        { timeout: 60_000 },
      );
      expect(machine.questions).toMatchObject([
        { message: 'The vault is in use already', buttons: ['Use it from this window', 'Quit'] },
      ]);
      await import('../../preload/index.ts');
      const latchkey = machine.mainWorld['latchkey'] as Bridge;
      await createVault(latchkey);
      expect(held.keyring.unlocked).toBe(true);
      await expect(latchkey.unlock({ with: 'password', password: 'incorrect' })).rejects.toThrow(
        'The password does not open this vault.',
      );
      await vi.waitFor(() => {
        expect(machine.trays[0]?.toolTip).toBe('Latchkey: unlocked');
      });
      // What locks it is that process's business; what its owner presses here, theirs.
      electron.powerMonitor.emit('suspend');
      expect(held.keyring.unlocked).toBe(true);
      machine.trays[0]?.menu?.choose('Freeze all signing');
      await vi.waitFor(() => {
        expect(machine.trays[0]?.toolTip).toBe('Latchkey: frozen');
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
        buttons: ['Open it here', 'Quit'],
      });
      expect(machine.relaunches).toBe(1);
    } finally {
      await end();
    }
  });

  test('ends without a word where its owner leaves the vault to the process that holds it', async () => {
    const { makeConfig } = await import('../../main/config.ts');
    const { startVault } = await import('../../main/vault.ts');
    const held = await startVault(makeConfig({ dataDir: vaultDirectory(), keychain: false, port: '0' }, {}));
    try {
      const electron = await launch(['--port', '0'], ({ machine }) => {
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
      expect(await failure(await launch(['--port', String(port)]))).toContain(String(port));
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect(existsSync(join(vaultDirectory(), 'endpoint.json'))).toBe(false);
    await open();
  });

  test('names the argument that cannot be used', async () => {
    expect(await failure(await launch(['--port', 'http']))).toContain('invalid port "http"');
  });

  test('names the version that is too old', async () => {
    Object.defineProperty(process.versions, 'electron', { value: '44.0.0', configurable: true });
    expect(await failure(await launch())).toBe(
      'Latchkey needs electron 45 or later; this is electron 44.0.0.',
    );
    expect(existsSync(vaultDirectory())).toBe(false);
  });
});
