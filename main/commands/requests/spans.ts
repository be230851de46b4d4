/** The times of `approvals approve --for`. */
import type { GrantSpan } from '../../lib/policies/grants.ts';

export const spans = { '10m': 'TEN_MINUTES', today: 'TODAY' } as const satisfies Readonly<
  Record<string, GrantSpan>
>;
