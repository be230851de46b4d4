import { app } from 'electron';
import { report } from './report.ts';

/** Closes what is open before the application ends, once, however often it is asked to quit meanwhile. */
export function closeBeforeQuit(close: () => Promise<void>): void {
  let state: 'open' | 'closing' | 'closed' = 'open';
  app.on('will-quit', (event) => {
    if (state === 'closed') return;
    event.preventDefault();
    if (state === 'closing') return;
    state = 'closing';
    void close()
      .catch((error: unknown) => {
        report('the vault did not close cleanly', error);
      })
      .then(() => {
        state = 'closed';
        app.quit();
      });
  });
}
