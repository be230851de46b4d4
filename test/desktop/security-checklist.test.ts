/**
 * Electron's own security checklist (https://www.electronjs.org/docs/latest/tutorial/security), point by point, against the
 * application as it is: the entry's window and guards on the stand-in, the built page, the packaging's settings. What a point
 * needs in depth has a test of its own, which its line names.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

vi.mock('electron', () => import('./fake-electron.ts'));

const { app, becomeReady, BrowserWindow, FakeEvent, ipcMain, machine, protocol, session } =
  await import('./fake-electron.ts');
const { restrictAllContents: guardAllContents, restrictSession: guardSession } =
  await import('../../main/desktop/restrictions.ts');
const { serveRpc } = await import('../../main/desktop/ipc.ts');
const { registerScheme, serveScheme } = await import('../../main/desktop/scheme.ts');
const { unsupportedRuntime } = await import('../../main/desktop/versions.ts');
const { showWindow } = await import('../../main/desktop/window.ts');
const { RpcDouble } = await import('./rpc-double.ts');
const { rpcCalls, channels } = await import('../../preload/contract.ts');
await import('../../preload/index.ts');

const projectRoot = join(import.meta.dirname, '../..');
const double = new RpcDouble();
let served: Disposable;
let preferences: Record<string, unknown>;
let page: Response;

type OnlyWindow = InstanceType<typeof BrowserWindow>;
function theWindow(): OnlyWindow {
  const [window, ...others] = BrowserWindow.getAllWindows();
  if (window === undefined || others.length > 0) throw new Error('there is not one window');
  return window;
}

beforeAll(async () => {
  machine.appPath = projectRoot;
  machine.packaged = true;
  registerScheme();
  guardAllContents();
  becomeReady();
  await guardSession(session.defaultSession as unknown as Parameters<typeof guardSession>[0]);
  await serveScheme(join(projectRoot, 'dist/renderer'));
  served = serveRpc(double);
  showWindow();
  preferences = theWindow().options.webPreferences as Record<string, unknown>;
  page = await protocol.request('keyhearth://app/');
});

afterAll(() => {
  served[Symbol.dispose]();
});

/** Every file of the shell and the preload script, as one text. */
async function shellSources(): Promise<string> {
  const files = (await readdir(join(projectRoot, 'main/desktop'), { recursive: true }))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join('main/desktop', name));
  const texts = [...files, 'main/index.ts', 'preload/index.ts'].map((name) =>
    readFile(join(projectRoot, name), 'utf8'),
  );
  return (await Promise.all(texts)).join('\n');
}

test('1. only secure content is loaded: the page is the application’s own, and no request leaves it', async () => {
  await vi.waitFor(() => {
    expect(theWindow().webContents.getURL()).toBe('keyhearth://app/');
  });
  const asked = (url: string): unknown => {
    let answer: unknown;
    session.defaultSession.beforeRequest?.({ url } as never, ((given: unknown) => (answer = given)) as never);
    return answer;
  };
  for (const url of [
    'https://example.com/x.js',
    'http://127.0.0.1:7377/',
    'wss://example.com/',
    'file:///etc/passwd',
  ])
    expect(asked(url)).toEqual({ cancel: true });
  expect(asked('keyhearth://app/assets/index.js')).toEqual({ cancel: false });
});

test('2. no Node.js in pages, workers or frames', () => {
  expect(preferences).toMatchObject({
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
  });
});

test('3. contexts are isolated: the preload script’s world is not the page’s', () => {
  expect(preferences).toMatchObject({ contextIsolation: true });
});

test('4. every process is sandboxed, of unforeseen windows too', () => {
  expect(preferences).toMatchObject({ sandbox: true });
  expect(machine.sandboxed).toBe(true);
});

test('5. every permission is denied, asked for or looked up (restrictions.test.ts)', () => {
  const { permissionRequest, permissionCheck, device, displayMedia } = session.defaultSession;
  const answered = vi.fn();
  permissionRequest?.(null as never, 'media', answered, {} as never);
  expect(answered).toHaveBeenCalledExactlyOnceWith(false);
  expect(permissionCheck?.(null, 'clipboard-read', '', {} as never)).toBe(false);
  expect(device?.({} as never)).toBe(false);
  expect(displayMedia).not.toBeNull();
});

test('6. webSecurity stays on', () => {
  expect(preferences).toMatchObject({ webSecurity: true });
});

test('7. the page has a Content-Security-Policy with nothing but its own files and a nonce of each load (scheme.test.ts)', async () => {
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'none'");
  expect(policy).not.toMatch(/unsafe-(eval|inline)|\*|https?:/);
  const again = await protocol.request('keyhearth://app/');
  expect(again.headers.get('content-security-policy')).not.toBe(policy);
});

test('8. insecure content is not allowed', () => {
  expect(preferences).toMatchObject({ allowRunningInsecureContent: false });
});

test('9. no experimental features', () => {
  expect(preferences).toMatchObject({ experimentalFeatures: false });
});

