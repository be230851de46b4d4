/** Electron's entry: what must be set before `ready`, then the vault, and the window, tray and locks around it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { app, dialog, net, session } from 'electron';
import type { Config } from './app/config.ts';
import { readConfig, version } from './app/config.ts';
import { applicationId } from './desktop/application-id.ts';
import { watchApprovals } from './desktop/approvals.ts';
import { startAutoLock } from './desktop/auto-lock.ts';
import { showBadge } from './desktop/badge.ts';
import { endOnFault, reviveWindows } from './desktop/crash.ts';
import { offerFormerVault } from './desktop/former-vault.ts';
import { freezeNow, listenForFreeze } from './desktop/freeze.ts';
import {
  allowDocumentation,
  restrictAllContents,
  restrictSession,
  refuseDebuggers,
} from './desktop/restrictions.ts';
import { attachToService, type JoinedVault } from './desktop/attach.ts';
import { serveRpc } from './desktop/ipc.ts';
import { catchLinks, thisStart } from './desktop/links.ts';
import { isHiddenStart, loginItem } from './desktop/login.ts';
import { commandOfApp } from './desktop/program.ts';
import { setMenu } from './desktop/menu.ts';
import {
  notifyOfApprovals,
  notifyOfMessages,
  notifyOfDoors,
  notifyOfStorage,
  sayThatItGoesOn,
} from './desktop/notifications.ts';
import { closeBeforeQuit } from './desktop/quit.ts';
import { report } from './desktop/report.ts';
import { registerScheme, serveScheme } from './desktop/scheme.ts';
import { createTray, lockNow } from './desktop/tray.ts';
import { prepareUpdates } from './desktop/updates/updates.ts';
import { unsupportedRuntime } from './desktop/versions.ts';
import { showWindow } from './desktop/window.ts';
import { closedDebugger, keepDebuggersOut } from './app/no-debugger.ts';
import { keepOwnRights } from './app/own-rights.ts';
import { findFormerVault } from './app/former-vault.ts';
import { startServiceLog } from './app/service-log.ts';
import { freezeOnSignal } from './app/freeze-signal.ts';
import { eraseAfterLock } from './keys/erasure.ts';
import { reasonOf } from './lib/text/reasons.ts';
import { defined } from './lib/defined.ts';
import { ExplainedError } from './lib/errors.ts';
import type { DesktopFacts } from './lib/desktop-capabilities.ts';
import { startVault, type Vault } from './app/compose.ts';

try {
  prepare();
} catch (error) {
  fail(error);
}

function prepare(): void {
  keepOwnRights();
  // Electron has Node's own words among all others. An installed application's fuses let none of this come to be.
  const isClosed = keepDebuggersOut([...process.execArgv, ...process.argv]);
  if (isClosed) process.stderr.write(`${closedDebugger}\n`);
  const problem = unsupportedRuntime(process.versions);
  if (problem !== undefined) throw new ExplainedError(problem);
  // An installed application's arguments follow its own name; Electron's, the name of the project.
  const config = readConfig(process.argv.slice(app.isPackaged ? 1 : 2));
  refuseDebuggers();
  registerScheme();
  restrictAllContents();
  // Windows shows notifications for the entry of the start menu that has this name, and for no other.
  if (process.platform === 'win32') app.setAppUserModelId(applicationId);

  const former = findFormerVault(config);
  if (former !== undefined) {
    offerFormerVault(former, config);
    return;
  }
  // Chromium's files are beside the vault. So is Electron's lock, so each vault has one instance.
  if (config.dataDirectory !== null) {
    const userData = join(config.dataDirectory, 'window');
    mkdirSync(userData, { recursive: true, mode: 0o700 });
    app.setPath('userData', userData);
  }
  if (!app.requestSingleInstanceLock({ ...thisStart(process.argv) })) {
    app.quit();
    return;
  }
  const log = startServiceLog(config);
  const links = catchLinks(process.argv, config);
  // Awaiting `ready` at the top level would wait for ever: Electron is ready once this module is.
  app
    .whenReady()
    .then(() => run(config, links, log))
    .catch(fail);
}

/** Links that arrived before the vault has started. */
type Links = ReturnType<typeof catchLinks>;

