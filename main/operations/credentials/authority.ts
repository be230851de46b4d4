/** Authority that several operations share. */
import type { Caller } from '../../lib/caller.ts';
import { KeyhearthError } from '../../lib/errors.ts';

interface OfUser {
  readonly userId: string;
}

/** `activity.params.user_id`. */
export const userShown = ({ userId }: OfUser) => ({ user_id: userId });

/** The user that a request is about; `Authority.concerns`. */
export const thatUser = ({ params: { userId } }: { readonly params: OfUser }): readonly string[] => [userId];

export const ownCredentials = ({ userId }: OfUser, caller: Caller): boolean => userId === caller.userId;

/** Refuses what a user may do for itself alone. @throws KeyhearthError PERMISSION_DENIED */
export function forAnother({
  params: { userId },
  caller,
}: {
  readonly params: OfUser;
  readonly caller: Caller;
}): void {
  if (userId === caller.userId) return;
  throw new KeyhearthError(
    'PERMISSION_DENIED',
    `request not authorized: parameters.userId must be the caller's own (${caller.userId}), got ${userId}`,
    { turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED' },
  );
}
