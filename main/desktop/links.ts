/**
 * Links to Keyhearth from elsewhere. Any program can open one, so a link shows the window and does nothing else: it may name an
 * activity that waits for the owner's vote, which is then what the window shows.
 *
 * The system's scheme has the name of the page's own and is another thing: no link is ever loaded.
 */
import { app } from 'electron';
import type { Config } from '../app/config.ts';
import type { Approvals } from './approvals.ts';
import { hiddenSwitch } from './login.ts';
import { scheme } from './page.ts';
import { startAgain } from './relaunch.ts';
import { report } from './report.ts';
import { showWindow } from './window.ts';

const approvalLink = /^keyhearth:\/\/approvals\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/;

/** A second instance's own account of its start. Chromium reorders the arguments that it passes on, and adds to them. */
interface SecondStart {
  readonly hidden: boolean;
  readonly link: string | undefined;
}

const linkAmong = (words: readonly string[]): string | undefined =>
  words.find((word) => word.startsWith(`${scheme}:`));

export const thisStart = (argv: readonly string[]): SecondStart => ({
  hidden: app.commandLine.hasSwitch(hiddenSwitch),
  link: linkAmong(argv.slice(1)),
});

/**
 * Listens for links and second starts. Call before `ready`: macOS sends the link that started the application before it, and
 * what comes while the vault starts waits for `follow`.
 */
export function catchLinks(
  argv: readonly string[],
  config: Pick<Config, 'appImage'>,
): { follow(approvals: Pick<Approvals, 'waiting'>): Disposable } {
  const early: (string | undefined)[] = [];
  const wait = (link: string | undefined): void => {
    early.push(link);
  };
  let show = wait;
  const { link: first } = thisStart(argv);
  if (first !== undefined) show(first);

  // macOS delivers links here.
  app.on('open-url', (event, url) => {
    event.preventDefault();
    show(url);
  });
  // Elsewhere, a second instance is started with it, which ends at once.
  app.on('second-instance', (_event, _argv, _directory, data) => {
    const { hidden, link } = (data ?? {}) as Partial<SecondStart>;
    // The session starts a vault that already runs: no person asked for its window.
    if (hidden !== true) show(link);
  });
  // This process holds the lock until it has ended, and a second start has ended by then: it would have been for nothing.
  app.once('before-quit', () => {
    show = () => {
      show = () => undefined;
      startAgain(config);
    };
  });
  return {
    follow(approvals) {
      // An app that runs from its sources would register Electron itself.
      if (app.isPackaged && !app.setAsDefaultProtocolClient(scheme)) {
        report('links to Keyhearth', new Error(`the system did not give it ${scheme}: links`));
      }
      const follow = (link: string | undefined): void => {
        const [, id] = approvalLink.exec(link ?? '') ?? [];
        const waits = id !== undefined && approvals.waiting.activities.some((activity) => activity.id === id);
        if (waits) showWindow(`/approvals/${id}`);
        else showWindow();
      };
      // Unless the application is asked to quit while the vault opens.
      if (show === wait) {
        show = follow;
        for (const link of early.splice(0)) follow(link);
      }
      return {
        [Symbol.dispose]() {
          // A window would have no vault behind it.
          if (show === follow) show = () => undefined;
        },
      };
    },
  };
}
