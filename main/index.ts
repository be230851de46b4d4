/** Electron's entry: what must be set before `ready`, then the vault, and the window, tray and locks around it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { app, dialog, net, session } from 'electron';
import type { Config } from './config.ts';
import { readConfig, version } from './config.ts';
import { applicationId } from './desktop/application-id.ts';
import { watchApprovals } from './desktop/approvals.ts';
import { startAutoLock } from './desktop/auto-lock.ts';
import { showBadge } from './desktop/badge.ts';
import { endOnFault, reviveWindows } from './desktop/crash.ts';
import { freezeNow, listenForFreeze } from './desktop/freeze.ts';
import { guardAllContents, guardSession, refuseDebuggers } from './desktop/guards.ts';
import { joinHolder, type JoinedVault } from './desktop/held.ts';
import { serveBridge } from './desktop/ipc.ts';
import { followLinks } from './desktop/links.ts';
import { isHiddenStart, loginItem } from './desktop/login.ts';
import { setMenu } from './desktop/menu.ts';
import { notifyOfApprovals, notifyOfMessages, sayThatItGoesOn } from './desktop/notifications.ts';
import { closeBeforeQuit } from './desktop/quit.ts';
import { report } from './desktop/report.ts';
import { registerScheme, serveScheme } from './desktop/scheme.ts';
import { createTray, lockNow } from './desktop/tray.ts';
import { prepareUpdates } from './desktop/updates.ts';
import { unsupportedRuntime } from './desktop/versions.ts';
import { showWindow } from './desktop/window.ts';
import { freezeOnSignal } from './freeze-signal.ts';
import { startVault, type Vault } from './vault.ts';

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
  refuseDebuggers();
  registerScheme();
  guardAllContents();
  // Windows shows notifications for the entry of the start menu that has this name, and for no other.
  if (process.platform === 'win32') app.setAppUserModelId(applicationId);
  // A Wayland session gives shortcuts that work everywhere through its portal alone.
  if (process.platform === 'linux') app.commandLine.appendSwitch('enable-features', 'GlobalShortcutsPortal');

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
  opened.use(reviveWindows());
  await serveScheme(config.rendererDirectory);
  const startAtLogin = loginItem(config);
  const updates = opened.use(
    prepareUpdates({
      networkAllowed: async () => (await vault.bridge.settings()).network,
      close: () => open.disposeAsync(),
    }),
  );
  const found = await startVault(config, {
    shell: {
      isOnline: () => net.isOnline(),
      ...(startAtLogin === undefined ? {} : { startAtLogin }),
      ...(updates.choice === undefined ? {} : { updates: updates.choice }),
    },
  }).catch((error: unknown) => joinHolder(error, config.dataDirectory));
  if (found === undefined) {
    app.quit();
    return;
  }
  const vault: Vault | JoinedVault = found;
  opened.defer(() => vault.close());
  opened.defer(freezeOnSignal(vault.bridge));
  opened.use(serveBridge(vault.bridge));
  const freezing = opened.use(listenForFreeze(vault.bridge));
  const approvals = opened.use(watchApprovals(vault.bridge));
  opened.use(createTray(vault.bridge, approvals, freezing.accelerator));
  opened.use(showBadge(approvals));
  // A vault that another process holds may serve scripts while nobody is here: that process has its own rules.
  if ('keyring' in vault) opened.use(startAutoLock(vault.bridge));
  opened.use(notifyOfMessages(vault.bridge));
  opened.use(notifyOfApprovals(approvals, vault.bridge));
  opened.use(endOnFault(vault.bridge));
  setMenu(version, {
    lock: () => void lockNow(vault.bridge),
    freeze: () => void freezeNow(vault.bridge),
    freezeAccelerator: freezing.accelerator,
    lookForUpdates: () => void updates.lookNow(),
  });

  opened.use(sayThatItGoesOn());
  opened.use(followLinks(approvals));
  const show = (): void => {
    showWindow();
  };
  app.on('activate', show);
  if (!isHiddenStart()) show();

  const open = opened.move();
  closeBeforeQuit(() => open.disposeAsync());
  void updates.lookWhenDue();
}

/** Says what is wrong, once, and ends. */
function fail(error: unknown): void {
  report('Latchkey could not start', error);
  dialog.showErrorBox('Latchkey could not start', error instanceof Error ? error.message : String(error));
  app.exit(1);
}
