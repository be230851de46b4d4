/** Doing what was allowed, for whoever submitted it and whenever it came to be allowed. */
import type { ActivityEntry } from '../db/activities.ts';
import type { Writer } from '../db/connection.ts';
import type { Caller } from '../lib/caller.ts';
import { errorCodes, LatchkeyError, toFailure } from '../lib/errors.ts';
import type { Message } from '../lib/messages.ts';
import type { Reservation } from '../policy/evaluation.ts';
import { keepReservations } from './decision.ts';
import type { ActivityOperation } from './define.ts';
import type { Engine } from './engine.ts';

interface Task {
  readonly organizationId: string;
  readonly params: unknown;
  /** Who submitted it. */
  readonly caller: Caller;
  readonly now: number;
}

/** What preparing came to. */
export interface Prepared extends Disposable {
  /** Answers what was prepared, or fails as preparing did: either way inside the activity. */
  readonly take: () => unknown;
}

/** Of an operation that awaits nothing. */
export const nothingPrepared: Prepared = { take: () => undefined, [Symbol.dispose]: () => undefined };

/** Does what an operation must await, before the transaction. @returns what is disposed of once the transaction is over. */
export async function prepare(
  { units, keys, random, rpId, verifyIdToken }: Engine,
  operation: ActivityOperation,
  task: Task,
): Promise<Prepared> {
  try {
    const gathered = units.read((tx) => operation.gather?.({ ...task, keys, rpId, tx }));
    const value = await operation.prepare?.({ ...task, gathered, random, verifyIdToken });
    return { take: () => value, [Symbol.dispose]: () => operation.wipe?.(value) };
  } catch (error) {
    return {
      ...nothingPrepared,
      take: () => {
        throw error;
      },
    };
  }
}

export type Outcome =
  { readonly result: Readonly<Record<string, unknown>> } | { readonly failure: LatchkeyError };

/** What a refusal wrote is undone and the refusal kept; anything unforeseen undoes the whole request. */
export function carryOut(
  tx: Writer,
  engine: Engine,
  operation: ActivityOperation,
  task: Task & {
    readonly activityId: string;
    readonly prepared: Prepared;
    readonly reservations: readonly Reservation[];
  },
): Outcome {
  const { activityId, prepared, reservations, ...rest } = task;
  const { organizationId, caller, now } = task;
  const { keys, random, sandbox } = engine;
  const post = (message: Message): void => {
    engine.post(tx, organizationId, message);
  };
  try {
    return {
      result: tx.savepoint(() => {
        keepReservations(tx, caller.organizationId, activityId, reservations, now);
        return operation.run({ ...rest, tx, keys, random, sandbox, prepared: prepared.take(), post });
      }),
    };
  } catch (error) {
    if (!(error instanceof LatchkeyError) || !errorCodes[error.code].recorded) throw error;
    error.lasting?.();
    return { failure: error };
  }
}

/** What a row of the log says of an activity that ended so, or that still waits. */
export function endOf(outcome: Outcome | undefined): Pick<ActivityEntry, 'status' | 'result' | 'failure'> {
  if (outcome === undefined) {
    return { status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', result: null, failure: null };
  }
  return 'result' in outcome
    ? { status: 'ACTIVITY_STATUS_COMPLETED', result: JSON.stringify(outcome.result), failure: null }
    : {
        status: 'ACTIVITY_STATUS_FAILED',
        result: null,
        failure: JSON.stringify(toFailure(outcome.failure)),
      };
}
