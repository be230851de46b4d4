/**
 * Credentials across a parent and its sub-organizations. A credential is searched in the organization that a
 * request names and then in the parent. So the parent's key, registered below it, would stand for another
 * user there. A key from below, registered in the parent, would keep its user from signing in by the parent's
 * id. Both are refused. Registering an API key proves no possession of it, and an attestation need not, so
 * the earlier registration counts.
 */
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import type { Caller } from '../../lib/caller.ts';
import { KeyhearthError } from '../../lib/errors.ts';

interface Registering {
  readonly tx: Reader;
  readonly organizationId: string;
  readonly caller: Pick<Caller, 'organizationId' | 'userId'>;
}

interface Credential {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Checks that a credential which is to be registered is not another user's. Users of the parent may bring keys of their own into
 * a sub-organization.
 * @param at The name of the credential in the request, for errors.
 * @throws KeyhearthError ALREADY_EXISTS
 */
export function checkUnclaimed(
  { tx, organizationId, caller }: Registering,
  find: {
    readonly in: (organizationId: string) => Credential | undefined;
    readonly below: (organizationId: string) => readonly Credential[];
  },
  at: string,
): void {
  const taken = (where: string): KeyhearthError =>
    new KeyhearthError('ALREADY_EXISTS', `invalid ${at}: this credential is registered in ${where} already`);
  if (find.in(organizationId) !== undefined) throw taken('the organization');
  const parentId = getOrganization(tx, organizationId)?.parentId ?? undefined;
  if (parentId === undefined) {
    if (find.below(organizationId).length > 0) throw taken('a sub-organization');
    return;
  }
  const parents = find.in(parentId);
  const isCallers = parents?.userId === caller.userId && parents.organizationId === caller.organizationId;
  if (parents !== undefined && !isCallers) throw taken('the parent organization');
}
