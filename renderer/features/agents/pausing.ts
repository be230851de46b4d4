/** Pausing an agent: a policy denies what it asks for, and what waits from before is rejected. */
import { agentTitle } from '../../../main/lib/policies/mcp-programs.ts';
import { pauseOf, pausesOf, type PolicyText } from '../../../main/lib/policies/spenders.ts';
import { readable } from '../../ui/text/readable.ts';
import { t } from '../../app/i18n/text.ts';
import { OperationError, queryApi, useRpc, useSubmit, useVote } from '../../app/rpc/vault.tsx';

const atOnce = 100;

const waiting = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

/** The agent is paused, and some of its requests wait on. */
export class StillWaiting extends Error {
  declare protected readonly brand: 'StillWaiting';
  override readonly name = 'StillWaiting';
}

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
    /** @returns true if another person has decided it meanwhile. */
    const isDecided = async (activityId: string): Promise<boolean> =>
      (await queryApi(rpc, 'get_activity', { activityId })).activity.status !== waiting;
    const refusals: OperationError[] = [];
    // Nothing new comes to wait, since the pause is in force.
    let after: string | undefined;
    do {
      const { activities, next } = await queryApi(rpc, 'list_activities', {
        filterByStatus: [waiting],
        inParts: true,
        paginationOptions: { limit: String(atOnce), ...(after !== undefined && { after }) },
      });
      for (const { id, fingerprint, votes } of activities) {
        if (votes[0]?.userId !== userId) continue;
        try {
          await reject.mutateAsync(fingerprint);
        } catch (error) {
          if (!(error instanceof OperationError)) throw error;
          if (!(await isDecided(id))) refusals.push(error);
        }
      }
      after = next;
    } while (after !== undefined);
    const [refusal] = refusals;
    if (refusal !== undefined) {
      throw new StillWaiting(
        t('The agent is paused. Reject the rest under Approvals. {{reason}}', { reason: readable(refusal) }),
      );
    }
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
