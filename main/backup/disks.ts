/**
 * Calls on files that may lie on a disk that does not answer. A network share whose server is gone holds a call for as long as
 * the server is gone: in the main thread that would be the whole service, and elsewhere it is one of the few threads that carry
 * out all calls of the process. So these calls are asynchronous, have a limit of time, and are made one at a time for each
 * directory.
 */
import { LatchkeyError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';

/** Longer than a disk takes that has to begin to turn. */
const answersWithinMs = 10_000;

/** How many calls wait for one that does not come back; more are refused at once. */
const mostWaiting = 20;

interface Line {
  last: Promise<unknown>;
  length: number;
}

export class Disks {
  readonly #lines = new Map<string, Line>();

  /**
   * Has work done on the files of a directory, in its turn. The work calls nothing of this itself.
   * @param discard Takes what comes too late.
   * @throws LatchkeyError UNAVAILABLE where it takes longer than the limit; the work may still be done then.
   */
  async ask<T>(
    directory: string,
    work: () => Promise<T>,
    {
      limitMs = answersWithinMs,
      discard,
    }: { readonly limitMs?: number; readonly discard?: (value: T) => unknown } = {},
  ): Promise<T> {
    const line = this.#lines.get(directory) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= mostWaiting) throw silent(directory);
    this.#lines.set(directory, line);
    line.length++;
    const limit = new AbortController();
    const turn = line.last.then(() => {
      limit.signal.throwIfAborted();
      return work();
    });
    line.last = turn.then(
      (value) => {
        this.#leave(directory, line);
        if (limit.signal.aborted && discard !== undefined) owned(discard)(value);
      },
      () => {
        this.#leave(directory, line);
      },
    );
    const { promise: late, reject } = Promise.withResolvers<never>();
    const end = owned(() => {
      limit.abort();
      reject(silent(directory));
    }, reject);
    const timer = setTimeout(end, limitMs);
    try {
      return await Promise.race([turn, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #leave(directory: string, line: Line): void {
    line.length--;
    if (line.length === 0) this.#lines.delete(directory);
  }
}

/** The threads are the process's, so the lines are too. */
export const disks = new Disks();

const silent = (directory: string): LatchkeyError =>
  new LatchkeyError(
    'UNAVAILABLE',
    `the disk of ${directory} does not answer: see that the drive or the network share is connected, and try again`,
  );
