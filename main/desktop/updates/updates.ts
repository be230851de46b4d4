/**
 * Updates by consent: nothing is asked of a server unless a person chose it, nothing is fetched or installed without being
 * asked for, and nothing is taken that the project's own key did not sign.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, BrowserWindow, dialog, net } from 'electron';
import type { AppUpdater } from 'electron-updater';
import { reasonOf } from '../../lib/text/reasons.ts';
import type { ShellChoice } from '../../lib/desktop-capabilities.ts';
import { report } from '../report.ts';
import { updateKey } from './update-key.ts';
import type { UpdateFeed } from './update-provider.ts';
import { every } from '../../lib/concurrency/every.ts';

const hour = 60 * 60_000;

type Choice = 'off' | 'ask';

/** Parts of the app that updates need. */
export interface UpdateParts {
  readonly feed: UpdateFeed;
  /** Answers false while nothing may leave this machine. */
  readonly networkAllowed: () => Promise<boolean>;
  /** Closes the vault and all that is open, before another program takes this one's place. */
  readonly close: () => Promise<void>;
  /** The updater; this system's own unless given. */
  readonly updater?: () => Promise<AppUpdater>;
}

/**
 * Finds the update feed that the package was built with, or the reason why there is none, for a person to
 * read.
 */
export function findUpdateFeed(key: string | null = updateKey): UpdateFeed | { readonly obstacle: string } {
  const says = JSON.parse(readFileSync(join(app.getAppPath(), 'package.json'), 'utf8')) as {
    readonly updateUrl?: unknown;
  };
  if (!app.isPackaged) return { obstacle: 'Keyhearth runs from source. Update the source instead.' };
  if (typeof says.updateUrl !== 'string') {
    return { obstacle: 'This build has no update server.' };
  }
  if (key === null) return { obstacle: 'This build has no key to check updates with.' };
  if (!/^https:[/][/]/.test(says.updateUrl)) {
    return { obstacle: 'The update server of this build does not use https.' };
  }
  return { url: says.updateUrl, publicKey: key };
}

/** Updates as the rest of the app knows them. */
export interface UpdateControl extends Disposable {
  /** The choice in the settings; undefined if this build gets no updates. */
  readonly choice: ShellChoice<Choice> | undefined;
  /** Looks once a day where that was chosen, and speaks up only when there is something. */
  readonly lookWhenDue: () => Promise<void>;
  /** A person asks: they are answered in any case. */
  readonly lookNow: () => Promise<void>;
}

/** Updates for a build that gets them; for another one, an answer to who asks. */
export function prepareUpdates(parts: Omit<UpdateParts, 'feed'>): UpdateControl {
  const feed = findUpdateFeed();
  if (!('obstacle' in feed)) return new Updates({ ...parts, feed });
  return {
    choice: undefined,
    lookWhenDue: () => Promise.resolve(),
    lookNow: () => say('info', 'Updates are not available', feed.obstacle),
    [Symbol.dispose]: () => undefined,
  };
}

export class Updates implements UpdateControl {
  readonly #parts: UpdateParts;
  readonly #choiceFile = join(app.getPath('userData'), 'updates.json');
  /** Versions that were offered and not wanted, while this process runs. */
  readonly #declined = new Set<string>();
  // A machine that sleeps keeps no timer of a day.
  readonly [Symbol.dispose] = every(hour, () => this.lookWhenDue());
  #updater: Promise<AppUpdater> | undefined;
  #isLooking = false;
  #lookedAt = 0;

  constructor(parts: UpdateParts) {
    this.#parts = parts;
  }

