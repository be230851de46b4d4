/** The system’s notifications: of messages that are shown on this computer instead of being sent, and of requests that wait for a vote. */
import { app, Notification } from 'electron';
import type { WindowRpc, VaultRpc } from '../../preload/contract.ts';
import { queryAsOwner } from '../rpc/owner-calls.ts';
import { countedAs } from '../lib/web/needed-approvals.ts';
import { activityTitle } from '../lib/text/activity-titles.ts';
import { toBeSigned } from '../lib/text/to-be-signed.ts';
import { mark, visibleLine } from '../lib/text/visible-text.ts';
import type { Approvals, WaitingActivity } from './approvals.ts';
import { report } from './report.ts';
import { showWindow } from './window.ts';

/** Longer ones are for a program to read; the window has them. */
const longestCode = 32;

/** Notifies until it is disposed of. A system that shows no notifications leaves the window to say it. */
export function notifyOfMessages(rpc: Pick<WindowRpc, 'shownMessages' | 'onEvent'>): Disposable {
  // By message. One that nothing refers to is collected, and its clicks with it.
  const open = new Map<string, Notification>();

  async function notify(id: string): Promise<void> {
    try {
      const message = (await rpc.shownMessages()).find((each) => each.id === id);
      if (message === undefined || !Notification.isSupported()) return;
      const { to, code } = message;
      const notification = new Notification({
        title: `Keyhearth: code for ${asShown(to)}`,
        body: code.length <= longestCode ? code : 'Open Keyhearth to read the code.',
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

  /** Removes notifications that no longer apply: the vault was locked. */
  async function takeBack(): Promise<void> {
    if (open.size === 0) return;
    try {
      const shown = new Set((await rpc.shownMessages()).map(({ id }) => id));
      for (const [id, notification] of open) if (!shown.has(id)) notification.close();
    } catch (error) {
      report('notifications of messages were not taken back', error);
    }
  }

  const stopEvents = rpc.onEvent((event) => {
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

/** Notifies once when the disk starts to refuse writes, until it is disposed of. */
export function notifyOfStorage(rpc: Pick<VaultRpc, 'status' | 'onEvent'>): Disposable {
  let notification: Notification | undefined;
  let told: string | undefined;

  async function look(): Promise<void> {
    try {
      const { storage } = await rpc.status();
      if (storage?.cause === told) return;
      told = storage?.cause;
      notification?.close();
      notification = undefined;
      if (storage === null || !Notification.isSupported()) return;
      notification = new Notification({
        title: 'Keyhearth cannot write the vault',
        body: asShown(storage.problem),
        urgency: 'critical',
      });
      notification.on('click', () => {
        showWindow();
      });
      notification.on('failed', (_event, error) => {
        report('a notification was not shown', error);
      });
      notification.show();
    } catch (error) {
      report('the state of the disk is not known', error);
    }
  }

  void look();
  const stopEvents = rpc.onEvent((event) => {
    if (event.kind === 'status') void look();
  });
  return {
    [Symbol.dispose]() {
      stopEvents();
      notification?.close();
    },
  };
}

/** Notifies of programs that wait for the vault to be unlocked, until it is disposed of. */
export function notifyOfDoors(rpc: Pick<VaultRpc, 'doors' | 'onEvent'>): Disposable {
  let notification: Notification | undefined;

  async function look(): Promise<void> {
    try {
      const doors = await rpc.doors();
      const waiting = doors.flatMap(({ programs }) => programs.filter((program) => program.waiting > 0));
      const [first] = waiting;
      if (first === undefined) {
        notification?.close();
        notification = undefined;
        return;
      }
      // One stands for all that wait: it never takes the focus.
      if (notification !== undefined || !Notification.isSupported()) return;
      notification = new Notification({
        title: 'Unlock Keyhearth',
        body: `The program ${asShown(first.name)} waits for the vault.`,
      });
      notification.on('click', () => {
        showWindow();
      });
      notification.on('failed', (_event, error) => {
        report('a notification was not shown', error);
      });
      notification.show();
    } catch (error) {
      report('programs that wait are not known', error);
    }
  }

  const stopEvents = rpc.onEvent((event) => {
    if (event.kind === 'doors') void look();
  });
  return {
    [Symbol.dispose]() {
      stopEvents();
      notification?.close();
    },
  };
}

/**
 * Says once that Keyhearth goes on without a window, where the system may show no tray: GNOME's does not, and no program can
 * tell. Until it is disposed of.
 */
export function sayThatItGoesOn(): Disposable {
  let notification: Notification | undefined;
  const onClosed = (): void => {
    if (process.platform !== 'linux' || notification !== undefined || !Notification.isSupported()) return;
    notification = new Notification({
      title: 'Keyhearth keeps running without its window',
      body: 'Start Keyhearth again to see the window. Quit in the window or the tray.',
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

/**
 * Notifies of requests that begin to wait for the owner’s vote, until it is disposed of: of one by its user and its description,
 * of several by their number. One notification stands for all, and a click brings the window to them.
 */
export function notifyOfApprovals(approvals: Approvals, rpc: Pick<WindowRpc, 'call'>): Disposable {
  // Without a reference the system's notification is collected, and its clicks with it.
  let open: Notification | undefined;
  /** The requests that the notification stands for. */
  let told: ReadonlySet<string> = new Set();
  let isDisposed = false;

  function notify(body: string, route: string): void {
    const notification = new Notification({ title: 'Keyhearth: approval needed', body });
    open?.close();
    open = notification;
    told = new Set(approvals.waiting.activities.map(({ id }) => id));
    notification.on('click', () => {
      showWindow(route);
    });
    notification.on('close', () => {
      if (open === notification) open = undefined;
    });
    notification.on('failed', (_event, error) => {
      // It may be shown later, when another one has replaced it.
      if (open === notification) open = undefined;
      // The tray, the badge and the window say it too.
      report('a notification was not shown', error);
    });
    notification.show();
  }

  async function notifyOf(activity: WaitingActivity): Promise<void> {
    const body = asShown(await describeWaiting(rpc, activity));
    const [only, ...others] = approvals.waiting.activities;
    // It may have been decided meanwhile, or the vault locked. Several have a notification of their own.
    if (isDisposed || only?.id !== activity.id || others.length > 0) return;
    notify(body, `/approvals/${activity.id}`);
  }

  const stopNew = approvals.onNew(([first]) => {
    if (first === undefined || !Notification.isSupported()) return;
    const { waiting } = approvals;
    if (waiting.activities.length > 1)
      notify(`${countedAs(waiting)} requests wait for your approval.`, '/approvals');
    else void notifyOf(first);
  });
  const stopChange = approvals.onChange(() => {
    if (approvals.waiting.activities.every(({ id }) => !told.has(id))) open?.close();
  });
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      stopNew();
      stopChange();
      open?.close();
    },
  };
}

/**
 * Says who asks for what: of a program, its user has the door and the name.
 * @returns its kind alone where the vault gives no description.
 */
async function describeWaiting(rpc: Pick<WindowRpc, 'call'>, activity: WaitingActivity): Promise<string> {
  const { id, type, requester } = activity;
  const what = async (): Promise<string> => {
    try {
      const answer = await queryAsOwner(rpc, 'describe_activities', { activityIds: [id] });
      if (answer.isRefused) return activityTitle(type);
      const about = answer.body.descriptions[0]?.about ?? [];
      const said = about.map(({ text, kind }) => (kind === undefined ? text : named(text))).join('');
      if (said === '') return activityTitle(type);
      // The objects of a signature begin with the chain's title. Others are names alone: a wallet may be exported or deleted.
      return toBeSigned(activity).length > 0 ? said : `${activityTitle(type)}: ${said}`;
    } catch {
      // The vault was locked, which is not a fault. The window shows its state.
      return activityTitle(type);
    }
  };
  return `${named(requester)}: ${await what()}`;
}

/** In quotation marks, of which the name itself has none: it ends where they end. */
const named = (name: string): string => `“${name.replaceAll(/[“”]/g, mark)}”`;

/** In bytes: macOS takes 256, and Windows advises 200 characters. */
const longestBody = 240;

/** On Linux, some systems read markup where others show it: marked, it says the same on all. */
const markup = /[<>&]/g;

/** As systems show it: on one line, in its order, to its end or with a sign that there is more. */
function asShown(text: string): string {
  const said = visibleLine(text);
  const line = process.platform === 'linux' ? said.replaceAll(markup, mark) : said;
  if (Buffer.byteLength(line) <= longestBody) return line;
  let cut = '';
  for (const character of line) {
    if (Buffer.byteLength(cut + character) > longestBody) break;
    cut += character;
  }
  return `${cut}…`;
}
