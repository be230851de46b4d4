/** Policies, read. */
import { z } from 'zod';
import { query } from '../activities/define.ts';
import { getPolicyRow, listPolicyRows, toPolicy } from '../db/policies.ts';
import { found, id } from './parameters.ts';
import { shownPolicy } from './resources.ts';

export const getPolicy = query({
  path: 'get_policy',
  params: z.object({ policyId: id }),
  returns: z.object({ policy: shownPolicy }),
  run: ({ tx, organizationId, params: { policyId } }) => ({
    policy: toPolicy(found(getPolicyRow(tx, organizationId, policyId), `unable to find policy ${policyId}`)),
  }),
});

export const listPolicies = query({
  path: 'list_policies',
  params: z.object({}),
  returns: z.object({ policies: z.array(shownPolicy) }),
  run: ({ tx, organizationId }) => ({ policies: listPolicyRows(tx, organizationId).map(toPolicy) }),
});
