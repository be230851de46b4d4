/** Rules for a user's credentials of every kind. */
import { listApiKeysOfUser } from '../../storage/tables/api-keys.ts';
import { countAuthenticatorsOfUser } from '../../storage/tables/authenticators.ts';
import type { Reader } from '../../storage/connection.ts';
import { listOauthProvidersOfUser } from '../../storage/tables/oauth-providers.ts';
import { isOver } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';

/**
 * Called once credentials are deleted: a user without a way in cannot even undo that.
 * @throws KeyhearthError INVALID_ARGUMENT when the user has no valid credential left.
 */
export function checkCredentialLeft(tx: Reader, userId: string, now: number): void {
  const left =
    listApiKeysOfUser(tx, userId).some((key) => !isOver(key, now)) ||
    countAuthenticatorsOfUser(tx, userId) > 0 ||
    listOauthProvidersOfUser(tx, userId).length > 0;
  if (left) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `user missing valid credential: ${userId} would have none left; create another key first`,
  );
}
