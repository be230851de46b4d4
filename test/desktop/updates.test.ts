/** Updates by consent: what electron-updater itself takes from a server, and what a person is asked before. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import electronUpdater from 'electron-updater';
import type { AppUpdater } from 'electron-updater';
import { ElectronHttpExecutor } from 'electron-updater/out/electronHttpExecutor.js';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  test,
  vi,
  type MockInstance,
} from 'vitest';
import { signUpdateMetadata } from '../../main/lib/update-signature.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { app, becomeReady, BrowserWindow, machine } = await import('./fake-electron.ts');
const { findUpdateFeed, Updates } = await import('../../main/desktop/updates/updates.ts');
const { followFeed } = await import('../../main/desktop/updates/update-provider.ts');

/** electron-updater's downloads, through Node's network in the place of Electron's. */
class NodeExecutor extends ElectronHttpExecutor {
  override createRequest(options: RequestOptions, callback: (response: IncomingMessage) => void) {
    // Electron's has two methods more, of which nothing here makes use.
    return request({ ...options, agent: false }, callback) as unknown as Electron.ClientRequest;
  }
}

const rawHex = (key: { export(options: { format: 'jwk' }): { x?: string; d?: string } }, part: 'x' | 'd') =>
  Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url').toString('hex');

function newKey(): { readonly publicKey: string; readonly privateKey: string } {
  const pair = generateKeyPairSync('ed25519');
  return { publicKey: rawHex(pair.publicKey, 'x'), privateKey: rawHex(pair.privateKey, 'd') };
}

const ours = newKey();
const theirs = newKey();
const name = process.arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${process.arch}.yml`;
const installer = Buffer.from('the new Keyhearth');

let directory: string;
let released: MockInstance;
const files = new Map<string, string | Buffer>();
const requests: IncomingMessage[] = [];
const server = createServer((incoming, response) => {
  requests.push(incoming);
  const file = files.get(String(incoming.url).slice('/releases/'.length));
  response.writeHead(file === undefined ? 404 : 200);
  response.end(file);
});
const address = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/releases`;

