/** Electron's entry: what must be set before `ready`, then the vault, and the window, tray and locks around it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { app, dialog, session } from 'electron';
import type { Config } from './config.ts';
import { readConfig } from './config.ts';
import { startAutoLock } from './desktop/auto-lock.ts';
import { guardAllContents, guardSession } from './desktop/guards.ts';
import { serveBridge } from './desktop/ipc.ts';
import { setMenu } from './desktop/menu.ts';
import { notifyOfMessages } from './desktop/notifications.ts';
import { closeBeforeQuit } from './desktop/quit.ts';
import { report } from './desktop/report.ts';
import { registerScheme, serveScheme } from './desktop/scheme.ts';
import { createTray } from './desktop/tray.ts';
import { unsupportedRuntime } from './desktop/versions.ts';
import { showWindow } from './desktop/window.ts';
import { freezeOnSignal } from './freeze-signal.ts';
import { startVault } from './vault.ts';

try {
  prepare();
} catch (error) {
  fail(error);
}

function prepare(): void {
  const problem = unsupportedRuntime(process.versions);
  if (problem !== undefined) throw new Error(problem);
  // An installed application's arguments follow its own name; Electron's, the name of the project.
  const config = readConfig(process.argv.slice(app.isPackaged ? 1 : 2));
  registerScheme();
  guardAllContents();

  // What Chromium keeps lies with the vault; so does Electron's lock, which makes one instance of each vault.
  if (config.dataDirectory !== null) {
    const userData = join(config.dataDirectory, 'window');
    mkdirSync(userData, { recursive: true, mode: 0o700 });
    app.setPath('userData', userData);
  }
  if (!app.requestSingleInstanceLock()) {
    app.quit();
    return;
  }
  // Awaiting `ready` at the top level would wait for ever: Electron is ready once this module is.
  app
    .whenReady()
    .then(() => run(config))
    .catch(fail);
}

async function run(config: Config): Promise<void> {
  await using opened = new AsyncDisposableStack();
  guardSession(session.defaultSession);
  setMenu();
  await serveScheme(config.rendererDirectory);
  const vault = await startVault(config);
  opened.defer(() => vault.close());
  opened.defer(freezeOnSignal(vault.bridge));
  opened.use(serveBridge(vault.bridge));
  opened.use(createTray(vault.bridge));
  opened.use(startAutoLock(vault.bridge));
  opened.use(notifyOfMessages(vault.bridge));

  // Without a listener, Electron quits with its last window; here the tray stays.
  app.on('window-all-closed', () => undefined);
  app.on('second-instance', showWindow);
  app.on('activate', showWindow);
  showWindow();

  const open = opened.move();
  closeBeforeQuit(() => open.disposeAsync());
}

/** Says what is wrong, once, and ends. */
function fail(error: unknown): void {
  report('Latchkey could not start', error);
  dialog.showErrorBox('Latchkey could not start', error instanceof Error ? error.message : String(error));
  app.exit(1);
}
