/**
 * Links to Latchkey from elsewhere. Anybody can make one, so a link shows the window and does nothing else: it may name an
 * activity that waits for the owner's vote, which is then what the window shows.
 *
 * The system's scheme has the name of the page's own and is another thing: no link is ever loaded.
 */
import { app } from 'electron';
import type { Approvals } from './approvals.ts';
import { hiddenSwitch } from './login.ts';
import { scheme } from './page.ts';
import { showWindow } from './window.ts';

const approvalLink = /^latchkey:\/\/approvals\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/;

/** Follows links until it is disposed of. */
export function followLinks(approvals: Pick<Approvals, 'waiting'>): Disposable {
  const follow = (link: string | undefined): void => {
    const [, id] = approvalLink.exec(link ?? '') ?? [];
    const waits = id !== undefined && approvals.waiting.some((activity) => activity.id === id);
    if (waits) showWindow(`/approvals/${id}`);
    else showWindow();
  };
  // Where macOS hands a link to.
  const onUrl = (event: { preventDefault(): void }, url: string): void => {
    event.preventDefault();
    follow(url);
  };
  // Elsewhere, a second instance is started with it, which ends at once.
  const onSecond = (_event: unknown, argv: readonly string[]): void => {
    // The session starts what somebody started before it: nobody asked for a window.
    if (argv.includes(`--${hiddenSwitch}`)) return;
    follow(argv.find((argument) => argument.startsWith(`${scheme}:`)));
  };
  app.on('open-url', onUrl);
  app.on('second-instance', onSecond);
  // What runs from its sources would register Electron itself.
  if (app.isPackaged) app.setAsDefaultProtocolClient(scheme);
  return {
    [Symbol.dispose]() {
      app.off('open-url', onUrl);
      app.off('second-instance', onSecond);
    },
  };
}
