/** The window. There is one at most; closing it leaves nothing of what it showed in memory. */
import { join } from 'node:path';
import { app, BrowserWindow, nativeTheme } from 'electron';
import type { BrowserWindowConstructorOptions } from 'electron';
import { pageUrl } from './page.ts';
import { report } from './report.ts';
import { keepWindowState, readWindowState, smallest } from './window-state.ts';

/** The page's own background, so that nothing flashes before its first paint. */
const background = { light: '#f3f6f4', dark: '#0f1614' };

/** From a page that has loaded to its first paint, in milliseconds. */
const longestWaitForPaint = 2_000;

/**
 * Brings the window to the front; makes it where there is none.
 * @param route Where in the window to go, `/approvals` for example; it stays where it is without one.
 */
export function showWindow(route?: string): void {
  const address = route === undefined ? pageUrl : `${pageUrl}#${route}`;
  const window = BrowserWindow.getAllWindows()[0];
  if (window === undefined) {
    createWindow(address);
    return;
  }
  // Another fragment of the page that is there: nothing is loaded. The same one would be, and lose what was typed.
  if (route !== undefined && window.webContents.getURL() !== address) void load(window, address);
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

function createWindow(address: string): void {
  const { isMaximized, ...bounds } = readWindowState();
  const window = new BrowserWindow({ ...windowOptions(), ...bounds });
  keepWindowState(window);
  // Whatever shows it: who asks for the window again may come before its first paint.
  window.once('show', () => {
    if (isMaximized) window.maximize();
  });
  const reveal = (): void => {
    if (!window.isDestroyed() && !window.isVisible()) window.show();
  };
  window.once('ready-to-show', reveal);
  void load(window, address).then((isLoaded) => {
    // A page that paints nothing sends no `ready-to-show`: an empty window is better than a process without one.
    if (isLoaded) setTimeout(reveal, longestWaitForPaint).unref();
    else reveal();
  });
}

/** @returns whether it loaded; why it did not is in the log. */
async function load(window: Pick<BrowserWindow, 'loadURL'>, address: string): Promise<boolean> {
  try {
    await window.loadURL(address);
    return true;
  } catch (error) {
    report('the window did not load', error);
    return false;
  }
}

function windowOptions(): BrowserWindowConstructorOptions {
  const root = app.getAppPath();
  return {
    title: 'Keyhearth',
    minWidth: smallest.width,
    minHeight: smallest.height,
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? background.dark : background.light,
    icon: join(root, 'main/desktop/icons/window.png'),
    webPreferences: {
      preload: join(root, 'dist/preload/index.cjs'),
      // Electron's defaults, most of them: they are said here so that no change of a default undoes them.
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
      // Dictionaries come from the network, and a recovery phrase is nothing to check.
      spellcheck: false,
      devTools: !app.isPackaged,
    },
  };
}
