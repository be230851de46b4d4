/** The policies of an organization, compiled once for as long as none of them changes. */
import { Lru } from '../../lib/lru.ts';
import type { Reader } from '../../storage/connection.ts';
import type { OrganizationRule } from '../../storage/tables/organizations.ts';
import { listPolicyRows } from '../../storage/tables/policies.ts';
import { storedPolicy, type Policy } from '../../policy/decide/policies.ts';

interface PolicyList {
  /** In the order of creation. */
  readonly policies: readonly Policy[];
  /** True if any policy counts what is allowed. Then approvals by the root quorum count too. */
  readonly counting: boolean;
}

const none: PolicyList = { policies: [], counting: false };

/** By the organization's mark, which is random and new with each change: lists of this process alone, and of any file. */
const compiled = new Lru<string, PolicyList>(256);

export function policiesOf(
  tx: Reader,
  organizationId: string,
  { policiesMark }: Pick<OrganizationRule, 'policiesMark'>,
): PolicyList {
  if (policiesMark === null) return none;
  const known = compiled.get(policiesMark);
  if (known !== undefined) return known;
  const policies = listPolicyRows(tx, organizationId).map(
    ({ id, effect, condition, consensus, time }): Policy =>
      storedPolicy({ policyId: id, effect, condition, consensus, time: time ?? undefined }),
  );
  const list = {
    policies,
    counting: policies.some(({ condition }) => (condition?.reservations.length ?? 0) > 0),
  };
  compiled.set(policiesMark, list);
  return list;
}
