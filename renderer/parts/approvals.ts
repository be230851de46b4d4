/** What waits for votes, and voting. */

import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type { Activity } from './resources.ts';
import { useAsk, useCall } from './vault.tsx';

const shownAtOnce = 100;

/** What waits, newest first. */
export const useWaiting = (): UseQueryResult<{ readonly activities: readonly Activity[] }> =>
  useAsk('list_activities', {
    filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
    paginationOptions: { limit: String(shownAtOnce) },
  });

/** Votes on an activity by its fingerprint; answers the activity as it is by then. */
export function useVote(how: 'approve' | 'reject'): UseMutationResult<Activity, Error, string> {
  return useCall(
    `submit/${how}_activity`,
    (fingerprint: string) => ({
      type: `ACTIVITY_TYPE_${how.toUpperCase()}_ACTIVITY`,
      parameters: { fingerprint },
    }),
    (answer) => (answer as { readonly activity: Activity }).activity,
  );
}
