/** The system's notifications of messages that are shown on this computer instead of being sent. */
import { Notification } from 'electron';
import type { Bridge } from '../../preload/contract.ts';
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
      notification.on('click', showWindow);
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
