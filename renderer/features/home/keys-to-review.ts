/** API keys that their owner may want to delete: they never expire, or nothing has used them for long. */
import type { User } from '../../app/rpc/resources.ts';
import { millisecondsOf, type Timestamp } from '../../ui/text/time.ts';

const day = 86_400_000;
export const unusedDays = 90;

export interface KeyToReview {
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly userId: string;
  readonly userName: string;
  readonly neverExpires: boolean;
  readonly unused: boolean;
}

/** Only these types last: a sign-in has a key of another type, which ends with its session. */
const lastingTypes = 'CREDENTIAL_TYPE_API_KEY_';

/**
 * @param uses The last use of each credential, by its id.
 * @param windowKey Public half of the key that the window signs with: the vault itself uses that key.
 * @returns the unused ones first.
 */
export function keysToReview(
  users: readonly Pick<User, 'userId' | 'userName' | 'apiKeys'>[],
  uses: ReadonlyMap<string, Timestamp>,
  { now, windowKey }: { readonly now: number; readonly windowKey: string | null },
): readonly KeyToReview[] {
  const found = users.flatMap(({ userId, userName, apiKeys }) =>
    apiKeys.flatMap(({ apiKeyId, apiKeyName, credential, createdAt, expirationSeconds }) => {
      if (!credential.type.startsWith(lastingTypes) || credential.publicKey === windowKey) return [];
      const made = millisecondsOf(createdAt);
      if (expirationSeconds !== undefined && made + Number(expirationSeconds) * 1000 <= now) return [];
      const used = uses.get(apiKeyId);
      const neverExpires = expirationSeconds === undefined;
      const unused = now - (used === undefined ? made : millisecondsOf(used)) >= unusedDays * day;
      return neverExpires || unused ? [{ apiKeyId, apiKeyName, userId, userName, neverExpires, unused }] : [];
    }),
  );
  return found.sort((a, b) => Number(b.unused) - Number(a.unused));
}
