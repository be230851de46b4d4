/** Pausing an agent: a policy denies what it asks for, and what waits from before is rejected. */
import { agentTitle } from '../../../main/lib/policies/mcp-programs.ts';
import { pauseOf, pausesOf, type PolicyText } from '../../../main/lib/policies/spenders.ts';
import { queryApi, useRpc, useSubmit, useVote } from '../../app/rpc/vault.tsx';

const atOnce = 100;

export function usePausing(): (
  name: string,
  userId: string,
  policies: readonly PolicyText[],
) => Promise<void> {
  const rpc = useRpc();
  const createPolicies = useSubmit('ACTIVITY_TYPE_CREATE_POLICIES');
  const reject = useVote('reject');
  return async (name, userId, policies) => {
    if (pausesOf(userId, policies).length === 0) {
      await createPolicies.mutateAsync({ policies: [pauseOf(agentTitle(name), userId)] });
    }
    // Nothing new comes to wait, since the pause is in force.
    let after: string | undefined;
    do {
      const { activities, next } = await queryApi(rpc, 'list_activities', {
        filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
        inParts: true,
        paginationOptions: { limit: String(atOnce), ...(after !== undefined && { after }) },
      });
      for (const { fingerprint, votes } of activities) {
        if (votes[0]?.userId === userId) await reject.mutateAsync(fingerprint);
      }
      after = next;
    } while (after !== undefined);
  };
}

/** @returns what lets an agent work again within its budgets. */
export function useResuming(): (userId: string, policies: readonly PolicyText[]) => Promise<void> {
  const deletePolicies = useSubmit('ACTIVITY_TYPE_DELETE_POLICIES');
  return async (userId, policies) => {
    const policyIds = pausesOf(userId, policies).map(({ policyId }) => policyId);
    if (policyIds.length > 0) await deletePolicies.mutateAsync({ policyIds });
  };
}
