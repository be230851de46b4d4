/** The proof in a request's header, and the rules that all kinds of proof share. */
import { isUuid } from '../crypto/uuid.ts';
import type { Reader, Writer } from '../storage/connection.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import type { Founded } from '../storage/tables/sub-organizations.ts';
import { getUserRow } from '../storage/tables/users.ts';
import { requireVault } from '../storage/tables/vault.ts';
import type { Caller } from '../lib/caller.ts';
import type { Clock } from '../lib/clock.ts';
import { defined } from '../lib/defined.ts';
import { KeyhearthError, quoted } from '../lib/errors.ts';

/** A proof, read against the organization that the request names. */
export interface Claim {
  /**
   * Finds whose it is, as of a transaction.
   * @throws KeyhearthError INVALID_ARGUMENT or NOT_FOUND for a bad organization, VAULT_MISSING where there can be none,
   * UNAUTHENTICATED for a credential that is not there, does not hold or is expired.
   */
  readonly identify: (tx: Reader) => Caller;
  /**
   * Notes the use, for proofs that may be used once. It identifies first, and may be repeated.
   * @throws KeyhearthError as `identify`.
   */
  readonly spend?: (tx: Writer) => void;
}

/** The organization that a request names. */
export interface Addressed {
  readonly organizationId: string;
  /** Searches the sub-organizations too: for requests that sign users in or ask who they are. */
  readonly below: boolean;
  /** Accepts a key that was mailed for recovery. */
  readonly recovering: boolean;
}

/** The user to whom a credential belongs. */
export interface Holder {
  readonly organizationId: string;
  readonly userId: string;
}

export interface Proof {
  /**
   * Finds whose the credential is before anything of the body is read. Where several organizations know it, the oldest
   * registration counts: it decides whose turn a request is, and nothing else.
   * @returns undefined for a credential that is not there.
   */
  readonly holder: (tx: Reader) => Holder | undefined;
  readonly against: (addressed: Addressed, clock: Clock) => Claim;
  /** Refuses a credential that is not there. @param where The organization; undefined before it is read. */
  readonly unknown: (where?: string) => KeyhearthError;
}

/** @throws KeyhearthError VAULT_MISSING, or UNAUTHENTICATED where the credential is not there. */
export function requireHolder(tx: Reader, proof: Proof): Holder {
  const holder = proof.holder(tx);
  if (holder !== undefined) return holder;
  requireVault(tx);
  throw proof.unknown();
}

/** The organizations that were looked through, for a refusal. */
export const lookedThrough = (organizationId?: string): string =>
  `in organization or its parent organization${organizationId === undefined ? '' : ` organizationId=${organizationId}`}`;

/** A failure to prove who one is, with the real API's code for it. */
export const unauthenticated = (message: string, turnkeyErrorCode: string): KeyhearthError =>
  new KeyhearthError('UNAUTHENTICATED', message, { turnkeyErrorCode });

/** The lookup of one kind of credential. */
interface Lookup<Row> {
  /** The name of the kind: `public key`. */
  readonly kind: string;
  readonly in: (organizationId: string) => Row | undefined;
  /** In the sub-organizations of one, in the order of their claims. */
  readonly below: (organizationId: string) => readonly (Row & Founded)[];
  /**
   * Answers if the proof is by this credential, since others may have registered the same name. Undefined
   * stands for a missing credential, which takes as long to check and never holds.
   */
  readonly holds: (row: Row | undefined) => boolean;
  /** Answered where there is none. */
  readonly unknown: () => KeyhearthError;
}

/**
 * Looks a credential up in the organization that a request names, then in its parent or below it. Registering
 * another user's credential takes nothing from that user: only a credential that made the proof counts. Below
 * the named organization, the credential that came with its sub-organization is first, then the one that was
 * registered first. A refusal takes as many statements and verifications if organization or credential is
 * missing.
 * @throws KeyhearthError as `Claim.identify`. The error is the same for an organization that is missing and
 * for one that does not know the credential.
 */
export function findCredential<Row>(
  tx: Reader,
  { organizationId, below }: Addressed,
  lookup: Lookup<Row>,
): Row {
  if (!isUuid(organizationId)) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `malformed organization ID provided: expected a UUID in organizationId, got ${quoted(organizationId)}`,
      { turnkeyErrorCode: 'INVALID_ORGANIZATION_ID' },
    );
  }
  const own = lookup.in(organizationId);
  if (own !== undefined && lookup.holds(own)) return own;
  requireVault(tx);
  const parents = lookup.in(getOrganization(tx, organizationId)?.parentId ?? organizationId);
  if (parents !== undefined && lookup.holds(parents)) return parents;
  const under = below ? lookup.below(organizationId) : [];
  const [found, another] = under.filter(lookup.holds);
  if (found === undefined) {
    if (own === undefined && parents === undefined && under.length === 0) lookup.holds(undefined);
    throw lookup.unknown();
  }
  if (found.founded === 0 || another === undefined || another.founded === 0) return found;
  throw unauthenticated(
    `more than one suborg associated with a ${lookup.kind}: name the sub-organization in organizationId`,
    'CREDENTIAL_CONFLICT',
  );
}

/** The caller, once a credential of theirs is proven. */
export function callerOf(
  tx: Reader,
  credential: Holder & { readonly id: string; readonly sessionProfileId?: string | null },
  stamp: Caller['stamp'],
): Caller {
  const { organizationId, userId, sessionProfileId } = credential;
  const user = getUserRow(tx, organizationId, userId);
  if (user === undefined) throw new Error(`credential ${credential.id} has no user`);
  return {
    ...{ organizationId, userId, root: user.root === 1, credentialId: credential.id, stamp },
    ...defined({ sessionProfileId: sessionProfileId ?? undefined }),
  };
}
