/**
 * Earlier signatures for an address: who pays one for the first time compares it once more. The log is read as it was signed, so
 * nothing is kept beside it. The real API has nothing of the kind.
 */
import { z } from 'zod';
import { query, readRequest, signingTypes, type Operations, type Shown } from '../../activities/define.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { sameAddress } from '../../lib/text/look-alikes.ts';
import { toBeSigned } from '../../lib/text/to-be-signed.ts';
import type { Reader } from '../../storage/connection.ts';
import { fromPublicId, rowIdsOf, toPublicId } from '../../storage/row-ids.ts';
import type { ActivityRow } from '../../storage/tables/activities.ts';
import { findActivities, getActivityAtPlace } from '../../storage/tables/activity-lists.ts';
import { place } from '../shared/list-places.ts';
import { describeRequest } from '../signing/describe-request.ts';

/** As many as one looks at by eye. */
const mostAddresses = 20;
/** Signatures that one question reads. */
const mostRead = 200;

const shownUse = z
  .object({
    address: z.string(),
    /** The newest that was signed for it. */
    activityId: z.string(),
    createdAt: z.object({ seconds: z.string(), nanos: z.string() }),
  })
  .meta({ id: 'ReceiverUse' });
type Use = Shown<z.output<typeof shownUse>>;

export const listReceiverUses = query({
  path: 'list_receiver_uses',
  summary:
    'Tells what the vault signed last for some addresses, as far back as a few milliseconds go, and where to go on.',
  own: true,
  params: z.object({
    /** As `describe_payload` has them in `strangers`. */
    addresses: z.array(z.string().min(1).max(200)).min(1).max(mostAddresses),
    /** Only what is older than this place; what an earlier answer said to go on with. */
    before: place.optional(),
  }),
  returns: z.object({
    /** Without the addresses that nothing was signed for. */
    receiverUses: z.array(shownUse),
    /** `before` of the next query. Absent at the end of the log, and where nothing is left to find. */
    next: place.optional(),
  }),
  *run({ tx, organizationId, params, caller, operations }): Paced<{
    readonly receiverUses: readonly Use[];
    readonly next?: number;
  }> {
    const shown = rowIdsOf(tx, caller.organizationId, 'activities');
    const before = params.before === undefined ? Number.MAX_SAFE_INTEGER : fromPublicId(shown, params.before);
    const signed = { types: signingTypes(operations), statuses: ['ACTIVITY_STATUS_COMPLETED' as const] };
    const { found: all, next: end } = findActivities(
      tx,
      organizationId,
      signed,
      { before, after: 0 },
      mostRead,
    );
    const found = all.slice(0, mostRead);
    const next = all.length > mostRead ? (found.at(-1) ?? null) : end;
    const uses = new Map<string, Use>();
    for (const sequence of found) {
      const row = getActivityAtPlace(tx, organizationId, sequence);
      const receivers = row === undefined ? [] : receiversOf(tx, operations, row);
      for (const address of params.addresses) {
        if (row === undefined || uses.has(address)) continue;
        if (!receivers.some((receiver) => sameAddress(receiver, address))) continue;
        uses.set(address, { address, activityId: row.id, createdAt: timestamp(row.createdAt) });
      }
      if (uses.size === params.addresses.length) return { receiverUses: [...uses.values()] };
      yield;
    }
    return {
      receiverUses: [...uses.values()],
      ...(next === null ? {} : { next: toPublicId(shown, next) }),
    };
  },
});

/** The addresses of others in the titles of what an activity signs; none of what cannot be read now. */
function receiversOf(tx: Reader, operations: Operations, row: ActivityRow): readonly string[] {
  const { type, organizationId } = row;
  const requests = readRequest(operations, row, ({ params }) => toBeSigned({ type, intent: { params } }));
  try {
    return (requests ?? []).flatMap((request) => describeRequest(tx, organizationId, request).strangers);
  } catch (error) {
    if (error instanceof KeyhearthError) return [];
    throw error;
  }
}
