/** The clipboard: what is secret is taken off it again after a while, unless it holds something else by then. */
import { clipboard } from 'electron';
import { report } from './report.ts';
import { owned } from '../lib/faults.ts';

const secretsStayMs = 30_000;

interface Waiting {
  readonly text: string;
  readonly timer: NodeJS.Timeout;
}

let waiting: Waiting | undefined;

export async function putCopy(text: string, secret: boolean): Promise<void> {
  await clipboard.writeText(text);
  clearTimeout(waiting?.timer);
  waiting = secret ? { text, timer: setTimeout(owned(forgetCopy), secretsStayMs) } : undefined;
}

/** Takes the secret that was copied last off the clipboard now, where it is still there. */
export function forgetCopy(): void {
  if (waiting === undefined) return;
  const { text, timer } = waiting;
  waiting = undefined;
  clearTimeout(timer);
  clipboard
    .readText()
    .then((copied) => (copied === text ? clipboard.writeText('') : undefined))
    .catch((error: unknown) => {
      report('the clipboard was not cleared', error);
    });
}
