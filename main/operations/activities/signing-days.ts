/** Signing requests of the last days, counted. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';

const shownDay = z
  .object({
    /** `2026-11-24`, in the time zone of the vault's computer. */
    date: z.string(),
    /** Requests that were signed; a request may have several payloads. */
    signed: z.int(),
    /** Requests that failed, were rejected, or were refused by policies. Of the last, the newest 1,000 are kept. */
    refused: z.int(),
  })
  .meta({ id: 'SigningDay' });

export const countSigningDays = query({
  path: 'count_signing_days',
  summary: 'Counts the signing requests of each of the last 30 days, the refused ones apart.',
  own: true,
  params: z.object({}),
  returns: z.object({
    /** The oldest first; today is the last. */
    days: z.array(shownDay),
  }),
  *run({ signingDays }): Paced<{ readonly days: z.output<typeof shownDay>[] }> {
    return { days: [...(yield* signingDays())] };
  },
});
