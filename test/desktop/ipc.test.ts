/** Both ends of the rpc over IPC: the preload script, as the page sees it, and main's handlers. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WindowRpc, VaultEvent } from '../../preload/contract.ts';
import { rpcCalls, channels } from '../../preload/contract.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, BrowserWindow, ipcMain, machine } = await import('./fake-electron.ts');
const { registerScheme, serveScheme } = await import('../../main/desktop/scheme.ts');
const { serveRpc } = await import('../../main/desktop/ipc.ts');
const { showWindow } = await import('../../main/desktop/window.ts');
await import('../../preload/index.ts');

const page = { url: 'keyhearth://app/', parent: null };
const keyhearth = machine.mainWorld['keyhearth'] as WindowRpc;

let directory: string;
let double: RpcDouble;
let served: Disposable;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-ipc-'));
  await writeFile(join(directory, 'index.html'), '__CSP_NONCE__');
  registerScheme();
  becomeReady();
  await serveScheme(directory);
  showWindow();
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

beforeEach(() => {
  double = new RpcDouble();
  served = serveRpc(double);
  machine.clipboard = '';
});

afterEach(() => {
  served[Symbol.dispose]();
});

describe('the page', () => {
  test('sees the preload bridge and nothing else', () => {
    expect(Object.keys(machine.mainWorld)).toEqual(['keyhearth']);
    expect(Object.keys(keyhearth).sort()).toEqual(
      [...rpcCalls, 'copy', 'protectContent', 'chooseBackup', 'saveBackup', 'onEvent'].sort(),
    );
    expect(Object.isFrozen(keyhearth)).toBe(true);
  });

  test('makes every call, with its arguments, and gets its answer', async () => {
    await expect(keyhearth.status()).resolves.toMatchObject({ state: 'unlocked', version: '0.0.0' });
    await expect(keyhearth.newRecoveryPhrase()).resolves.toHaveProperty('phrase');
    const vault = { organizationName: 'Home', userName: 'Ada', useKeychain: true, confirmedWords: [] };
    await keyhearth.create(vault);
    await keyhearth.unlock({ with: 'password', password: 'correct horse' });
    await expect(keyhearth.lock()).resolves.toMatchObject({ state: 'locked' });
    await expect(keyhearth.call('/public/v1/query/whoami', { a: [1, { b: null }] })).resolves.toEqual({
      status: 200,
      body: {},
    });
    expect(double.asked).toEqual([
      { name: 'status', args: [] },
      { name: 'newRecoveryPhrase', args: [] },
      { name: 'create', args: [vault] },
      { name: 'unlock', args: [{ with: 'password', password: 'correct horse' }] },
      { name: 'lock', args: [] },
      { name: 'call', args: ['/public/v1/query/whoami', { a: [1, { b: null }] }] },
    ]);
  });

  test('reads a refusal in its own words, without a prefix of Electron’s', async () => {
    double.failure = new KeyhearthError('INVALID_ARGUMENT', 'The password is wrong.');
    await expect(keyhearth.unlock({ with: 'keychain' })).rejects.toThrow(/^The password is wrong[.]$/);
  });

  test('sees nothing of a fault; the log does', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    double.failure = new Error('disk I/O error at /home/ada/vault.db');
    await expect(keyhearth.status()).rejects.toThrow(/^Something went wrong in Keyhearth/);
    expect(log).toHaveBeenCalledWith(expect.stringContaining(double.failure.message));
    log.mockRestore();
  });

  test('copies text through main', async () => {
    await keyhearth.copy('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045');
    expect(machine.clipboard).toBe('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045');
  });

  test('a secret is taken off the clipboard after half a minute, unless something else is there', async () => {
    vi.useFakeTimers();
    try {
      await keyhearth.copy('a seed phrase', { secret: true });
      await vi.advanceTimersByTimeAsync(29_999);
      expect(machine.clipboard).toBe('a seed phrase');
      await vi.advanceTimersByTimeAsync(1);
      expect(machine.clipboard).toBe('');

      await keyhearth.copy('a seed phrase', { secret: true });
      machine.clipboard = 'another program’s';
      await vi.advanceTimersByTimeAsync(60_000);
      expect(machine.clipboard).toBe('another program’s');

      await keyhearth.copy('a seed phrase', { secret: true });
      await keyhearth.copy('an address');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(machine.clipboard).toBe('an address');

      await keyhearth.copy('a seed phrase', { secret: true });
      served[Symbol.dispose]();
      await vi.advanceTimersByTimeAsync(0);
      expect(machine.clipboard).toBe('');
    } finally {
      vi.useRealTimers();
    }
  });

  test('keeps the window out of pictures of the screen, and accepts only a boolean for it', async () => {
    const [window] = BrowserWindow.getAllWindows();
    await keyhearth.protectContent(true);
    expect(window?.protected).toBe(true);
    await keyhearth.protectContent(false);
    expect(window?.protected).toBe(false);
    await expect(keyhearth.protectContent('yes' as never)).rejects.toThrow(/^on: expected true or false/);
  });

  test('names a file that was chosen by its path, so that nothing of it crosses', async () => {
    const file = new File(['whatever'], 'family.backup');
    await expect(keyhearth.chooseBackup(file)).resolves.toMatchObject({
      file: '/chosen/family.backup',
      name: 'family.backup',
    });
    expect(double.asked).toEqual([{ name: 'lookAtBackup', args: ['/chosen/family.backup'] }]);
  });

  test('has a copy of a backup saved where the person says, whole or not at all', async () => {
    const file = join(directory, 'made.backup');
    await writeFile(file, 'sealed');
    double.copy = { file, name: 'keyhearth-Family.backup' };
    machine.paths.set('downloads', directory);
    machine.savedTo = undefined;
    await expect(keyhearth.saveBackup('an id')).resolves.toBe(null);
    expect(machine.saves.at(-1)).toMatchObject({ defaultPath: join(directory, 'keyhearth-Family.backup') });
    const target = join(directory, 'copy.backup');
    await writeFile(target, 'an older one, of more bytes');
    machine.savedTo = target;
    await expect(keyhearth.saveBackup('an id')).resolves.toBe(target);
    expect(await readFile(target, 'utf8')).toBe('sealed');
    machine.savedTo = file;
    await expect(keyhearth.saveBackup('an id')).resolves.toBe(file);
    expect(await readFile(file, 'utf8')).toBe('sealed');
    machine.savedTo = join(directory, 'nowhere', 'copy.backup');
    await expect(keyhearth.saveBackup('an id')).rejects.toThrow(
      /^copy[.]backup could not be written: there is no such file or directory$/,
    );
    const left = (await readdir(directory)).filter((name) => name.endsWith('.draft'));
    expect(left).toEqual([]);
    double.failure = new KeyhearthError('VAULT_LOCKED', 'The vault is locked.');
    await expect(keyhearth.saveBackup('an id')).rejects.toThrow(/^The vault is locked[.]$/);
    await expect(keyhearth.saveBackup(7 as never)).rejects.toThrow(/^id: expected a text, got 7$/);
  });

  test.each([undefined, 7, ['text'], 'x'.repeat(1_000_001)])(
    'does not copy values that are not text',
    async (text) => {
      await expect(keyhearth.copy(text as string)).rejects.toThrow(
        /^text: expected at most 1000000 characters$/,
      );
      expect(machine.clipboard).toBe('');
    },
  );

  test('hears events until it stops listening, and sees nothing of Electron in them', () => {
    const heard: unknown[][] = [];
    const stop = keyhearth.onEvent((...args: VaultEvent[]) => heard.push(args));
    double.announce({ kind: 'status' });
    double.announce({ kind: 'activity', id: '1', type: 'T', status: 'S' });
    stop();
    double.announce({ kind: 'status' });
    expect(heard).toEqual([[{ kind: 'status' }], [{ kind: 'activity', id: '1', type: 'T', status: 'S' }]]);
  });
});

describe('main', () => {
  const refused = { error: { message: 'Only the Keyhearth window may ask.' } };

  test.each([
    ['another origin', { url: 'https://example.com/', parent: null }],
    ['an origin that begins like ours', { url: 'keyhearth://app.example/', parent: null }],
    ['another path of ours', { url: 'keyhearth://app/assets/index.html', parent: null }],
    ['an empty page', { url: 'about:blank', parent: null }],
    ['a frame in the page', { url: 'keyhearth://app/', parent: page }],
    ['a frame that is gone', null],
  ])('refuses %s', async (_name, frame) => {
    await expect(ipcMain.invoke(frame, channels.call, 'status', [])).resolves.toEqual(refused);
    await expect(ipcMain.invoke(frame, channels.copy, 'text')).resolves.toEqual(refused);
    expect(double.asked).toEqual([]);
    expect(machine.clipboard).toBe('');
  });

  test.each(['onEvent', 'copy', 'constructor', '__proto__', 'toString', 'announce', '', 7, null, ['status']])(
    'knows no call %j',
    async (name) => {
      await expect(ipcMain.invoke(page, channels.call, name, [])).resolves.toEqual({
        error: {
          message: expect.stringMatching(/^call: expected one of status, .*, got /) as unknown,
        },
      });
      expect(double.asked).toEqual([]);
    },
  );

  test.each([undefined, null, 'text', { length: 0 }])('accepts no arguments from %j', async (args) => {
    await expect(ipcMain.invoke(page, channels.call, 'status', args)).resolves.toEqual({
      error: { message: expect.stringMatching(/^arguments: expected an array, got /) as unknown },
    });
    expect(double.asked).toEqual([]);
  });

  test('has four channels, and none once it is closed', () => {
    expect([...ipcMain.handlers.keys()].sort()).toEqual(
      [channels.call, channels.copy, channels.protect, channels.save].sort(),
    );
    expect(double.listeners).toBe(1);
    served[Symbol.dispose]();
    expect(ipcMain.handlers.size).toBe(0);
    expect(double.listeners).toBe(0);
  });
});
