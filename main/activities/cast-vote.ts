/** Approving and rejecting what waits. The answer is the activity that is voted on; the vote lives in it. */
import { uuidV4 } from '../crypto/uuid.ts';
import { appendActivity, findActivityByFingerprint, type ActivityRow } from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { insertEvaluations } from '../db/policy-evaluations.ts';
import type { Caller } from '../lib/caller.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { Verdict } from '../policy/decide.ts';
import { carryOut, endOf, nothingPrepared, prepare, type Prepared } from './carry-out.ts';
import { noPermission, ofAnotherOrganization } from './decision.ts';
import type { VoteOperation } from './define.ts';
import type { Engine, SubmitRequest } from './engine.ts';
import { checkLive, understand } from './understand.ts';
import { operationOf } from './stored.ts';
import { makeVote, votesOf, type Selection, type Vote } from './votes.ts';
import { readWaiting, type Waiting } from './waiting.ts';

/** A vote, whichever request it came with. */
export interface Ballot {
  readonly organizationId: string;
  /** Of the activity that is voted on. */
  readonly fingerprint: string;
  readonly selection: Selection;
  readonly timestampMs: string;
}

/** @throws LatchkeyError as `castVote`. */
export async function submitVote(
  engine: Engine,
  operation: VoteOperation,
  request: SubmitRequest,
): Promise<ActivityRow> {
  const { organizationId, timestampMs, params } = understand(operation, request.body);
  const { fingerprint } = params as { readonly fingerprint: string };
  return castVote(engine, request, { organizationId, timestampMs, fingerprint, selection: operation.vote });
}

/**
 * Gives a vote once: the same body again answers the activity as it is by then. An approval with which neither quorum nor
 * policies stand against the activity any more carries it out.
 * @throws LatchkeyError where there is no such activity, it takes no votes any more, or one of this user would not matter.
 */
export async function castVote(engine: Engine, request: SubmitRequest, ballot: Ballot): Promise<ActivityRow> {
  const { units, keys, random, clock } = engine;
  const { organizationId, selection } = ballot;
  const now = clock.now();
  const message = Buffer.from(request.raw).toString('utf8');

  for (;;) {
    using prepared = await prepareEarly();
    const write = (tx: Writer): ActivityRow | undefined => {
      const admitted = admit(tx);
      if ('given' in admitted) {
        if (keys.unlocked) request.spend?.(tx);
        return admitted.given;
      }
      const { target, caller, waiting, verdict } = admitted;
      // What came to be allowed since it was looked at early has not been prepared.
      if (isAllowed(verdict) && !prepared) return undefined;
      request.spend?.(tx);
      // A second approval with the same credential says nothing new, unless it is what lets the activity happen now.
      if (selection === 'VOTE_SELECTION_APPROVED' && !isAllowed(verdict) && repeats(waiting, caller)) {
        return target;
      }
      // Before it is carried out, which may take the voter or the whole organization away.
      const vote = makeVote(tx, caller, request.raw, selection, { random, now });
      if (verdict !== undefined && verdict.evaluations.length > 0) {
        insertEvaluations(tx, {
          id: uuidV4(random('policy evaluation', 16)),
          organizationId,
          activityId: target.id,
          voteId: vote.id,
          policyEvaluations: verdict.evaluations,
          createdAt: now,
        });
      }
      const { operation, activity } = operationOf(engine.operations, target);
      const outcome =
        isAllowed(verdict) && prepared
          ? carryOut(tx, engine, operation, {
              activityId: target.id,
              organizationId,
              params: activity.params,
              caller: submitterOf(target, waiting),
              now,
              prepared,
              reservations: verdict.reservations,
            })
          : undefined;
      const appended = appendActivity(tx, {
        ...target,
        revision: target.revision + 1,
        ...(selection === 'VOTE_SELECTION_REJECTED'
          ? { status: 'ACTIVITY_STATUS_REJECTED', result: null, failure: null }
          : endOf(outcome)),
        votes: JSON.stringify([...votesOf(target), vote]),
        updatedAt: now,
      });
      engine.onAppended(tx, appended);
      return appended;
    };
    const row = await units.write(write, { meter: request.meter });
    if (row !== undefined) return row;
  }

  /** @returns undefined where there is something to prepare, and nothing that allows it yet. */
  async function prepareEarly(): Promise<Prepared | undefined> {
    const early = units.read(admit);
    if ('given' in early || !isAllowed(early.verdict)) return undefined;
    const { target, waiting } = early;
    const { operation, activity } = operationOf(engine.operations, target);
    const caller = submitterOf(target, waiting);
    if (!operation.prepare) return nothingPrepared;
    return prepare(engine, operation, { organizationId, params: activity.params, caller, now });
  }

  function admit(tx: Reader):
    | { readonly given: ActivityRow }
    | {
        readonly target: ActivityRow;
        readonly caller: Caller;
        readonly waiting: Waiting;
        /** Of an approval. */
        readonly verdict: Verdict | undefined;
      } {
    const caller = request.identify(tx);
    if (caller.organizationId !== organizationId) throw ofAnotherOrganization(organizationId, caller);
    const target = findActivityByFingerprint(tx, organizationId, ballot.fingerprint);
    if (target === undefined) {
      throw new LatchkeyError(
        'NOT_FOUND',
        'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
      );
    }
    const isThis = (vote: Vote): boolean => vote.userId === caller.userId && vote.message === message;
    if (votesOf(target).some(isThis)) return { given: target };
    checkLive(ballot.timestampMs, clock);
    if (target.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
      throw new LatchkeyError(
        'FAILED_PRECONDITION',
        `invalid parameters.fingerprint: activity ${target.id} takes no more votes, it is ${target.status}`,
      );
    }
    keys.checkUnlocked();
    const waiting = readWaiting(tx, engine.operations, target, now);
    if (!waiting.mayVote(caller)) {
      throw noPermission('Neither the root quorum nor a policy needs your vote on this activity');
    }
    const verdict = selection === 'VOTE_SELECTION_APPROVED' ? waiting.decideWith(caller) : undefined;
    if (isAllowed(verdict)) submitterOf(target, waiting);
    return { target, caller, waiting, verdict };
  }
}

const isAllowed = (
  verdict: Verdict | undefined,
): verdict is Extract<Verdict, { readonly outcome: 'allow' }> => verdict?.outcome === 'allow';

const repeats = ({ approvals }: Waiting, { userId, stamp }: Caller): boolean =>
  approvals.some((vote) => vote.userId === userId && vote.publicKey === stamp.publicKey);

/** In whose name the activity is carried out. */
function submitterOf({ id }: ActivityRow, { submitter }: Waiting): Caller {
  if (submitter !== undefined) return submitter;
  throw new LatchkeyError(
    'FAILED_PRECONDITION',
    `activity ${id} cannot be carried out: the user who submitted it is gone. Reject it, and submit it anew.`,
  );
}
