/** The window. There is one at most; closing it leaves nothing of what it showed in memory. */
import { join } from 'node:path';
import { app, BrowserWindow, nativeTheme } from 'electron';
import type { BrowserWindowConstructorOptions } from 'electron';
import { pageUrl } from './page.ts';
import { report } from './report.ts';

/** The page's own background, so that nothing flashes before its first paint. */
const background = { light: '#f3f6f4', dark: '#0f1614' };

/** Brings the window to the front; makes it where there is none. */
export function showWindow(): void {
  const window = BrowserWindow.getAllWindows()[0];
  if (window === undefined) {
    createWindow();
    return;
  }
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

function createWindow(): void {
  const window = new BrowserWindow(windowOptions());
  window.once('ready-to-show', () => {
    window.show();
  });
  window.loadURL(pageUrl).catch((error: unknown) => {
    report('the window did not load', error);
  });
}

function windowOptions(): BrowserWindowConstructorOptions {
  const root = app.getAppPath();
  return {
    title: 'Latchkey',
    width: 1120,
    height: 760,
    minWidth: 720,
    minHeight: 520,
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
