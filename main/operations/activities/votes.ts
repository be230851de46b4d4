/** Votes on activities that wait for more than one. */
import { z } from 'zod';
import { vote } from '../../activities/define.ts';

const params = z.object({
  fingerprint: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'Expected the fingerprint of an activity: sha256: and 64 hex digits'),
});

export const approveActivity = vote({
  path: 'approve_activity',
  summary: 'Approves an activity that waits for votes; the vote that was missing executes it.',
  type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  intent: 'approveActivityIntent',
  action: 'APPROVE',
  vote: 'VOTE_SELECTION_APPROVED',
  params,
});

export const rejectActivity = vote({
  path: 'reject_activity',
  summary: 'Rejects an activity that waits for votes, for good.',
  type: 'ACTIVITY_TYPE_REJECT_ACTIVITY',
  intent: 'rejectActivityIntent',
  action: 'REJECT',
  vote: 'VOTE_SELECTION_REJECTED',
  params,
});
