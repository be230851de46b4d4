/**
 * Shows the number of activities that wait for a vote on the application's icon: a count, or a dot if the
 * system has no counts.
 */
import { join } from 'node:path';
import { app, BrowserWindow, nativeImage } from 'electron';
import type { Approvals } from './approvals.ts';
import { countedAs, type Needed } from '../lib/web/needed-approvals.ts';
import { report } from './report.ts';

/** Shows it until it is disposed of. */
export function showBadge(approvals: Approvals): Disposable {
  let isRefused = false;
  const show = (): void => {
    const { waiting } = approvals;
    const count = waiting.activities.length;
    // Once: the tray says it too, and so does the window.
    if (!app.setBadgeCount(count) && !isRefused) {
      isRefused = true;
      report('the count on the icon', new Error('the desktop shows none for this application'));
    }
    if (process.platform !== 'win32') return;
    const dot =
      count === 0 ? null : nativeImage.createFromPath(join(app.getAppPath(), 'main/desktop/icons/badge.png'));
    for (const window of BrowserWindow.getAllWindows()) window.setOverlayIcon(dot, waitingText(waiting));
  };
  const stop = approvals.onChange(show);
  // Windows gives the dot to a window, and takes it away with it.
  app.on('browser-window-created', show);
  return {
    [Symbol.dispose]() {
      stop();
      app.off('browser-window-created', show);
      app.setBadgeCount(0);
    },
  };
}

/** Empty for none. */
export function waitingText(waiting: Needed<unknown>): string {
  const { length } = waiting.activities;
  if (length === 0) return '';
  return `${countedAs(waiting)} pending ${length === 1 ? 'approval' : 'approvals'}`;
}
