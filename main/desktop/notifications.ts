/** The system's notifications of messages that are shown on this computer instead of being sent. */
import { app, Notification } from 'electron';
import type { Bridge } from '../../preload/contract.ts';
import type { Approvals } from './approvals.ts';
import { report } from './report.ts';
import { showWindow } from './window.ts';

/** Longer ones are for a program to read; the window has them. */
const longestCode = 32;

/** Notifies until it is disposed of. A system that shows no notifications leaves the window to say it. */
export function notifyOfMessages(bridge: Pick<Bridge, 'shownMessages' | 'onEvent'>): Disposable {
  // By message. One that nothing refers to is collected, and its clicks with it.
  const open = new Map<string, Notification>();

  async function notify(id: string): Promise<void> {
    try {
      const message = (await bridge.shownMessages()).find((each) => each.id === id);
      if (message === undefined || !Notification.isSupported()) return;
      const { to, code } = message;
      const notification = new Notification({
        title: `Latchkey: a code for ${to}`,
        body: code.length <= longestCode ? code : 'Open Latchkey to read it.',
      });
      open.set(id, notification);
      notification.on('click', () => {
        showWindow();
      });
      notification.on('close', () => {
        open.delete(id);
      });
      notification.on('failed', (_event, error) => {
        open.delete(id);
        report('a notification was not shown', error);
      });
      notification.show();
    } catch (error) {
      report('a message was not notified of', error);
    }
  }

  /** Takes back what is shown no more: the vault was locked. */
  async function takeBack(): Promise<void> {
    if (open.size === 0) return;
    try {
      const shown = new Set((await bridge.shownMessages()).map(({ id }) => id));
      for (const [id, notification] of open) if (!shown.has(id)) notification.close();
    } catch (error) {
      report('notifications of messages were not taken back', error);
    }
  }

  const stopEvents = bridge.onEvent((event) => {
    if (event.kind === 'message') void notify(event.id);
    else if (event.kind === 'status') void takeBack();
  });
  return {
    [Symbol.dispose]() {
      stopEvents();
      for (const notification of open.values()) notification.close();
      open.clear();
    },
  };
}

/**
 * Says once that Latchkey goes on without a window, where the system may show no tray: GNOME's does not, and no program can
 * tell. Until it is disposed of.
 */
export function sayThatItGoesOn(): Disposable {
  let notification: Notification | undefined;
  const onClosed = (): void => {
    if (process.platform !== 'linux' || notification !== undefined || !Notification.isSupported()) return;
    notification = new Notification({
      title: 'Latchkey goes on without its window',
      body: 'Start it again to see the window; quit it there, or in the tray.',
    });
    notification.on('click', () => {
      showWindow();
    });
    notification.show();
  };
  // Without a listener, Electron quits with its last window; here the tray stays.
  app.on('window-all-closed', onClosed);
  return {
    [Symbol.dispose]() {
      app.off('window-all-closed', onClosed);
      notification?.close();
    },
  };
}

/** Of so many at once, each is told of; of more, how many there are. */
const mostTold = 3;

/**
 * Notifies of what begins to wait for the owner's vote, until it is disposed of. A click brings the window to it; what is to
 * be signed is not told here, where a locked screen may show it.
 */
export function notifyOfApprovals(approvals: Approvals): Disposable {
  // By activity, or by nothing for many. One that nothing refers to is collected, and its clicks with it.
  const open = new Map<string, Notification>();

  function notify(id: string, body: string, place: string): void {
    const notification = new Notification({ title: 'Latchkey: your approval is needed', body });
    open.get(id)?.close();
    open.set(id, notification);
    notification.on('click', () => {
      showWindow(place);
    });
    notification.on('close', () => {
      if (open.get(id) === notification) open.delete(id);
    });
    notification.on('failed', (_event, error) => {
      open.delete(id);
      // The tray, the badge and the window say it too.
      report('a notification was not shown', error);
    });
    notification.show();
  }

  const stopNew = approvals.onNew((activities) => {
    if (!Notification.isSupported()) return;
    if (activities.length > mostTold) {
      notify('', `${String(activities.length)} activities wait for your vote.`, '/approvals');
      return;
    }
    for (const { id, type } of activities) notify(id, inWords(type), `/approvals/${id}`);
  });
  const stopChange = approvals.onChange(() => {
    const waiting = new Set(approvals.waiting.map(({ id }) => id));
    for (const [id, notification] of [...open]) {
      if (id === '' ? waiting.size === 0 : !waiting.has(id)) notification.close();
    }
  });
  return {
    [Symbol.dispose]() {
      stopNew();
      stopChange();
      for (const notification of [...open.values()]) notification.close();
      open.clear();
    },
  };
}

/** `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2` as a person reads it. */
function inWords(type: string): string {
  const words = type
    .replace(/^ACTIVITY_TYPE_/, '')
    .replace(/_V\d+$/, '')
    .toLowerCase()
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