  readonly choice: ShellChoice<Choice> = {
    read: () => this.#readChoice(),
    write: (choice) => {
      writeFileSync(this.#choiceFile, JSON.stringify({ look: choice }), { mode: 0o600 });
      if (choice === 'ask') void this.lookWhenDue();
    },
  };

  async lookWhenDue(): Promise<void> {
    if (this.#readChoice() !== 'ask' || Math.abs(Date.now() - this.#lookedAt) < 24 * hour) return;
    // Not for today either: it looks within the hour in which there is a network again.
    if (!net.isOnline() || !(await this.#mayUseNetwork())) return;
    await this.#look('quietly');
  }

  async lookNow(): Promise<void> {
    const obstacle = !(await this.#mayUseNetwork())
      ? 'The network is turned off in the settings.'
      : net.isOnline()
        ? undefined
        : 'This computer is offline. Everything that stays on it works.';
    if (obstacle === undefined) await this.#look('aloud');
    else await say('info', 'Keyhearth did not check for updates', obstacle);
  }

  async #mayUseNetwork(): Promise<boolean> {
    try {
      return await this.#parts.networkAllowed();
    } catch {
      // A vault that does not hold says nothing that could be relied on.
      return false;
    }
  }

  async #look(how: 'quietly' | 'aloud'): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookedAt = Date.now();
    try {
      const updater = await (this.#updater ??= this.#start());
      const found = await updater.checkForUpdates();
      if (found?.isUpdateAvailable === true) await this.#offer(updater, found.updateInfo.version, how);
      else if (how === 'aloud') await say('info', 'Keyhearth is up to date', `Version ${app.getVersion()}.`);
    } catch (error) {
      // There may have been no way to the server; what was refused is refused for a day.
      if (!isRefused(error)) this.#lookedAt = 0;
      await this.#report(error, how);
    } finally {
      this.#isLooking = false;
    }
  }

  async #start(): Promise<AppUpdater> {
    // The updater is loaded only when it first checks.
    const { followFeed, systemUpdater } = await import('./update-provider.ts');
    const updater = await (this.#parts.updater?.() ?? Promise.resolve(systemUpdater()));
    followFeed(updater, this.#parts.feed);
    updater.logger = null;
    // Each call rejects as well; without a listener, this event would end the process.
    updater.on('error', () => undefined);
    return updater;
  }

  async #offer(updater: AppUpdater, version: string, how: 'quietly' | 'aloud'): Promise<void> {
    if (how === 'quietly' && this.#declined.has(version)) return;
    const wanted = await confirm(
      `Keyhearth ${version} is available`,
      `This is ${app.getVersion()}. The download comes from ${new URL(this.#parts.feed.url).host}, and its signature is checked. Keyhearth asks before it installs the update.`,
      'Download',
    );
    if (!wanted) {
      this.#declined.add(version);
      return;
    }
    await withProgressBar(updater, () => updater.downloadUpdate());
    const now = await confirm(
      `Keyhearth ${version} is ready to install`,
      'Installing locks the vault and restarts Keyhearth.',
      'Install now',
    );
    if (now) await this.#install(updater);
    else this.#declined.add(version);
  }

  async #install(updater: AppUpdater): Promise<void> {
    await this.#parts.close();
    // The new version starts while this one ends.
    app.releaseSingleInstanceLock();
    updater.once('error', (error) => {
      report('the update was not installed', error);
      dialog.showErrorBox('Couldn’t install the update', error.message);
      app.quit();
    });
    updater.quitAndInstall(false, true);
  }

  async #report(error: unknown, how: 'quietly' | 'aloud'): Promise<void> {
    report('no update', error);
    const message = reasonOf(error);
    if (isRefused(error)) await say('warning', 'Keyhearth refused an update', message);
    else if (how === 'aloud') await say('error', 'Couldn’t check for updates', message);
  }

  #readChoice(): Choice {
    try {
      const { look } = JSON.parse(readFileSync(this.#choiceFile, 'utf8')) as { readonly look?: unknown };
      return look === 'ask' ? 'ask' : 'off';
    } catch {
      return 'off';
    }
  }
}

const isRefused = (error: unknown): boolean => error instanceof Error && error.name === 'UpdateRefusedError';

async function say(type: 'info' | 'warning' | 'error', message: string, detail: string): Promise<void> {
  await dialog.showMessageBox({ type, message, detail, buttons: ['OK'] });
}

/** Shows on the icons of the windows how much of a download is there. */
async function withProgressBar(updater: AppUpdater, download: () => Promise<unknown>): Promise<void> {
  // Electron: below zero hides the bar.
  const show = (part: number): void => {
    for (const window of BrowserWindow.getAllWindows()) window.setProgressBar(part);
  };
  const onProgress = ({ percent }: { readonly percent: number }): void => {
    show(percent / 100);
  };
  updater.on('download-progress', onProgress);
  try {
    await download();
  } finally {
    updater.off('download-progress', onProgress);
    show(-1);
  }
}

/** @returns whether the person wants it. */
async function confirm(message: string, detail: string, yes: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message,
    detail,
    buttons: [yes, 'Not now'],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
  });
  return response === 0;
}