beforeAll(async () => {
  becomeReady();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  server.close();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-updates-'));
  machine.paths.set('userData', directory);
  machine.version = '1.2.0';
  machine.questions = [];
  machine.answers = [];
  machine.dialogs = [];
  released = vi.spyOn(app, 'releaseSingleInstanceLock');
  files.clear();
  requests.length = 0;
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

interface Release {
  readonly version?: string;
  readonly file?: string;
  readonly content?: Buffer;
  readonly key?: string;
  /** The name that the signature is of. */
  readonly signedAs?: string;
}

/** Puts a release on the server, as the workflow does. */
function publish({
  version = '1.3.0',
  file = `keyhearth-${version}-linux.deb`,
  content = installer,
  key = ours.privateKey,
  signedAs = name,
}: Release = {}): void {
  const sha512 = createHash('sha512').update(installer).digest('base64');
  const text = [
    `version: ${version}`,
    'files:',
    `  - url: ${file}`,
    `    sha512: ${sha512}`,
    `    size: ${String(installer.length)}`,
    `path: ${file}`,
    `sha512: ${sha512}`,
    "releaseDate: '2026-11-01T00:00:00.000Z'",
    '',
  ].join('\n');
  files.set(name, text);
  files.set(`${name}.sig`, signUpdateMetadata(key, signedAs, text));
  files.set(file, content);
}

/** The updater of a Debian package, with the application that it asks made up. */
function newUpdater(): AppUpdater {
  const configuration = join(directory, 'app-update.yml');
  writeFileSync(configuration, 'updaterCacheDirName: keyhearth-updater\n');
  const updater = new electronUpdater.DebUpdater(null, {
    version: machine.version,
    name: 'keyhearth',
    isPackaged: true,
    appUpdateConfigPath: configuration,
    userDataPath: directory,
    baseCachePath: directory,
    whenReady: () => Promise.resolve(),
    onQuit: () => undefined,
    quit: () => undefined,
    relaunch: () => undefined,
  });
  Object.assign(updater, { httpExecutor: new NodeExecutor(), logger: null });
  return updater;
}

function follow(publicKey = ours.publicKey): AppUpdater {
  const updater = newUpdater();
  updater.on('error', () => undefined);
  followFeed(updater, { url: address(), publicKey });
  return updater;
}

const paths = (): string[] => requests.map(({ url }) => String(url));

describe('electron-updater', () => {
  test('takes what the key signed, and a file whose hash is in it', async () => {
    publish();
    const updater = follow();
    const found = await updater.checkForUpdates();
    expect(found).toMatchObject({ isUpdateAvailable: true, updateInfo: { version: '1.3.0' } });
    // It fetches nothing by itself.
    expect(paths().sort()).toEqual([`/releases/${name}`, `/releases/${name}.sig`]);
    const [file = ''] = await updater.downloadUpdate();
    expect(readFileSync(file)).toEqual(installer);
  });

  test('tells the server nothing of who asks', async () => {
    publish();
    const updater = follow();
    await updater.checkForUpdates();
    await updater.downloadUpdate();
    expect(requests).toHaveLength(3);
    for (const { url, headers } of requests) {
      expect(url).not.toContain('?');
      const told = JSON.stringify(headers);
      expect(told).not.toContain(machine.version);
      expect(Object.keys(headers).filter((header) => /^x-|cookie/.test(header))).toEqual([]);
    }
  });

  test.each<[string, Release]>([
    ['another key signed', { key: theirs.privateKey }],
    ['was signed for another system', { signedAs: 'latest-mac.yml' }],
  ])('takes nothing that %s', async (_, release) => {
    publish(release);
    await expect(follow().checkForUpdates()).rejects.toThrow('is not signed by the key');
  });

  test.each(['', 'x', Buffer.alloc(64).toString('base64')])(
    'takes nothing with the signature %j',
    async (text) => {
      publish();
      files.set(`${name}.sig`, text);
      await expect(follow().checkForUpdates()).rejects.toThrow('is not signed by the key');
    },
  );

  test('takes nothing whose metadata was changed by a byte', async () => {
    publish();
    files.set(name, String(files.get(name)).replace('1.3.0', '1.3.1'));
    await expect(follow().checkForUpdates()).rejects.toThrow('is not signed by the key');
  });

  test('refuses an older version, though it was signed, and has no use for the same one', async () => {
    publish({ version: '1.1.9' });
    await expect(follow().checkForUpdates()).rejects.toThrow('1.1.9, older than this one, 1.2.0');
    publish({ version: '1.2.0' });
    expect(await follow().checkForUpdates()).toMatchObject({ isUpdateAvailable: false });
    publish({ version: '1.2.0-rc.1' });
    await expect(follow().checkForUpdates()).rejects.toThrow('older than this one');
  });

  test.each(['https://elsewhere.example/x.deb', '../x.deb', '/x.deb', '//elsewhere.example/x.deb'])(
    'fetches nothing from %s',
    async (file) => {
      publish({ file });
      await expect(follow().checkForUpdates()).rejects.toThrow('expected a name beside its metadata');
    },
  );

  test('refuses a file that is not the signed one', async () => {
    publish({ content: Buffer.from('another Keyhearth') });
    const updater = follow();
    await updater.checkForUpdates();
    await expect(updater.downloadUpdate()).rejects.toThrow('sha512 checksum mismatch');
  });

  test('fails where the server does not have it', async () => {
    publish();
    files.delete(`${name}.sig`);
    await expect(follow().checkForUpdates()).rejects.toThrow('404');
  });
});

describe('a person', () => {
  let network: boolean;
  let closed: number;
  let updater: AppUpdater;
  let installs: number;
  let updates: InstanceType<typeof Updates>;

  beforeEach(() => {
    network = true;
    closed = 0;
    installs = 0;
    updater = newUpdater();
    vi.spyOn(updater, 'quitAndInstall').mockImplementation(() => {
      expect(closed).toBe(1);
      expect(released).toHaveBeenCalledOnce();
      installs += 1;
    });
    updates = new Updates({
      feed: { url: address(), publicKey: ours.publicKey },
      networkAllowed: () => Promise.resolve(network),
      close: () => {
        closed += 1;
        return Promise.resolve();
      },
      updater: () => Promise.resolve(updater),
    });
  });
  afterEach(() => {
    updates[Symbol.dispose]();
  });

  const asked = (): string[] => machine.questions.map(({ message }) => message);

  test('is asked twice before anything is installed, and the vault is closed first', async () => {
    publish();
    const window = new BrowserWindow();
    const download = updater.downloadUpdate.bind(updater);
    vi.spyOn(updater, 'downloadUpdate').mockImplementation((token) => {
      const sizes = { total: 2, delta: 1, transferred: 1, bytesPerSecond: 1 };
      updater.emit('download-progress', { ...sizes, percent: 50 });
      return download(token);
    });
    await updates.lookNow();
    // Shown meanwhile, and hidden at the end.
    expect(window.progress).toContain(0.5);
    expect(window.progress.at(-1)).toBe(-1);
    window.destroy();
    expect(asked()).toEqual(['Keyhearth 1.3.0 is available', 'Keyhearth 1.3.0 is ready to install']);
    expect({ closed, installs }).toEqual({ closed: 1, installs: 1 });
  });

  test('who says no gets nothing, neither at first nor at last', async () => {
    publish();
    machine.answers = [1];
    await updates.lookNow();
    expect(paths()).toHaveLength(2);
    machine.answers = [0, 1];
    await updates.lookNow();
    expect(asked()).toHaveLength(3);
    expect({ closed, installs }).toEqual({ closed: 0, installs: 0 });
  });

  test('who chose nothing is never asked, and no server either', async () => {
    publish();
    expect(updates.choice.read()).toBe('off');
    await updates.lookWhenDue();
    expect(requests).toEqual([]);
    expect(asked()).toEqual([]);
  });

  test('who chose to be asked is, once a day, and once for a version', async () => {
    publish();
    machine.answers = [1, 1];
    let now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    await updates.choice.write('ask');
    expect(updates.choice.read()).toBe('ask');
    await expect.poll(asked).toEqual(['Keyhearth 1.3.0 is available']);
    await expect.poll(() => requests.length).toBe(2);
    await updates.lookWhenDue();
    expect(requests).toHaveLength(2);
    now += 25 * 60 * 60_000;
    await updates.lookWhenDue();
    expect(requests).toHaveLength(4);
    expect(asked()).toHaveLength(1);
    await updates.choice.write('off');
    now += 25 * 60 * 60_000;
    await updates.lookWhenDue();
    expect(requests).toHaveLength(4);
  });

  test('with the network off, checking reports so, and no server is contacted', async () => {
    publish();
    network = false;
    await updates.choice.write('ask');
    await updates.lookWhenDue();
    await updates.lookNow();
    expect(requests).toEqual([]);
    expect(asked()).toEqual(['Keyhearth did not check for updates']);
  });

  test('where there is no network no server is asked, and one is as soon as there is', async () => {
    publish();
    machine.online = false;
    await updates.choice.write('ask');
    await updates.lookWhenDue();
    expect(asked()).toEqual([]);
    await updates.lookNow();
    expect(requests).toEqual([]);
    expect(machine.questions[0]?.detail).toMatch(/^This computer is offline/);
    // One that leads nowhere is none.
    machine.online = true;
    const all = new Map(files);
    files.clear();
    await updates.lookWhenDue();
    expect(asked()).toHaveLength(1);
    for (const [path, file] of all) files.set(path, file);
    machine.answers = [1];
    await updates.lookWhenDue();
    expect(asked()[1]).toBe('Keyhearth 1.3.0 is available');
  });

  test('hears of a refused update in any case, and of a server that is away only after asking', async () => {
    publish({ key: theirs.privateKey });
    await updates.choice.write('ask');
    await expect.poll(asked).toEqual(['Keyhearth refused an update']);
    expect(machine.questions[0]?.detail).toContain('not signed by the key');
    files.clear();
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * 60 * 60_000);
    await updates.lookWhenDue();
    expect(asked()).toHaveLength(1);
    await updates.lookNow();
    expect(asked()[1]).toBe('Couldn’t check for updates');
  });

  test('who has the newest hears so', async () => {
    publish({ version: '1.2.0' });
    await updates.lookNow();
    expect(asked()).toEqual(['Keyhearth is up to date']);
  });
});

describe('a build', () => {
  const write = (content: object): void => {
    machine.appPath = directory;
    writeFileSync(join(directory, 'package.json'), JSON.stringify(content));
  };
  afterEach(() => {
    machine.packaged = false;
  });

  test('gets no updates before it has a key and a place, and says which is missing', () => {
    write({});
    expect(findUpdateFeed(ours.publicKey)).toEqual({ obstacle: expect.stringContaining('source') as string });
    machine.packaged = true;
    expect(app.isPackaged).toBe(true);
    expect(findUpdateFeed(ours.publicKey)).toEqual({
      obstacle: expect.stringContaining('no update server') as string,
    });
    write({ updateUrl: 'https://updates.example/latest' });
    expect(findUpdateFeed(null)).toEqual({
      obstacle: expect.stringContaining('no key to check updates') as string,
    });
    expect(findUpdateFeed(ours.publicKey)).toEqual({
      url: 'https://updates.example/latest',
      publicKey: ours.publicKey,
    });
    write({ updateUrl: 'http://updates.example/latest' });
    expect(findUpdateFeed(ours.publicKey)).toEqual({
      obstacle: expect.stringContaining('does not use https') as string,
    });
  });
});