test('10. no Blink features are turned on', async () => {
  expect(preferences).not.toHaveProperty('enableBlinkFeatures');
  // No switch is set at all: one of ours would take the place of what a person gave.
  expect(await shellSources()).not.toMatch(/appendSwitch|appendArgument/);
});

test('11. no <webview> may open windows: there is no <webview>', () => {
  expect(preferences).toMatchObject({ webviewTag: false });
});

test('12. the options of a <webview> need no check: none is attached', () => {
  expect(theWindow().webContents.attempt('will-attach-webview', {})).toBe(true);
});

test('13. the page goes nowhere (restrictions.test.ts)', () => {
  const { webContents } = theWindow();
  for (const url of ['https://example.com/', 'keyhearth://evil/', 'file:///etc/passwd', 'data:text/html,x']) {
    expect(webContents.attempt('will-navigate', { url, isMainFrame: true })).toBe(true);
    expect(webContents.attempt('will-frame-navigate', { url, isMainFrame: false })).toBe(true);
    expect(webContents.attempt('will-redirect', { url, isMainFrame: true })).toBe(true);
  }
});

test('14. the page opens no windows', () => {
  for (const url of ['keyhearth://app/', 'https://example.com/', 'about:blank'])
    expect(theWindow().webContents.open(url)).toBe('deny');
});

test('15. shell.openExternal gets no address of a page’s making', async () => {
  expect(machine.openedExternally).toEqual([]);
  // In one place, behind a list of whole addresses: those of the documentation (restrictions.test.ts).
  expect((await shellSources()).match(/openExternal\(/g)).toHaveLength(1);
});

test('16. Electron is a supported version, at the start and in package.json', async () => {
  const { devDependencies } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const major = /^\^(\d+)\./.exec(devDependencies['electron'] ?? '')?.[1] ?? '';
  expect(unsupportedRuntime({ node: '24.18.0', electron: `${major}.0.0` })).toBeUndefined();
  expect(unsupportedRuntime({ node: '24.18.0', electron: `${String(Number(major) - 1)}.9.9` })).toContain(
    'electron',
  );
});

test('17. the sender over IPC is checked, on every channel (ipc.test.ts)', async () => {
  expect([...ipcMain.handlers.keys()].sort()).toEqual(
    Object.values(channels)
      .filter((channel) => channel !== channels.event)
      .sort(),
  );
  const strangers = [
    null,
    { url: 'https://example.com/', parent: null },
    { url: 'keyhearth://app/', parent: { url: 'keyhearth://app/', parent: null } },
  ];
  for (const channel of ipcMain.handlers.keys()) {
    for (const frame of strangers) {
      expect(await ipcMain.invoke(frame, channel, 'status', [])).toEqual({
        error: { message: 'Only the Keyhearth window may ask.' },
      });
    }
  }
  expect(double.asked).toEqual([]);
});

test('18. the page has a scheme of its own; file: is neither used nor special', async () => {
  expect(machine.schemes).toMatchObject([
    { scheme: 'keyhearth', privileges: { standard: true, secure: true } },
  ]);
  expect(machine.schemes[0]?.privileges).not.toHaveProperty('bypassCSP');
  expect(await shellSources()).not.toMatch(/loadFile\(|['"`]file:\/\//);
  expect(await fuses()).toMatchObject({ grantFileProtocolExtraPrivileges: false });
});

test('19. every fuse that lets others in is blown (installers.test.ts reads them from the packed binary)', async () => {
  expect(await fuses()).toEqual({
    resetAdHocDarwinSignature: true,
    runAsNode: false,
    enableCookieEncryption: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    grantFileProtocolExtraPrivileges: false,
  });
});

test('20. the page sees the preload bridge, and nothing of Electron’s: no event, no sender, no channel of its choice', () => {
  const keyhearth = machine.mainWorld['keyhearth'] as Record<string, unknown>;
  expect(Object.keys(machine.mainWorld)).toEqual(['keyhearth']);
  for (const name of rpcCalls) expect(keyhearth[name]).toBeTypeOf('function');
  for (const name of ['send', 'invoke', 'on', 'ipcRenderer', 'require', 'process'])
    expect(keyhearth).not.toHaveProperty(name);
  const heard = vi.fn();
  (keyhearth['onEvent'] as (listener: (...given: unknown[]) => void) => unknown)(heard);
  double.announce({ kind: 'status' });
  expect(heard).toHaveBeenCalledExactlyOnceWith({ kind: 'status' });
});

test('and an installed application has no developer tools', () => {
  expect(preferences).toMatchObject({ devTools: false });
  const event = new FakeEvent();
  app.emit('web-contents-created', event, theWindow().webContents);
  expect(event.defaultPrevented).toBe(false);
});

/** As electron-builder.yml has them, line by line. */
async function fuses(): Promise<Record<string, boolean>> {
  const text = await readFile(join(projectRoot, 'electron-builder.yml'), 'utf8');
  const [, block = ''] = /^electronFuses:\n((?: .*\n)+)/m.exec(text) ?? [];
  return Object.fromEntries(
    [...block.matchAll(/^ {2}(\w+): (true|false)$/gm)].map(([, name = '', value]) => [
      name,
      value === 'true',
    ]),
  );
}