async function run(config: Config, links: Links, log: Disposable): Promise<void> {
  const { promise: opened, resolve } = Promise.withResolvers<AsyncDisposable | undefined>();
  // Also while it opens: it is closed then once it is open.
  const closeNow = closeBeforeQuit(async () => {
    await (await opened)?.[Symbol.asyncDispose]();
    log[Symbol.dispose]();
  });
  resolve(await open(config, links, closeNow));
}

/** @returns what is open; undefined where its owner would rather end. */
async function open(
  config: Config,
  links: Links,
  closeNow: () => Promise<void>,
): Promise<AsyncDisposable | undefined> {
  await using opened = new AsyncDisposableStack();
  await restrictSession(session.defaultSession);
  opened.use(reviveWindows());
  await serveScheme(config.rendererDirectory);
  const startAtLogin = loginItem(config);
  const updates = opened.use(
    prepareUpdates({
      networkAllowed: async () => (await vault.rpc.settings()).network,
      close: closeNow,
    }),
  );
  let desktop = (): DesktopFacts => ({ reportsLock: true, freezeShortcut: 'unknown' });
  const found = await startVault(config, {
    program: commandOfApp(config.appImage),
    shell: {
      isOnline: () => net.isOnline(),
      ...defined({ startAtLogin, updates: updates.choice }),
      desktop: () => desktop(),
    },
  }).catch((error: unknown) => attachToService(error, config));
  if (found === undefined) {
    app.quit();
    return undefined;
  }
  const vault: Vault | JoinedVault = found;
  opened.defer(() => vault.close());
  opened.defer(freezeOnSignal(vault.rpc));
  if ('keyring' in vault) opened.defer(eraseAfterLock(vault.keyring));
  opened.use(serveRpc(vault.rpc));
  allowDocumentation((await vault.rpc.status()).url);
  const freezing = opened.use(listenForFreeze(vault.rpc, config.sessionType));
  const approvals = opened.use(watchApprovals(vault.rpc));
  opened.use(createTray(vault.rpc, approvals, freezing));
  opened.use(showBadge(approvals));
  // Another process that holds the vault may serve scripts while the owner is away, by its own rules.
  const autoLock =
    'keyring' in vault
      ? opened.use(
          startAutoLock(
            vault.rpc,
            config,
            () => vault.requestUse.sinceMs(),
            (seconds) => {
              vault.emit({ kind: 'lockSoon', seconds });
            },
          ),
        )
      : undefined;
  desktop = () => ({ reportsLock: autoLock?.reportsLock ?? true, freezeShortcut: freezing.state });
  opened.use(notifyOfMessages(vault.rpc));
  opened.use(notifyOfApprovals(approvals, vault.rpc));
  opened.use(notifyOfStorage(vault.rpc));
  opened.use(notifyOfDoors(vault.rpc));
  opened.use(endOnFault(vault.rpc));
  setMenu(version, {
    lock: () => void lockNow(vault.rpc),
    freeze: () => void freezeNow(vault.rpc),
    freezeAccelerator: freezing.accelerator,
    lookForUpdates: () => void updates.lookNow(),
  });

  opened.use(sayThatItGoesOn());
  opened.use(links.follow(approvals));
  const show = (): void => {
    showWindow();
  };
  app.on('activate', show);
  opened.defer(() => {
    app.off('activate', show);
  });
  if (!isHiddenStart()) show();
  void updates.lookWhenDue();
  return opened.move();
}

/** Says what is wrong, once, and ends. */
function fail(error: unknown): void {
  report('Keyhearth could not start', error);
  dialog.showErrorBox('Keyhearth could not start', reasonOf(error));
  app.exit(1);
}
