/** The window. There is one at most; closing it leaves nothing of what it showed in memory. */
import { join } from 'node:path';
import { app, BrowserWindow, nativeTheme } from 'electron';
import type { BrowserWindowConstructorOptions } from 'electron';
import { pageUrl } from './page.ts';
import { report } from './report.ts';
import { keepWindowState, readWindowState, smallest } from './window-state.ts';

/** The page's own background, so that nothing flashes before its first paint. */
const background = { light: '#f3f6f4', dark: '#0f1614' };

/**
 * Brings the window to the front; makes it where there is none.
 * @param place Where in the window to go, `/approvals` for example; it stays where it is without one.
 */
export function showWindow(place?: string): void {
  const address = place === undefined ? pageUrl : `${pageUrl}#${place}`;
  const window = BrowserWindow.getAllWindows()[0];
  if (window === undefined) {
    createWindow(address);
    return;
  }
  // Another fragment of the page that is there: nothing is loaded. The same one would be, and lose what was typed.
  if (place !== undefined && window.webContents.getURL() !== address) load(window, address);
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

function createWindow(address: string): void {
  const { isMaximized, ...bounds } = readWindowState();
  const window = new BrowserWindow({ ...windowOptions(), ...bounds });
  keepWindowState(window);
  window.once('ready-to-show', () => {
    // It shows the window too, and so not before there is something to show.
    if (isMaximized) window.maximize();
    window.show();
  });
  load(window, address);
}

function load(window: Pick<BrowserWindow, 'loadURL'>, address: string): void {
  window.loadURL(address).catch((error: unknown) => {
    report('the window did not load', error);
  });
}

function windowOptions(): BrowserWindowConstructorOptions {
  const root = app.getAppPath();
  return {
    title: 'Latchkey',
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
