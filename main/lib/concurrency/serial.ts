import { owned } from '../faults.ts';

/** Work in turn: a piece begins once the one before it has ended, however that ended. */
export class SerialQueue {
  readonly #onIdle: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;
  #isOverdue = false;

  /** @param onIdle Called whenever nothing is left. */
  constructor(onIdle: () => void = () => undefined) {
    this.#onIdle = onIdle;
  }

  /** Number of pieces that wait or are in progress. */
  get length(): number {
    return this.#length;
  }

  /** True if the limit of a piece has passed since one ended: the work in progress may hang. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#length++;
    const turn = this.#last.then(work).finally(() => {
      this.#isOverdue = false;
      if (--this.#length === 0) this.#onIdle();
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /**
   * The same, with a limit that counts from this call. The next piece waits for the work itself all the same.
   * @param work Its signal is aborted at the limit. Work that has not begun by then never does.
   * @param late Creates the error for the caller.
   */
  async runWithin<T>(
    limitMs: number,
    late: () => Error,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    const turn = this.run(() => {
      limit.signal.throwIfAborted();
      return work(limit.signal);
    });
    const { promise: limitReached, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => {
      this.#isOverdue = true;
      limit.abort(late());
      reject(limit.signal.reason);
    };
    const timer = setTimeout(owned(giveUp, reject), limitMs).unref();
    try {
      return await Promise.race([turn, limitReached]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves once all that was asked for so far has ended. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
