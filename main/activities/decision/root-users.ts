/**
 * The root quorum's own, and what is about one of its members. A user whom a policy lets manage users could otherwise give
 * itself a way in as the owner: so what concerns a root user is for that user and the root quorum alone.
 */
import type { Reader } from '../../storage/connection.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import type { Caller } from '../../lib/caller.ts';
import type { ActivityOperation } from '../define.ts';
import type { Activity } from './facts.ts';

/**
 * Tells whether policies have no say in an activity.
 * @param submitter The caller who asks for it; undefined where that user is gone. A caller from the parent has an
 * organization of its own: it asks for a user who signs in, and who proves that.
 */
export function isForRootQuorum(
  tx: Reader,
  { authority }: ActivityOperation,
  { organizationId, params }: Activity,
  submitter: Pick<Caller, 'organizationId' | 'userId'> | undefined,
): boolean {
  if (authority.rootQuorumOnly === true) return true;
  if (submitter !== undefined && submitter.organizationId !== organizationId) return false;
  const concerned = authority.concerns?.({ tx, organizationId, params }) ?? [];
  return concerned.some(
    (userId) => userId !== submitter?.userId && getUserRow(tx, organizationId, userId)?.root === 1,
  );
}
