/** The life of an activity, from its parsed request to the row that says how it ended, or for what it waits. */
import { hash } from 'node:crypto';
import { uuidV4, uuidV7 } from '../crypto/uuid.ts';
import { appendActivity, findActivityByFingerprint, type ActivityRow } from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { getOrganization } from '../db/organizations.ts';
import { insertEvaluations } from '../db/policy-evaluations.ts';
import type { Caller } from '../lib/caller.ts';
import type { Verdict } from '../policy/decide.ts';
import { carryOut, endOf, nothingPrepared, prepare, type Outcome, type Prepared } from './carry-out.ts';
import { castVote } from './cast-vote.ts';
import { decideSubmitted, notAllowed } from './decision.ts';
import type { ActivityOperation } from './define.ts';
import type { Engine, SubmitRequest } from './engine.ts';
import { checkLive, isLive, understand } from './understand.ts';
import { makeVote, votesOf } from './votes.ts';

/**
 * Runs an activity once: the same body again answers the activity that it made the first time.
 * @returns the activity as it is after COMMIT: completed, failed with the reason kept, or waiting for more votes.
 * @throws LatchkeyError when the request is refused before it becomes an activity.
 */
export async function submit(
  engine: Engine,
  operation: ActivityOperation,
  request: SubmitRequest,
): Promise<ActivityRow> {
  const { units, keys, random, clock } = engine;
  const understood = understand(operation, request.body);
  const { type, timestampMs, intent, params } = understood;
  const organizationId =
    operation.authority.inCallersOrganization === true ? units.read(belowNamed) : understood.organizationId;
  const fingerprint = `sha256:${hash('sha256', request.raw)}`;
  const now = clock.now();
  const task = { organizationId, params, now };

  for (;;) {
    using prepared = await prepareEarly();
    const write = (tx: Writer): ActivityRow | typeof joining | undefined => {
      const admitted = admit(tx);
      // What came to be allowed since it was looked at early has not been prepared.
      if ('caller' in admitted && isAllowed(admitted.verdict) && !prepared) return undefined;
      if ('known' in admitted && admitted.joins) return joining;
      // A locked vault answers what it did before, and changes nothing.
      if (keys.unlocked) request.spend?.(tx);
      if ('known' in admitted) return admitted.known;
      const { caller, verdict } = admitted;
      const id = uuidV7(now, random('activity', 10));
      // Before it is carried out, which may take the voter or the whole organization away.
      const vote = makeVote(tx, caller, request.raw, 'VOTE_SELECTION_APPROVED', { random, now });
      if (verdict.evaluations.length > 0) {
        insertEvaluations(tx, {
          id: uuidV4(random('policy evaluation', 16)),
          organizationId,
          activityId: id,
          voteId: vote.id,
          policyEvaluations: verdict.evaluations,
          createdAt: now,
        });
      }
      const outcome: Outcome | undefined =
        isAllowed(verdict) && prepared
          ? carryOut(tx, engine, operation, {
              ...task,
              activityId: id,
              caller,
              prepared,
              reservations: verdict.reservations,
            })
          : undefined;
      const row = appendActivity(tx, {
        id,
        revision: 1,
        organizationId,
        type,
        fingerprint,
        timestampMs: Number(timestampMs),
        intent: JSON.stringify(intent),
        ...endOf(outcome),
        votes: JSON.stringify([vote]),
        createdAt: now,
        updatedAt: now,
      });
      engine.onAppended(tx, row);
      return row;
    };
    const row = await units.write(write, { meter: request.meter });
    if (row === joining) {
      return await castVote(engine, request, {
        organizationId,
        fingerprint,
        selection: 'VOTE_SELECTION_APPROVED',
        timestampMs,
      });
    }
    if (row !== undefined) return row;
  }

  /** @returns undefined where there is something to prepare, and nothing that allows it yet. */
  async function prepareEarly(): Promise<Prepared | undefined> {
    if (!operation.prepare) return nothingPrepared;
    const early = units.read(admit);
    if (!('caller' in early) || !isAllowed(early.verdict)) return undefined;
    return prepare(engine, operation, { ...task, caller: early.caller });
  }

  /** The sub-organization of whoever named its parent; else what was named. */
  function belowNamed(tx: Reader): string {
    const { organizationId: home } = request.identify(tx);
    return getOrganization(tx, home)?.parentId === understood.organizationId
      ? home
      : understood.organizationId;
  }

  /** Answers the activity that this body made before; refuses a new one that is not live or not allowed, and any while locked. */
  function admit(
    tx: Reader,
  ):
    | { readonly known: ActivityRow; readonly joins: boolean }
    | { readonly caller: Caller; readonly verdict: Admitted } {
    const caller = request.identify(tx);
    const known = findActivityByFingerprint(tx, organizationId, fingerprint);
    // Whoever signs the very same request while it waits approves of it.
    if (known) return { known, joins: joinable(known, caller) && isLive(timestampMs, clock) };
    checkLive(timestampMs, clock);
    const verdict = decideSubmitted(tx, operation, { type, organizationId, params }, caller, now);
    if (verdict.outcome === 'deny') throw notAllowed(verdict);
    keys.checkUnlocked();
    return { caller, verdict };
  }
}

/** Stands for the activity of another user who signed the same. */
const joining = Symbol('joining');

const joinable = (known: ActivityRow, { organizationId, userId }: Caller): boolean =>
  known.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' &&
  known.organizationId === organizationId &&
  votesOf(known).every((vote) => vote.userId !== userId);

type Admitted = Exclude<Verdict, { readonly outcome: 'deny' }>;
type Allowed = Extract<Verdict, { readonly outcome: 'allow' }>;

const isAllowed = (verdict: Verdict): verdict is Allowed => verdict.outcome === 'allow';
