/** Parameters of requests about activities. */
import { z } from 'zod';

export const activityType = z.string().regex(/^ACTIVITY_TYPE_[A-Z0-9_]{1,80}$/, 'Expected an activity type');
