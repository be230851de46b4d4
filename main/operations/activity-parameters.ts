/** What requests say of activities. */
import { z } from 'zod';
import type { ActivityStatus } from '../db/activities.ts';

export const activityStatuses = [
  'ACTIVITY_STATUS_CREATED',
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_REJECTED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
] as const satisfies readonly ActivityStatus[];

export const activityType = z.string().regex(/^ACTIVITY_TYPE_[A-Z0-9_]{1,80}$/, 'Expected an activity type');
