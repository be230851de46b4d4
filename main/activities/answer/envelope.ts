/** An activity as the API shows one: the real API's envelope and, inside its result, the specification's. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import { readVotes } from '../../storage/tables/votes.ts';
import { timestamp } from '../../lib/clock.ts';
import { errorBody, readFailure } from '../../lib/errors.ts';
import { storedObject } from '../../lib/text/stored-json.ts';
import { unreadableIntent } from '../../lib/text/to-be-signed.ts';
import { readRequest, type ActivityEnvelope, type ActivityOperation, type Operations } from '../define.ts';

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
  const votes = readVotes(tx, row);
  const { intent, result } = contentOf(tx, row, operations, open) ?? unreadable(row);
  return {
    id: row.id,
    organizationId: row.organizationId,
    status: row.status,
    type: row.type,
    timestampMs: String(row.timestampMs),
    intent,
    result: votes === undefined ? { ...result, unreadableVotes: { text: row.votes } } : result,
    votes: (votes ?? []).map(({ snapshot, createdAt, ...vote }) => ({
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
    const { intent, result: name, specified } = version;
    const contentWith = (result: Json | undefined): Content => {
      const ours = specified && {
        [specified.intent]: specified.describe(params as never, result, {
          tx,
          organizationId: row.organizationId,
        }),
      };
      return {
        intent: { [intent]: params, ...ours },
        result:
          result === undefined
            ? {}
            : {
                [name]: result,
                activity: {
                  type: row.type,
                  intent: ours ?? { [intent]: params },
                  result: { [name]: result },
                },
              },
      };
    };
    if (row.result === null) return contentWith(undefined);
    const result = storedObject(row.result);
    try {
      if (result !== undefined) return contentWith(open(operation, result));
    } catch (error) {
      // As of a request: where the row has what is answered today, the fault is elsewhere.
      if (operation.returns.safeParse(result).success) throw error;
    }
    return { ...contentWith(undefined), result: unreadableResult(row) };
  });

const unreadableResult = ({ result }: ActivityRow): Json =>
  result === null ? {} : { unreadableResult: { text: result } };

/** The texts of a row as they are, under names that no operation has. */
const unreadable = (row: ActivityRow): Content => ({
  intent: { [unreadableIntent]: { text: row.intent } },
  result: unreadableResult(row),
});

function failureBody(failure: string): ActivityEnvelope['failure'] {
  const { code, message, details } = errorBody(readFailure(failure));
  return { code, message, details };
}
