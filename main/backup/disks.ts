/**
 * Calls on files whose disk may not answer. A call on a network share hangs for as long as its server is
 * gone. In the main thread that would stop the whole service; elsewhere it blocks one of the few threads for
 * all calls of the process. So these calls are asynchronous, have a time limit, and run one at a time for
 * each directory.
 */
import { SerialQueue } from '../lib/concurrency/serial.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';

/** Longer than a disk takes that has to begin to turn. */
const answersWithinMs = 10_000;

/** Calls that may wait for one that hangs; more are refused at once. */
const mostWaiting = 20;

export class Disks {
  readonly #queues = new Map<string, SerialQueue>();

  /**
   * Has work done on the files of a directory, in its turn. The work calls nothing of this itself.
   * @param discard Takes what comes too late.
   * @throws KeyhearthError UNAVAILABLE where it takes longer than the limit; the work may still be done then.
   */
  async run<T>(
    directory: string,
    work: () => Promise<T>,
    {
      limitMs = answersWithinMs,
      discard,
    }: { readonly limitMs?: number; readonly discard?: (value: T) => unknown } = {},
  ): Promise<T> {
    const queue = this.#queues.get(directory) ?? new SerialQueue(() => this.#queues.delete(directory));
    if (queue.length >= mostWaiting) throw silent(directory);
    this.#queues.set(directory, queue);
    return queue.runWithin(
      limitMs,
      () => silent(directory),
      async (signal) => {
        const value = await work();
        if (signal.aborted && discard !== undefined) owned(discard)(value);
        return value;
      },
    );
  }
}

/** The threads are the process's, so the queues are too. */
export const disks = new Disks();

export const silent = (directory: string): KeyhearthError =>
  new KeyhearthError(
    'UNAVAILABLE',
    `the disk of ${directory} does not answer: see that the drive or the network share is connected, and try again`,
  );
