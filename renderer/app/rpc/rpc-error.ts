/** A call that was refused: its message is for a person. */
export class RpcError extends Error {
  declare protected readonly brand: 'RpcError';
  override readonly name = 'RpcError';
}

/** A call without an answer: the service may have done what it was asked. */
export class UnansweredError extends RpcError {}

/** Between two looks while the service does not answer, in milliseconds. */
const betweenLooks = 1_000;

/**
 * Makes a call. Where its answer is lost, looks for what it did, as soon as the service answers again.
 * @param find Reads. Undefined where it finds nothing done: a call may still be under way, so the call's own error stands.
 */
export async function orFind<T>(call: () => Promise<T>, find: () => Promise<T | undefined>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    const found = await onceAnswered(find).catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}

async function onceAnswered<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, betweenLooks));
    }
  }
}

/** @returns the message of an error, or a thrown value of another type as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
