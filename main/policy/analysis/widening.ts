/** Finds policies that let a spender do more than its own policies do, alone: the spender's budgets would not hold. */
import type { Paced } from '../../lib/concurrency/paced.ts';
import { isLasting } from '../../lib/policies/spenders.ts';
import type { Voter } from '../decide/facts.ts';
import type { PolicyText } from '../decide/policies.ts';
import { mayUseAlone } from './for-any-user.ts';
import { reachOf, type ActivityKind } from './reach.ts';

/**
 * A policy for a time counts as if it were for good: an approval that is in force at night widens the spender at noon too, and
 * a denial that ends keeps nothing out.
 * @param own Ids of the spender's own policies. They deny all but payments; another policy may allow a payment beyond them.
 * @param policies Without those that pause the spender, which end too.
 * @returns ids of the others. A policy that needs other approvals is not among them: it is for those to decide.
 */
export function* wideningOf(
  spender: Voter,
  own: ReadonlySet<string>,
  policies: readonly PolicyText[],
  kinds: readonly ActivityKind[],
): Paced<readonly string[]> {
  const lasting = policies.flatMap((policy) => {
    if (isLasting(policy)) return [policy];
    return policy.effect === 'EFFECT_ALLOW' ? [{ ...policy, time: undefined }] : [];
  });
  const alone = lasting.filter((policy) => !own.has(policy.policyId) && mayUseAlone(policy, spender));
  yield;
  if (alone.length === 0) return [];
  const reached = yield* reachOf(
    { rootQuorumThreshold: Infinity, policies: lasting, voters: [spender], now: 0 },
    // Of the root quorum or not: policies are compared with policies.
    { ...spender, root: false },
    kinds,
  );
  const used = new Set(
    reached.flatMap(({ reach, policyIds }) => (reach === 'REACH_DENIED' ? [] : policyIds)),
  );
  return alone.flatMap(({ policyId }) => (used.has(policyId) ? [policyId] : []));
}
