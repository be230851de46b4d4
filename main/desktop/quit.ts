/** Ends the application in bounded time, whichever way it is asked to: its windows, then what is open, then itself. */
import { app, BrowserWindow, powerMonitor } from 'electron';
import { report } from './report.ts';

/** Milliseconds. A system that shuts down gives a program about ten seconds in all. */
const limits = { windows: 2_000, close: 5_000 } as const;

/**
 * Closes what is open before the application ends, once, however often it is asked to quit meanwhile. Call after `ready`.
 * @param close Closes it; a rejection, and no answer in time, end the application all the same.
 * @returns a function that closes it now, for another program that takes this one's place.
 */
export function closeBeforeQuit(close: () => Promise<void>): () => Promise<void> {
  let isClosed = false;
  let closing: Promise<boolean> | undefined;
  const closeNow = (): Promise<boolean> =>
    (closing ??= closeInTime(close).finally(() => {
      isClosed = true;
    }));

  let isWaiting = false;
  app.on('will-quit', (event) => {
    if (isClosed || isSessionEnding) return;
    event.preventDefault();
    if (isWaiting) return;
    isWaiting = true;
    void closeNow().then((isClean) => {
      // From a turn of its own: Electron ignores `quit` until this event has returned, and promises are settled before that.
      setImmediate(() => {
        if (isClean) app.quit();
        else app.exit(1);
      });
    });
  });

  // A page that has stopped answering would keep its window, and with it the application, for ever.
  let windows: NodeJS.Timeout | undefined;
  app.on('before-quit', () => {
    windows ??= setTimeout(() => {
      windows = undefined;
      for (const window of BrowserWindow.getAllWindows()) window.destroy();
    }, limits.windows).unref();
  });

  // macOS takes a program that does not quit at once for one that refuses to log out. The keys are gone by then
  // (auto-lock.ts), and a file that was not closed is whole: every change is on the disk before it is answered.
  let isSessionEnding = false;
  if (process.platform === 'darwin') {
    powerMonitor.on('shutdown', () => {
      isSessionEnding = true;
    });
  }
  return async () => {
    await closeNow();
  };
}

/** @returns whether it closed, cleanly and in time. */
async function closeInTime(close: () => Promise<void>): Promise<boolean> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new Error(`it took more than ${String(limits.close / 1000)} s`));
  }, limits.close);
  try {
    await Promise.race([close(), late]);
    return true;
  } catch (error) {
    report('the vault did not close cleanly', error);
    return false;
  } finally {
    clearTimeout(timer);
  }
}
