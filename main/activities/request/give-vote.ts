/** Shared by submitting and voting: adds a vote and executes the activity if the vote allows it. */
import { uuidV4 } from '../../crypto/uuid.ts';
import type { ActivityEntry, ActivityRow } from '../../storage/tables/activities.ts';
import type { Writer } from '../../storage/connection.ts';
import { insertEvaluations } from '../../storage/tables/policy-evaluations.ts';
import type { Selection, Vote } from '../../storage/tables/votes.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Verdict } from '../../policy/decide/decide.ts';
import { makeVote } from '../decision/votes.ts';
import type { ActivityOperation } from '../define.ts';
import type { Engine, SubmitRequest } from './engine.ts';
import { endOf, executeActivity, type Prepared } from './execute.ts';

export type Allowed = Extract<Verdict, { readonly outcome: 'allow' }>;

export const isAllowed = (verdict: Verdict | undefined): verdict is Allowed => verdict?.outcome === 'allow';

/**
 * Prepares an activity that is already allowed, and then writes.
 * @param prepareEarly Answers undefined if there is something to prepare but the activity is not allowed yet.
 * @param write Answers undefined if the activity became allowed after the early check. All steps are repeated
 * then.
 */
export async function writePrepared<Written>(
  { units }: Engine,
  { meter }: SubmitRequest,
  prepareEarly: () => Promise<Prepared | undefined>,
  write: (tx: Writer, prepared: Prepared | undefined) => Written | undefined,
): Promise<Written> {
  for (;;) {
    using prepared = await prepareEarly();
    const written = await units.write((tx) => write(tx, prepared), { meter });
    if (written !== undefined) return written;
  }
}

export interface GivenVote {
  readonly activity: Pick<ActivityRow, 'id' | 'organizationId'>;
  readonly voter: Caller;
  readonly selection: Selection;
  readonly verdict: Verdict | undefined;
  readonly now: number;
  readonly prepared: Prepared | undefined;
  /** @returns what the vote lets happen, and in whose name; asked for only where it does. */
  readonly execution: () => {
    readonly operation: ActivityOperation;
    readonly params: unknown;
    readonly caller: Caller;
  };
}

/** @returns the vote, and what the log says of its activity from now on. */
export function giveVote(
  tx: Writer,
  engine: Engine,
  request: SubmitRequest,
  { activity, voter, selection, verdict, now, prepared, execution: task }: GivenVote,
): { readonly vote: Vote; readonly end: Pick<ActivityEntry, 'status' | 'result' | 'failure'> } {
  const { random } = engine;
  const { id: activityId, organizationId } = activity;
  // Before the activity is executed, which may take the voter or the whole organization away.
  const vote = makeVote(tx, voter, request.raw, selection, { random, now });
  if (verdict !== undefined && verdict.evaluations.length > 0) {
    insertEvaluations(tx, {
      id: uuidV4(random('policy evaluation', 16)),
      organizationId,
      activityId,
      voteId: vote.id,
      policyEvaluations: verdict.evaluations,
      createdAt: now,
    });
  }
  if (!isAllowed(verdict) || !prepared) return { vote, end: endOf(undefined) };
  const { operation, ...rest } = task();
  const execution = { ...rest, organizationId, activityId, now, prepared, counting: verdict };
  return { vote, end: endOf(executeActivity(tx, engine, operation, execution)) };
}
