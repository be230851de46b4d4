import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, BrowserWindow, machine, nativeTheme } = await import('./fake-electron.ts');
const { registerScheme, serveScheme } = await import('../../main/desktop/scheme.ts');
const { showWindow } = await import('../../main/desktop/window.ts');

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-window-'));
  await writeFile(join(directory, 'index.html'), '__CSP_NONCE__');
  machine.appPath = '/app';
  registerScheme();
  becomeReady();
  await serveScheme(directory);
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

beforeEach(() => {
  for (const window of BrowserWindow.getAllWindows()) window.destroy();
});

function onlyWindow(): InstanceType<typeof BrowserWindow> {
  const [window, ...others] = BrowserWindow.getAllWindows();
  expect(others).toEqual([]);
  if (window === undefined) throw new Error('there is no window');
  return window;
}

test('the page has no power of its own', () => {
  showWindow();
  expect(onlyWindow().options.webPreferences).toEqual({
    preload: join('/app', 'dist/preload/index.cjs'),
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    plugins: false,
    navigateOnDragDrop: false,
    spellcheck: false,
    // For a developer; an installed application has none.
    devTools: true,
  });
});

test('the window shows once its page does, with the page’s background before that', async () => {
  showWindow();
  const window = onlyWindow();
  expect(window.options).toMatchObject({
    show: false,
    backgroundColor: '#f3f6f4',
    minWidth: 720,
    minHeight: 520,
  });
  expect(window.isVisible()).toBe(false);
  await vi.waitFor(() => {
    expect(window.isVisible()).toBe(true);
  });
  expect(window.webContents.mainFrame.url).toBe('keyhearth://app/');
  expect(window.page?.status).toBe(200);
});

test('the window follows the system’s dark mode', () => {
  nativeTheme.shouldUseDarkColors = true;
  showWindow();
  nativeTheme.shouldUseDarkColors = false;
  expect(onlyWindow().options.backgroundColor).toBe('#0f1614');
});

test('there is one window: it is brought back, also when it was minimized or closed', () => {
  showWindow();
  const first = onlyWindow();
  first.minimized = true;
  showWindow();
  expect(onlyWindow()).toBe(first);
  expect(first.minimized).toBe(false);
  expect(first.isVisible()).toBe(true);
  expect(first.focused).toBe(1);
  first.destroy();
  showWindow();
  expect(onlyWindow()).not.toBe(first);
});
