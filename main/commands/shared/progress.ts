/** Progress of work that takes longer than a moment: one line on a terminal, which is cleared at the end. */

const clearLine = '\r\u001b[2K';

export interface Progress extends Disposable {
  /** Shows how much of the work is done. */
  readonly report: (done: number, total: number) => void;
}

/**
 * Shows a line on standard error until it is disposed of. Scripts and pipes get none of it.
 * @param text What is being done: `Testing the backup`.
 * @param json True for a command that a script runs.
 */
export function startProgress(text: string, json: boolean): Progress {
  const isShown = !json && process.stderr.isTTY;
  const show = (line: string): void => {
    if (isShown) process.stderr.write(`${clearLine}${line}`);
  };
  show(`${text} …`);
  return {
    report: (done, total) => {
      show(`${text} … ${String(Math.floor((done / Math.max(total, 1)) * 100))} %`);
    },
    [Symbol.dispose]: () => {
      show('');
    },
  };
}
