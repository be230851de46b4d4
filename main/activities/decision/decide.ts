/** Decides in one transaction, from the file as it is, if an activity may happen. */
import type { Reader, Writer } from '../../storage/connection.ts';
import { getOrganizationRule, type OrganizationRule } from '../../storage/tables/organizations.ts';
import { reserve } from '../../storage/tables/policy-reservations.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { voterOf, votersOf } from '../../storage/tables/voters.ts';
import type { Caller } from '../../lib/caller.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { maxRolling } from '../../policy/language/functions.ts';
import { decide, isRootQuorum, type Verdict } from '../../policy/decide/decide.ts';
import type { Reservation } from '../../policy/language/evaluation.ts';
import type { Facts } from '../../policy/decide/facts.ts';
import { countersOf } from './counters.ts';
import type { ActivityOperation } from '../define.ts';
import { credentialOf, itemFacts, type Activity } from './facts.ts';
import { policiesOf } from './policies.ts';
import { isForRootQuorum } from './root-users.ts';
import { noPermission } from './no-permission.ts';
import { checkScope } from './scope.ts';

/**
 * Decides about an activity that a caller submits.
 * @throws KeyhearthError where the caller is of another organization, or the operation itself refuses beforehand.
 */
export function decideSubmitted(
  tx: Reader,
  operation: ActivityOperation,
  activity: Activity,
  caller: Caller,
  now: number,
): Verdict {
  const { organizationId, params } = activity;
  const rule = ruleFor(tx, operation, organizationId, caller);
  operation.authority.refuses?.({ tx, organizationId, params, caller });
  checkScope(tx, operation, activity, caller, now);

  // A caller from the parent answers to the parent's quorum and policies.
  const home = caller.organizationId;
  const { policies, counting } = policiesOf(tx, home, rule);
  const { rootQuorumThreshold } = rule;
  if (!counting && isRootQuorum([caller], rootQuorumThreshold)) {
    return { outcome: 'allow', evaluations: [], policyIds: [], item: 0, reservations: [] };
  }
  const user = getUserRow(tx, home, caller.userId);
  if (user === undefined) throw new Error(`user ${caller.userId} is missing`);
  const credential = credentialOf(tx, home, { ...caller.stamp, userId: caller.userId }, now);
  const verdict = decide({
    ...aboutActivity(tx, operation, activity, home, now),
    approvers: [voterOf(tx, user, credential === undefined ? [] : [credential])],
    rootQuorumThreshold,
    policies,
    rootQuorumOnly: isForRootQuorum(tx, operation, activity, caller),
    ownCredentials: operation.authority.ownCredentials?.(params, caller) ?? false,
  });
  // Users of the parent have no vote on an activity that waits in a sub-organization.
  return verdict.outcome === 'consensus' && home !== organizationId
    ? { ...verdict, outcome: 'deny' }
    : verdict;
}

/** The facts that are the same for every voter. */
export const aboutActivity = (
  tx: Reader,
  operation: ActivityOperation,
  activity: Activity,
  /** The organization whose policies decide. */
  home: string,
  now: number,
): Pick<Facts, 'items' | 'now' | 'voters' | 'counters'> => ({
  items: itemFacts(tx, operation, activity),
  now,
  voters: () => votersOf(tx, home, now),
  counters: countersOf(tx, home),
});

/** The rule of the organization that the caller is of: the one that the request names or, where it may be, its parent. */
function ruleFor(
  tx: Reader,
  operation: ActivityOperation,
  organizationId: string,
  caller: Caller,
): OrganizationRule {
  const target = getOrganizationRule(tx, organizationId);
  if (target !== undefined && caller.organizationId === organizationId) return target;
  const isParent = target?.parentId === caller.organizationId;
  const parent =
    isParent && operation.authority.fromParent === true
      ? getOrganizationRule(tx, caller.organizationId)
      : undefined;
  if (parent !== undefined) return parent;
  throw ofAnotherOrganization(organizationId, caller);
}

/** The refusal of a caller who may do nothing in an organization. */
export const ofAnotherOrganization = (organizationId: string, caller: Caller): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    `organization mismatch: request is targeting organization (${organizationId}), but voters are in organization (${caller.organizationId})`,
    { turnkeyErrorCode: 'ORGANIZATION_MISMATCH' },
  );

/** Counts what is allowed, in the transaction that does it: what fails takes its reservations with it. */
export function keepReservations(
  tx: Writer,
  organizationId: string,
  activityId: string,
  reservations: readonly Reservation[],
  now: number,
): void {
  for (const { measure, by, amount } of reservations) {
    reserve(tx, { organizationId, measure, by }, { activityId, amount, now }, maxRolling);
  }
}

/** The refusal of a caller whom neither quorum nor policies allow the activity. */
export const notAllowed = ({ reason, evaluations }: Verdict & { readonly outcome: 'deny' }): KeyhearthError =>
  noPermission(reason, evaluations);
