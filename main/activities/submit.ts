/** The life of an activity, from its parsed request to the row that says how it ended. */
import { hash } from 'node:crypto';
import { uuidV4, uuidV7 } from '../crypto/uuid.ts';
import { appendActivity, findActivityByFingerprint, type ActivityRow } from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { getOrganization } from '../db/organizations.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import { keepUserSnapshot } from '../db/user-snapshots.ts';
import type { Caller } from '../lib/caller.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCodes, LatchkeyError, toFailure } from '../lib/errors.ts';
import type { VerifyIdToken } from '../lib/id-tokens.ts';
import type { Message } from '../lib/messages.ts';
import type { Random } from '../lib/random.ts';
import { decide } from '../policy/decide.ts';
import type { ActivityOperation, Keys, Operation } from './define.ts';
import type { Vote } from './show.ts';
import { understand } from './understand.ts';

/** What the engine works with; made once, by the vault. */
export interface Engine {
  /** By path, `submit/create_wallet`. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly units: UnitOfWork;
  readonly keys: Keys;
  readonly random: Random;
  readonly clock: Clock;
  /** The relying party that passkeys are made for: a host name. */
  readonly rpId: string;
  readonly verifyIdToken: VerifyIdToken;
  /** Puts a message into the outbox. @throws LatchkeyError FAILED_PRECONDITION where nothing could send it. */
  readonly post: (tx: Writer, organizationId: string, message: Message) => void;
  /** Called in the transaction, after each row that is appended to the log. */
  readonly onAppended: (tx: Writer, row: ActivityRow) => void;
}

/** Who a request proves to be from. */
export interface Claim {
  /**
   * Who made it, as of a transaction: asked again in the one that writes, since a key may have gone in between.
   * @throws LatchkeyError when the key is nobody's, or no longer.
   */
  readonly identify: (tx: Reader) => Caller;
  /**
   * Notes that the proof was used, where it may not be used for something else again.
   * @throws LatchkeyError as `identify`.
   */
  readonly spend?: (tx: Writer) => void;
}

export interface SubmitRequest extends Claim {
  /** The bytes that were signed. */
  readonly raw: Uint8Array;
  /** The same, parsed. */
  readonly body: unknown;
}

const minutes = 60_000;
const oldestMs = 60 * minutes;
const farthestAheadMs = 5 * minutes;

/**
 * Runs an activity once: the same body again answers the activity that it made the first time.
 * @returns the activity as it is after COMMIT: completed, or failed with the reason kept.
 * @throws LatchkeyError when the request is refused before it becomes an activity.
 */
export async function submit(
  engine: Engine,
  operation: ActivityOperation,
  request: SubmitRequest,
): Promise<ActivityRow> {
  const { units, keys, random, clock, rpId, verifyIdToken } = engine;
  const { type, timestampMs, organizationId, intent, params } = understand(operation, request.body, () =>
    units.read(request.identify),
  );
  const fingerprint = `sha256:${hash('sha256', request.raw)}`;
  const now = clock.now();
  const context = { organizationId, params, keys, random, now };

  /** Answers what was prepared, or fails as preparing did: either way inside the activity. */
  let prepared: () => unknown = () => undefined;
  if (operation.prepare) {
    const early = units.read(admit);
    if ('caller' in early) {
      const { caller } = early;
      prepared = await settle(() =>
        units.read((tx) => operation.prepare?.({ ...context, caller, tx, rpId, verifyIdToken })),
      );
    }
  }

  return units.write((tx) => {
    const admitted = admit(tx);
    // A locked vault answers what it did before, and changes nothing.
    if (keys.unlocked) request.spend?.(tx);
    if ('known' in admitted) return admitted.known;
    const { caller } = admitted;
    const id = uuidV7(now, random('activity', 10));
    const outcome = attempt(tx, () => operation.run({ ...context, caller, tx, prepared: prepared(), post }));
    const row = appendActivity(tx, {
      id,
      revision: 1,
      organizationId,
      type,
      status: 'result' in outcome ? 'ACTIVITY_STATUS_COMPLETED' : 'ACTIVITY_STATUS_FAILED',
      fingerprint,
      timestampMs: Number(timestampMs),
      intent: JSON.stringify(intent),
      result: 'result' in outcome ? JSON.stringify(outcome.result) : null,
      failure: 'failure' in outcome ? JSON.stringify(toFailure(outcome.failure)) : null,
      votes: JSON.stringify([vote(tx, caller, request.raw, uuidV4(random('vote', 16)), now)]),
      createdAt: now,
      updatedAt: now,
    });
    engine.onAppended(tx, row);
    return row;

    function post(message: Message): void {
      engine.post(tx, organizationId, message);
    }
  });

  /** Answers the activity that this body made before; refuses a new one that is not live or not allowed, and any while locked. */
  function admit(tx: Reader): { readonly known: ActivityRow } | { readonly caller: Caller } {
    const caller = request.identify(tx);
    const known = findActivityByFingerprint(tx, organizationId, fingerprint);
    if (known) return { known };
    checkLive(Number(timestampMs), clock.wall());
    checkAllowed(tx, organizationId, caller);
    keys.checkUnlocked();
    return { caller };
  }
}

function checkLive(timestampMs: number, wall: number): void {
  const age = wall - timestampMs;
  if (age < oldestMs && age >= -farthestAheadMs) return;
  const seenAs =
    age < 0 ? `${String(Math.ceil(-age / 1000))} s ahead` : `${String(Math.floor(age / 1000))} s old`;
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    `invalid timestampMs: expected a request less than 1 hour old and at most 5 minutes ahead of this clock, got one ${seenAs}`,
    { turnkeyErrorCode: 'INVALID_TIME' },
  );
}

function checkAllowed(tx: Reader, organizationId: string, caller: Caller): void {
  const organization = getOrganization(tx, organizationId);
  if (organization === undefined || caller.organizationId !== organizationId) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `organization mismatch: request is targeting organization (${organizationId}), but voters are in organization (${caller.organizationId})`,
      { turnkeyErrorCode: 'ORGANIZATION_MISMATCH' },
    );
  }
  const verdict = decide({
    approvers: [{ userId: caller.userId, root: caller.root }],
    rootQuorumThreshold: organization.rootQuorumThreshold,
  });
  if (verdict.outcome === 'allow') return;
  throw new LatchkeyError(
    'PERMISSION_DENIED',
    "You don't have sufficient permissions to take this action. Please check your policies, or ask a member of the root quorum.",
    {
      turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          message: verdict.reason,
          policyEvaluations: verdict.evaluations,
        },
      ],
    },
  );
}

async function settle(prepare: () => Promise<unknown> | undefined): Promise<() => unknown> {
  try {
    const value = await prepare();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

type Outcome = { readonly result: Readonly<Record<string, unknown>> } | { readonly failure: LatchkeyError };

/** What a refusal wrote is undone and the refusal kept; anything unforeseen undoes the whole request. */
function attempt(tx: Writer, run: () => Readonly<Record<string, unknown>>): Outcome {
  try {
    return { result: tx.savepoint(run) };
  } catch (error) {
    if (!(error instanceof LatchkeyError) || !errorCodes[error.code].recorded) throw error;
    error.lasting?.();
    return { failure: error };
  }
}

function vote(tx: Writer, caller: Caller, raw: Uint8Array, id: string, createdAt: number): Vote {
  return {
    id,
    userId: caller.userId,
    snapshot: keepUserSnapshot(tx, caller.organizationId, caller.userId),
    selection: 'VOTE_SELECTION_APPROVED',
    message: Buffer.from(raw).toString('utf8'),
    ...caller.stamp,
    createdAt,
  };
}
