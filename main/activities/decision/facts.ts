/** The facts for a decision: the voters, and what the activity shows to policies. */
import { findApiKey } from '../../storage/tables/api-keys.ts';
import { listAuthenticatorsOfUser } from '../../storage/tables/authenticators.ts';
import type { Reader } from '../../storage/connection.ts';
import { factOfApiKey, factOfAuthenticator } from '../../storage/tables/voters.ts';
import { once } from '../../lib/once.ts';
import { isOver } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { ConditionFacts, CredentialFact } from '../../policy/language/schema.ts';
import { kindOf } from '../../lib/text/activity-types.ts';
import type { ActivityOperation, Item } from '../define.ts';
import type { Vote } from '../../storage/tables/votes.ts';

export const webauthnScheme = 'SIGNATURE_SCHEME_TK_WEBAUTHN';

/** An activity, parsed by its operation. */
export interface Activity {
  /** As it was submitted: `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2`. */
  readonly type: string;
  /** The organization that it happens in. */
  readonly organizationId: string;
  /** In the newest version's form. */
  readonly params: unknown;
}

/** An activity's operation, or that of a vote. */
type Decided = Pick<ActivityOperation, 'authority' | 'versions'>;

/** Facts that conditions may read of each item of an activity, submitted now or in the past. */
export const itemFacts = (tx: Reader, operation: Decided, activity: Activity): readonly ConditionFacts[] =>
  itemsOf(tx, operation, activity).map((item) => conditionFacts(operation, activity, item));

/**
 * As `itemFacts`, of an activity that was submitted earlier. A resource of it may have been deleted. Its facts are missing then, as
 * for an activity that never had it.
 */
export const remainingFacts = (
  tx: Reader,
  operation: Decided,
  activity: Activity,
): readonly ConditionFacts[] =>
  (orMissing(() => itemsOf(tx, operation, activity)) ?? [{}])
    .map((item): Item =>
      Object.fromEntries(
        Object.entries(item).map(([fact, read]: [string, (() => unknown) | undefined]) => [
          fact,
          () => (read === undefined ? undefined : orMissing(read)),
        ]),
      ),
    )
    .map((item) => conditionFacts(operation, activity, item));

function orMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof KeyhearthError) return undefined;
    throw error;
  }
}

/** @returns the items that the operation finds in an activity. */
function itemsOf(tx: Reader, { authority }: Decided, { organizationId, params }: Activity): readonly Item[] {
  const items = authority.facts?.({ tx, organizationId, params }) ?? {};
  return isList(items) ? items : [items];
}

const isList: (items: Item | readonly Item[]) => items is readonly Item[] = Array.isArray;

/** One of the things that an activity does, with what is the same of all of them. */
function conditionFacts(
  { authority, versions: [newest] }: Decided,
  { type, params }: Activity,
  { signatures, ...rest }: Item,
): ConditionFacts {
  const { resource, action, rootQuorumOnly, shows } = authority;
  const count = signatures && once(signatures);
  return {
    ...rest,
    activity: () => ({
      // Types of one operation are one name to policies: the newest.
      type: newest?.type ?? type,
      ...(rootQuorumOnly !== true && { kind: kindOf(type) }),
      resource,
      action,
      params: shows?.(params) ?? {},
      get signatures() {
        return count?.();
      },
    }),
  };
}

/** The credential that a vote was stamped with; undefined where it is gone, another's, or expired. */
export function credentialOf(
  tx: Reader,
  organizationId: string,
  { userId, publicKey, scheme }: Pick<Vote, 'userId' | 'publicKey' | 'scheme'>,
  now: number,
): CredentialFact | undefined {
  if (scheme === webauthnScheme) {
    const own = listAuthenticatorsOfUser(tx, userId).find((row) => row.publicKey === publicKey);
    return own && factOfAuthenticator(own);
  }
  const key = findApiKey(tx, organizationId, publicKey);
  return key?.userId === userId && !isOver(key, now) ? factOfApiKey(key) : undefined;
}
