/**
 * Handles crashes. A page that crashed is reloaded. A crash of this process, which has the keys, locks the
 * vault and ends it.
 */
import { app, BrowserWindow, dialog } from 'electron';
import type { Details, RenderProcessGoneDetails, WebContents } from 'electron';
import type { WindowRpc } from '../../preload/contract.ts';
import { report } from './report.ts';

/** A page that goes as often as this within a minute goes again. */
const mostReloads = 3;
const minute = 60_000;

/** Reloads pages whose process is gone, until it is disposed of. */
export function reviveWindows(): Disposable {
  let gone: number[] = [];

  const onPageGone = (_event: unknown, contents: WebContents, details: RenderProcessGoneDetails): void => {
    const { reason, exitCode } = details;
    if (reason === 'clean-exit') return;
    report('the window’s process is gone', new Error(`${reason} (${String(exitCode)})`));
    const now = Date.now();
    gone = [...gone.filter((time) => now - time < minute), now];
    if (gone.length <= mostReloads) {
      contents.reload();
      return;
    }
    gone = [];
    void askAfter(contents, {
      message: 'The window stopped working',
      detail: `Its process ended repeatedly (${reason}). The vault keeps running; its log and keys are safe.`,
      again: 'Reload',
    });
  };
  const onUnresponsive = (contents: WebContents): void => {
    void askAfter(contents, {
      message: 'The window does not respond',
      detail: 'Reloading the window loses unsaved input. The vault keeps running.',
      again: 'Reload',
      wait: 'Wait',
    });
  };
  const onWindow = (_event: unknown, window: BrowserWindow): void => {
    window.on('unresponsive', () => {
      onUnresponsive(window.webContents);
    });
  };
  const onChildGone = (_event: unknown, { type, reason, exitCode }: Details): void => {
    // Chromium starts its helpers again by itself.
    if (reason !== 'clean-exit') {
      report(`the ${type} process is gone`, new Error(`${reason} (${String(exitCode)})`));
    }
  };
  app.on('render-process-gone', onPageGone);
  app.on('child-process-gone', onChildGone);
  app.on('browser-window-created', onWindow);
  return {
    [Symbol.dispose]() {
      app.off('render-process-gone', onPageGone);
      app.off('child-process-gone', onChildGone);
      app.off('browser-window-created', onWindow);
    },
  };
}

interface Question {
  readonly message: string;
  readonly detail: string;
  readonly again: string;
  readonly wait?: string;
}

async function askAfter(contents: WebContents, { message, detail, again, wait }: Question): Promise<void> {
  const buttons = [again, ...(wait === undefined ? [] : [wait]), 'Quit Keyhearth'];
  try {
    const { response } = await dialog.showMessageBox({
      type: 'error',
      title: 'Keyhearth',
      ...{ message, detail, buttons },
      cancelId: wait === undefined ? 0 : 1,
    });
    if (response === buttons.length - 1) app.quit();
    else if (response === 0 && BrowserWindow.fromWebContents(contents) !== null) contents.reload();
  } catch (error) {
    report('nobody could be asked about the window', error);
  }
}

/**
 * Locks the vault and ends the application at an uncaught error: what state this process is in is not known then,
 * and what was answered is on the disk.
 */
export function endOnFault(rpc: Pick<WindowRpc, 'lock'>): Disposable {
  const onFault = (error: unknown): void => {
    report('an error that nobody caught', error);
    // The keys are gone before it answers.
    rpc.lock().catch(() => undefined);
    dialog.showErrorBox(
      'Keyhearth must quit',
      'An internal error occurred. The vault is locked, and its log has every signature. See the log file beside the vault.',
    );
    app.exit(1);
  };
  const onRejection = (error: unknown): void => {
    report('a failure that nobody waited for', error);
  };
  process.on('uncaughtException', onFault);
  process.on('unhandledRejection', onRejection);
  return {
    [Symbol.dispose]() {
      process.off('uncaughtException', onFault);
      process.off('unhandledRejection', onRejection);
    },
  };
}
