/** Executes an allowed activity in the name of its submitter, at once or after the last vote. */
import type { ActivityEntry } from '../../storage/tables/activities.ts';
import type { Writer } from '../../storage/connection.ts';
import type { Caller } from '../../lib/caller.ts';
import { errorCodes, KeyhearthError, toFailure } from '../../lib/errors.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import type { Counting } from '../../policy/decide/items.ts';
import { keepReservations } from '../decision/decide.ts';
import { sealForAsker } from '../answer/askers-secrets.ts';
import type { ActivityOperation } from '../define.ts';
import type { Engine } from './engine.ts';

interface ToExecute {
  readonly organizationId: string;
  readonly params: unknown;
  /** The user who submitted the activity. */
  readonly caller: Caller;
  readonly now: number;
}

/** The result of preparing. */
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
  task: ToExecute,
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

export type Execution =
  /** As the log keeps it. */
  { readonly result: Readonly<Record<string, unknown>> } | { readonly failure: KeyhearthError };

/** Runs the activity. A refusal undoes its writes and is kept; any other error undoes the whole request. */
export function executeActivity(
  tx: Writer,
  engine: Engine,
  operation: ActivityOperation,
  task: ToExecute & {
    readonly activityId: string;
    readonly prepared: Prepared;
    readonly counting: Counting;
  },
): Execution {
  const { activityId, prepared, counting, ...rest } = task;
  const { reservations, failure } = counting;
  const { organizationId, caller, now } = task;
  const { keys, random, sandbox } = engine;
  const post = (message: OutgoingMessage): void => {
    engine.post(tx, organizationId, message);
  };
  const noteKeyUse = (keyId: string): void => {
    engine.onKeyUse(keyId, { organizationId, usedAt: now });
  };
  try {
    return {
      result: tx.savepoint(() => {
        if (failure !== undefined) throw failure;
        keepReservations(tx, caller.organizationId, activityId, reservations, now);
        const result = operation.run({
          ...rest,
          tx,
          keys,
          random,
          sandbox,
          prepared: prepared.take(),
          post,
          noteKeyUse,
        });
        return sealForAsker(keys, operation, caller, result);
      }),
    };
  } catch (error) {
    if (!(error instanceof KeyhearthError) || !errorCodes[error.code].recorded) throw error;
    error.lasting?.();
    return { failure: error };
  }
}

/** The columns of the log for an executed activity, or for one that still waits. */
export function endOf(
  execution: Execution | undefined,
): Pick<ActivityEntry, 'status' | 'result' | 'failure'> {
  if (execution === undefined) {
    return { status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', result: null, failure: null };
  }
  return 'result' in execution
    ? { status: 'ACTIVITY_STATUS_COMPLETED', result: JSON.stringify(execution.result), failure: null }
    : {
        status: 'ACTIVITY_STATUS_FAILED',
        result: null,
        failure: JSON.stringify(toFailure(execution.failure)),
      };
}
