/** Activities of the log, parsed again by their operations. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { isReadable, readRequest, type ActivityOperation, type Operations } from '../define.ts';
import type { Activity } from '../decision/facts.ts';

/**
 * For what is decided and done by a row: its request must be one that its type takes today.
 * @throws KeyhearthError FAILED_PRECONDITION for one that cannot be read.
 */
export function operationOf(
  operations: Operations,
  row: Pick<ActivityRow, 'id' | 'type' | 'organizationId' | 'intent'>,
): { readonly operation: ActivityOperation; readonly activity: Activity } {
  const { type, organizationId } = row;
  const read = isReadable(operations, row)
    ? readRequest(operations, row, ({ operation, version, params }) => ({
        operation,
        activity: { type, organizationId, params: version.upgrade(params) },
      }))
    : undefined;
  if (read !== undefined) return read;
  throw unreadable(row, 'request');
}

/** For a row that nothing is decided by. */
export const unreadable = ({ id }: Pick<ActivityRow, 'id'>, part: 'request' | 'votes'): KeyhearthError =>
  new KeyhearthError(
    'FAILED_PRECONDITION',
    `activity ${id} cannot be approved: its ${part} cannot be read. Reject it, and submit it again.`,
  );
