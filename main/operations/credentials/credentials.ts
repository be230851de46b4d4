/** Rules for a user's credentials of every kind. */
import { listApiKeysOfUser } from '../../storage/tables/api-keys.ts';
import { countAuthenticatorsOfUser } from '../../storage/tables/authenticators.ts';
import type { Reader } from '../../storage/connection.ts';
import { listOauthProvidersOfUser } from '../../storage/tables/oauth-providers.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { isOver } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { hasContactThatSignsIn } from '../sign-in/sign-in-gates.ts';

/**
 * Called once credentials are deleted: a user without a way in cannot even undo that. An email address or phone number counts
 * where the organization has the feature to sign in by it.
 * @throws KeyhearthError INVALID_ARGUMENT when the user has no valid credential left.
 */
export function checkCredentialLeft(tx: Reader, organizationId: string, userId: string, now: number): void {
  const user = getUserRow(tx, organizationId, userId);
  const left =
    // A session with a profile adds no way in: its user has none once it ends.
    listApiKeysOfUser(tx, userId).some((key) => key.sessionProfileId === null && !isOver(key, now)) ||
    countAuthenticatorsOfUser(tx, userId) > 0 ||
    listOauthProvidersOfUser(tx, userId).length > 0 ||
    (user !== undefined && hasContactThatSignsIn(tx, user));
  if (left) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `user missing valid credential: ${userId} would have none left; create another key first`,
  );
}
