/** Approving and rejecting what waits. The answer is the activity that is voted on; the vote lives in it. */
import {
  appendActivity,
  findActivityByFingerprint,
  type ActivityRow,
} from '../../storage/tables/activities.ts';
import { readVotes, type Selection, type Vote } from '../../storage/tables/votes.ts';
import type { Reader } from '../../storage/connection.ts';
import type { Caller } from '../../lib/caller.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Verdict } from '../../policy/decide/decide.ts';
import { nothingPrepared, prepare, type Prepared } from './execute.ts';
import { giveVote, isAllowed, writePrepared, type GivenVote } from './give-vote.ts';
import { ofAnotherOrganization } from '../decision/decide.ts';
import type { Activity } from '../decision/facts.ts';
import { noPermission } from '../decision/no-permission.ts';
import { askedByVote, checkScope } from '../decision/scope.ts';
import type { VoteOperation } from '../define.ts';
import type { Engine, Submitted, SubmitRequest } from './engine.ts';
import { checkLive, parseRequest } from './parse-request.ts';
import { operationOf } from './stored.ts';
import { readWaiting, type Waiting } from '../decision/waiting.ts';

/** A vote, whichever request it came with. */
export interface VoteRequest {
  readonly organizationId: string;
  /** Of the activity that is voted on. */
  readonly fingerprint: string;
  readonly selection: Selection;
  readonly timestampMs: string;
  /** The vote as a request of its own; absent where the same request as the activity's came from another user. */
  readonly own?: { readonly operation: VoteOperation; readonly activity: Activity };
}

/** @throws KeyhearthError as `castVote`. */
export async function submitVote(
  engine: Engine,
  operation: VoteOperation,
  request: SubmitRequest,
): Promise<Submitted> {
  const { type, organizationId, timestampMs, params } = parseRequest(operation, request.body);
  const { fingerprint } = params as { readonly fingerprint: string };
  const own = { operation, activity: { type, organizationId, params } };
  return castVote(engine, request, {
    ...{ organizationId, timestampMs, fingerprint, selection: operation.vote, own },
  });
}

/**
 * Gives a vote once: the same body again answers the activity's current state. The vote executes the activity
 * if quorum and policies then allow it.
 * @throws KeyhearthError if the activity does not exist, accepts no votes, or a vote of this user would not
 * matter.
 */
export async function castVote(
  engine: Engine,
  request: SubmitRequest,
  vote: VoteRequest,
): Promise<Submitted> {
  const { units, keys, clock } = engine;
  const { organizationId, selection } = vote;
  const message = Buffer.from(request.raw).toString('utf8');

  return writePrepared(engine, request, prepareEarly, (tx, prepared) => {
    // Not before: the vote may have waited for the log to be followed, or for another process that held the file.
    const now = clock.now();
    const admitted = admit(tx, now);
    if ('given' in admitted) {
      if (keys.unlocked) request.spend?.(tx);
      return { row: admitted.given, isRepeat: true };
    }
    const { target, caller, waiting, verdict } = admitted;
    // Unlocked since the early check, so the row may not be as it was written: retry.
    if (tx.waiting?.isFollowed === false) return undefined;
    // Became allowed after the early check, so `prepare` has not run: retry.
    if (isAllowed(verdict) && !prepared) return undefined;
    request.spend?.(tx);
    // A second approval with the same credential says nothing new, unless it is what lets the activity happen now.
    if (selection === 'VOTE_SELECTION_APPROVED' && !isAllowed(verdict) && repeats(waiting, caller)) {
      return { row: target, isRepeat: false };
    }
    const { vote, end } = giveVote(tx, engine, request, {
      ...{ activity: target, voter: caller, selection, verdict, now, prepared },
      execution: () => taskOf(target, waiting),
    });
    const appended = appendActivity(tx, {
      ...target,
      revision: target.revision + 1,
      ...(selection === 'VOTE_SELECTION_REJECTED' ? { ...end, status: 'ACTIVITY_STATUS_REJECTED' } : end),
      votes: JSON.stringify([...(readVotes(tx, target) ?? []), vote]),
      updatedAt: now,
    });
    engine.onAppended(tx, appended, caller);
    return { row: appended, isRepeat: false };
  });

  /** @returns undefined where there is something to prepare, and nothing that allows it yet. */
  async function prepareEarly(): Promise<Prepared | undefined> {
    await engine.logFollowed();
    const now = clock.now();
    const early = units.read((tx) => admit(tx, now));
    if ('given' in early || !isAllowed(early.verdict)) return undefined;
    const { operation, ...task } = taskOf(early.target, early.waiting);
    if (!operation.prepare) return nothingPrepared;
    return prepare(engine, operation, { organizationId, ...task, now });
  }

  /** The execution of the activity, in the name of its submitter. */
  function taskOf(target: ActivityRow, waiting: Waiting): ReturnType<GivenVote['execution']> {
    const { operation, activity } = operationOf(engine.operations, target);
    return { operation, params: activity.params, caller: submitterOf(target, waiting) };
  }

  function admit(
    tx: Reader,
    now: number,
  ):
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
    const target = findActivityByFingerprint(tx, organizationId, vote.fingerprint);
    if (target === undefined) {
      throw new KeyhearthError(
        'NOT_FOUND',
        'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
      );
    }
    const isThis = (vote: Vote): boolean => vote.userId === caller.userId && vote.message === message;
    if (readVotes(tx, target)?.some(isThis) === true) return { given: target };
    checkLive(vote.timestampMs, clock);
    const status = engine.rejections.includes(target) ? 'ACTIVITY_STATUS_REJECTED' : target.status;
    if (status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
      throw new KeyhearthError(
        'FAILED_PRECONDITION',
        `invalid parameters.fingerprint: activity ${target.id} takes no more votes, it is ${status}`,
      );
    }
    keys.checkUnlocked();
    const waiting = readWaiting(tx, engine.operations, target, now);
    if (!waiting.mayVote(caller)) {
      throw noPermission('Neither the root quorum nor a policy needs your vote on this activity');
    }
    for (const { operation, activity } of askedByVote(engine.operations, target, selection, vote.own)) {
      checkScope(tx, operation, activity, caller, now);
    }
    const verdict = selection === 'VOTE_SELECTION_APPROVED' ? waiting.decideWith(caller) : undefined;
    if (isAllowed(verdict)) submitterOf(target, waiting);
    return { target, caller, waiting, verdict };
  }
}

const repeats = ({ approvals }: Waiting, { userId, stamp }: Caller): boolean =>
  approvals.some((vote) => vote.userId === userId && vote.publicKey === stamp.publicKey);

/** In whose name the activity is executed. */
function submitterOf({ id }: ActivityRow, { submitter }: Waiting): Caller {
  if (submitter !== undefined) return submitter;
  throw new KeyhearthError(
    'FAILED_PRECONDITION',
    `activity ${id} cannot be executed: the user who submitted it is gone. Reject it, and submit it anew.`,
  );
}
