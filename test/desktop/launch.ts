/** Starts the whole application on the stand-in for Electron, as Electron would: the real entry, and the real vault on disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { WindowRpc } from '../../preload/contract.ts';
import type * as fakeElectron from './fake-electron.ts';

export type Electron = typeof fakeElectron;

const projectRoot = join(import.meta.dirname, '../..');

export const password = 'correct horse battery staple';

/** A home for applications that run one after another, or at once. */
export class Launcher {
  readonly directory: string;
  readonly vault: string;
  readonly #argv: readonly string[] = process.argv;
  readonly #running: Electron[] = [];

  private constructor(directory: string) {
    this.directory = directory;
    this.vault = join(directory, 'vault');
  }

  static async create(): Promise<Launcher> {
    // Without a session bus there is no keychain to reach; a developer's own stays untouched.
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', undefined);
    vi.stubEnv('XDG_RUNTIME_DIR', undefined);
    vi.stubEnv('DBUS_SYSTEM_BUS_ADDRESS', 'unix:path=/nowhere/bus');
    Object.defineProperty(process.versions, 'electron', { value: '45.4.1', configurable: true });
    return new Launcher(await mkdtemp(join(tmpdir(), 'keyhearth-app-')));
  }

  /** Loads the entry as Electron does, in a copy of everything of its own, and comes to `ready` after it. */
  async launch(
    argv: readonly string[] = ['--port', '0'],
    prepare: (electron: Electron) => void = () => undefined,
  ): Promise<Electron> {
    vi.resetModules();
    // Resetting leaves a mocked module as it is; mocking it again makes a new one.
    vi.doMock('electron', () => import('./fake-electron.ts'));
    const electron = await import('./fake-electron.ts');
    this.#running.push(electron);
    const { machine } = electron;
    machine.appPath = projectRoot;
    for (const name of ['appData', 'home']) machine.paths.set(name, this.directory);
    prepare(electron);
    process.argv = [
      'electron',
      ...(machine.packaged ? [] : [projectRoot]),
      ...['--data-dir', this.vault, '--config-dir', this.directory],
      ...argv,
    ];
    await import('../../main/index.ts');
    if (machine.ended === undefined) electron.becomeReady();
    return electron;
  }

  /** Launches, and waits for the page. */
  async open(
    argv?: readonly string[],
    prepare?: (electron: Electron) => void,
  ): Promise<{ electron: Electron; keyhearth: WindowRpc }> {
    const electron = await this.launch(argv, prepare);
    const { BrowserWindow, machine } = electron;
    const isVisible = (): boolean => BrowserWindow.getAllWindows()[0]?.isVisible() ?? false;
    await vi.waitUntil(() => isVisible() || machine.ended !== undefined, { timeout: 60_000 });
    expect(machine.dialogs).toEqual([]);
    await import('../../preload/index.ts');
    return { electron, keyhearth: machine.mainWorld['keyhearth'] as WindowRpc };
  }

  async quit(electron: Electron): Promise<void> {
    if (electron.machine.ended === undefined) electron.app.quit();
    await hasEnded(electron);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const electron of this.#running) await this.quit(electron);
    process.argv = [...this.#argv];
    Reflect.deleteProperty(process.versions, 'electron');
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await rm(this.directory, { recursive: true });
  }
}

export async function hasEnded({ machine }: Electron, code?: number): Promise<void> {
  await vi.waitFor(
    () => {
      expect(machine.ended).toBeDefined();
    },
    { timeout: 60_000 },
  );
  if (code !== undefined) expect(machine.ended).toBe(code);
}

export async function createVault(keyhearth: WindowRpc): Promise<void> {
  const words = (await keyhearth.newRecoveryPhrase()).phrase.split(' ');
  const confirmedWords = [1, 12, 24].map((position) => ({ position, word: words[position - 1] ?? '' }));
  const vault = { organizationName: 'Home', userName: 'Ada', useKeychain: false, password, confirmedWords };
  await expect(keyhearth.create(vault)).resolves.toMatchObject({
    state: 'unlocked',
    keyslots: expect.any(Array) as unknown,
  });
}
