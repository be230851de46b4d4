/** An activity as the API shows one: the real API's envelope and, inside its result, the specification's. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import { timestamp } from '../../lib/clock.ts';
import { errorBody, type Failure } from '../../lib/errors.ts';
import type { ActivityEnvelope, ActivityVersion } from '../define.ts';
import { votesOf } from '../decision/votes.ts';

/** The votes that a caller may still give on an activity. */
export interface VoteRights {
  readonly canApprove: boolean;
  readonly canReject: boolean;
}

/** As the real API says it of an activity that is completed, though nothing can be undone by it. */
export const rightsOfNobody = ({ status }: Pick<ActivityRow, 'status'>): VoteRights => ({
  canApprove: false,
  canReject: status === 'ACTIVITY_STATUS_COMPLETED',
});

type Json = Readonly<Record<string, unknown>>;

/** @param open Opens the secrets of a result for who may have them. */
export function toEnvelope(
  tx: Reader,
  row: ActivityRow,
  version: ActivityVersion,
  rights: VoteRights = rightsOfNobody(row),
  open: (result: Json) => Json = (result) => result,
): ActivityEnvelope {
  const params = JSON.parse(row.intent) as Record<string, unknown>;
  const result = row.result === null ? undefined : open(JSON.parse(row.result) as Json);
  const specified = version.specified && {
    // The stored intent went through the version's schema before it was kept.
    [version.specified.intent]: version.specified.describe(params as never, result, {
      tx,
      organizationId: row.organizationId,
    }),
  };
  const votes = votesOf(row);
  return {
    id: row.id,
    organizationId: row.organizationId,
    status: row.status,
    type: row.type,
    timestampMs: String(row.timestampMs),
    intent: { [version.intent]: params, ...specified },
    result:
      result === undefined
        ? {}
        : {
            [version.result]: result,
            activity: {
              type: row.type,
              intent: specified ?? { [version.intent]: params },
              result: { [version.result]: result },
            },
          },
    votes: votes.map(({ snapshot, createdAt, ...vote }) => ({
      ...vote,
      user: getUserSnapshot(tx, snapshot),
      activityId: row.id,
      createdAt: timestamp(createdAt),
    })),
    fingerprint: row.fingerprint,
    ...rights,
    createdAt: timestamp(row.createdAt),
    updatedAt: timestamp(row.updatedAt),
    failure: row.failure === null ? null : failureBody(row.failure),
  };
}

function failureBody(failure: string): ActivityEnvelope['failure'] {
  const { code, message, details } = errorBody(JSON.parse(failure) as Failure);
  return { code, message, details };
}
