/** The life of an activity, from its parsed request to the row that says how it ended, or for what it waits. */
import { hash } from 'node:crypto';
import { uuidV7 } from '../../crypto/uuid.ts';
import {
  appendActivity,
  findActivityByFingerprint,
  type ActivityRow,
} from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { readVotes } from '../../storage/tables/votes.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Verdict } from '../../policy/decide/decide.ts';
import { nothingPrepared, prepare, type Prepared } from './execute.ts';
import { giveVote, isAllowed, writePrepared } from './give-vote.ts';
import { castVote } from './vote.ts';
import { decideSubmitted, notAllowed } from '../decision/decide.ts';
import type { ActivityOperation } from '../define.ts';
import type { Engine, Submitted, SubmitRequest } from './engine.ts';
import { checkLive, isLive, parseRequest } from './parse-request.ts';

/**
 * Runs an activity once: the same body again answers the activity that it made the first time.
 * @returns the activity as it is after COMMIT: completed, failed with the reason kept, or waiting for more votes.
 * @throws KeyhearthError when the request is refused before it becomes an activity.
 */
export async function submit(
  engine: Engine,
  operation: ActivityOperation,
  request: SubmitRequest,
): Promise<Submitted> {
  const { units, keys, random, clock } = engine;
  const understood = parseRequest(operation, request.body);
  const { type, timestampMs, intent, params } = understood;
  const organizationId =
    operation.authority.inCallersOrganization === true ? units.read(belowNamed) : understood.organizationId;
  const fingerprint = `sha256:${hash('sha256', request.raw)}`;

  const submitted = await writePrepared(engine, request, prepareEarly, (tx, prepared) => {
    // Not before: the write may have waited for what was prepared, or for another process that held the file.
    const now = clock.now();
    const admitted = admit(tx, now);
    // Became allowed after the early check, so `prepare` has not run: retry.
    if ('caller' in admitted && isAllowed(admitted.verdict) && !prepared) return undefined;
    if ('known' in admitted && admitted.joins) return joining;
    // A locked vault answers what it did before, and changes nothing.
    if (keys.unlocked) request.spend?.(tx);
    if ('known' in admitted) return { row: admitted.known, isRepeat: true };
    const { caller, verdict } = admitted;
    const id = uuidV7(now, random('activity', 10));
    const selection = 'VOTE_SELECTION_APPROVED';
    const { vote, end } = giveVote(tx, engine, request, {
      ...{ activity: { id, organizationId }, voter: caller, selection, verdict, now, prepared },
      execution: () => ({ operation, params, caller }),
    });
    const appended = appendActivity(tx, {
      id,
      revision: 1,
      organizationId,
      type,
      fingerprint,
      timestampMs: Number(timestampMs),
      intent: JSON.stringify(intent),
      ...end,
      votes: JSON.stringify([vote]),
      createdAt: now,
      updatedAt: now,
    });
    engine.onAppended(tx, appended, caller);
    return { row: appended, isRepeat: false };
  });
  if (submitted !== joining) return submitted;
  const selection = 'VOTE_SELECTION_APPROVED';
  return castVote(engine, request, { organizationId, fingerprint, selection, timestampMs });

  /** @returns undefined where there is something to prepare, and nothing that allows it yet. */
  async function prepareEarly(): Promise<Prepared | undefined> {
    if (!operation.prepare) return nothingPrepared;
    const now = clock.now();
    const early = units.read((tx) => admit(tx, now));
    if (!('caller' in early) || !isAllowed(early.verdict)) return undefined;
    return prepare(engine, operation, { organizationId, params, now, caller: early.caller });
  }

  /** The caller's sub-organization if the request names its parent; else the named organization. */
  function belowNamed(tx: Reader): string {
    const { organizationId: home } = request.identify(tx);
    return getOrganization(tx, home)?.parentId === understood.organizationId
      ? home
      : understood.organizationId;
  }

  /** Answers the activity that this body made before; refuses a new one that is not live or not allowed, and any while locked. */
  function admit(
    tx: Reader,
    now: number,
  ):
    | { readonly known: ActivityRow; readonly joins: boolean }
    | { readonly caller: Caller; readonly verdict: Admitted } {
    const caller = request.identify(tx);
    const known = findActivityByFingerprint(tx, organizationId, fingerprint);
    // A user who signs the very same request while it waits approves it.
    if (known) return { known, joins: joinable(tx, known, caller) && isLive(timestampMs, clock) };
    checkLive(timestampMs, clock);
    const verdict = decideSubmitted(tx, operation, { type, organizationId, params }, caller, now);
    if (verdict.outcome === 'deny') throw notAllowed(verdict);
    keys.checkUnlocked();
    return { caller, verdict };
  }
}

/** Stands for the activity of another user who signed the same. */
const joining = Symbol('joining');

const joinable = (tx: Reader, known: ActivityRow, { organizationId, userId }: Caller): boolean =>
  known.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' &&
  known.organizationId === organizationId &&
  (readVotes(tx, known)?.every((vote) => vote.userId !== userId) ?? false);

type Admitted = Exclude<Verdict, { readonly outcome: 'deny' }>;
