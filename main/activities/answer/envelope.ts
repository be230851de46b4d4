/** An activity as the API shows one: the real API's envelope and, inside its result, the specification's. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import { timestamp } from '../../lib/clock.ts';
import { errorBody, type Failure } from '../../lib/errors.ts';
import { unreadableIntent } from '../../lib/text/to-be-signed.ts';
import { readRequest, type ActivityEnvelope, type ActivityOperation, type Operations } from '../define.ts';
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
  operations: Operations,
  rights: VoteRights = rightsOfNobody(row),
  open: (operation: ActivityOperation, result: Json) => Json = (_operation, result) => result,
): ActivityEnvelope {
  const votes = votesOf(row);
  return {
    id: row.id,
    organizationId: row.organizationId,
    status: row.status,
    type: row.type,
    timestampMs: String(row.timestampMs),
    ...(contentOf(tx, row, operations, open) ?? unreadable(row)),
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

type Content = Pick<ActivityEnvelope, 'intent' | 'result'>;

/** @returns undefined where the request cannot be read. */
const contentOf = (
  tx: Reader,
  row: ActivityRow,
  operations: Operations,
  open: (operation: ActivityOperation, result: Json) => Json,
): Content | undefined =>
  readRequest(operations, row, ({ operation, version, params }) => {
    const result = row.result === null ? undefined : open(operation, JSON.parse(row.result) as Json);
    const specified = version.specified && {
      [version.specified.intent]: version.specified.describe(params as never, result, {
        tx,
        organizationId: row.organizationId,
      }),
    };
    return {
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
    };
  });

/** The texts of a row as they are, under names that no operation has. */
const unreadable = ({ intent, result }: ActivityRow): Content => ({
  intent: { [unreadableIntent]: { text: intent } },
  result: result === null ? {} : { unreadableResult: { text: result } },
});

function failureBody(failure: string): ActivityEnvelope['failure'] {
  const { code, message, details } = errorBody(JSON.parse(failure) as Failure);
  return { code, message, details };
}
