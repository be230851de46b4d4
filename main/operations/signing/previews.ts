/** Asks the owner's node about transactions that wait for votes. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { callOf } from '../../chains/ethereum/requests.ts';
import { readEthereum } from '../../chains/ethereum/read.ts';
import { senderOf } from '../../chains/ethereum/words.ts';
import { decodeHex } from '../../crypto/encodings.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { toBeSigned } from '../../lib/text/to-be-signed.ts';
import { offPreview, previewOutcomes, type Previewable } from '../../lib/web/previews.ts';
import { getActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { id, orNotFound } from '../shared/parameters.ts';
import { findNamedKey, keyOf } from './signers.ts';

const asset = z.object({
  text: z.string(),
  units: z.string().optional(),
  /** Absent for the coin of the network. */
  contract: z.string().optional(),
  tokenId: z.string().optional(),
});

const shownPreview = z
  .object({
    outcome: z.enum(previewOutcomes),
    /** Why there is no preview, in the vault's own words. */
    reason: z.string().optional(),
    /** Words of the node, or of a contract through it: data, and not the vault's. */
    said: z.string().optional(),
    method: z.enum(['eth_simulateV1', 'eth_call']).optional(),
    gas: z.string().optional(),
    /** Absent where the node does not say what moves. */
    moves: z
      .object({
        leaves: z.array(asset),
        arrives: z.array(asset),
        allows: z.array(asset.extend({ spender: z.string() })),
        /** Number of entries that are left out of these lists. */
        left: z.int(),
        /** Number of events of tokens that cannot be read. */
        unread: z.int(),
      })
      .optional(),
  })
  .meta({ id: 'Preview' });

export const previewActivity = query({
  path: 'preview_activity',
  summary:
    'Asks the owner’s node what the Ethereum transaction of an activity that waits for votes would do. The vault verifies nothing of it.',
  own: true,
  params: z.object({ activityId: id }),
  returns: z.object({ preview: shownPreview }),
  run({ tx, organizationId, params: { activityId }, showActivity, preview }) {
    const row = orNotFound(
      getActivityRow(tx, organizationId, activityId),
      `unable to find activity ${activityId}`,
    );
    const activity = showActivity(row);
    if (row.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
      throw new KeyhearthError(
        'FAILED_PRECONDITION',
        'only an activity that waits for votes has a preview, and this one is decided',
      );
    }
    if (!activity.canApprove && !activity.canReject) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        'request not authorized: a preview is for users who may vote on the activity',
      );
    }
    const found = previewable(tx, organizationId, toBeSigned(activity));
    if (typeof found === 'string') return { preview: offPreview(found) };
    return async () => ({ preview: await preview(found) });
  },
});

/** @returns the transaction; or why it has no preview. */
function previewable(
  tx: Reader,
  organizationId: string,
  [request, ...more]: ReturnType<typeof toBeSigned>,
): Previewable | string {
  // Its users are strangers to the owner, whose node it is.
  if (getOrganization(tx, organizationId)?.parentId !== null) {
    return 'the activity is of a sub-organization, for which no node is asked';
  }
  const { unsignedTransaction, type, signWith } = request ?? {};
  if (
    more.length > 0 ||
    type !== 'TRANSACTION_TYPE_ETHEREUM' ||
    typeof unsignedTransaction !== 'string' ||
    typeof signWith !== 'string'
  ) {
    return 'only transactions of Ethereum have a preview';
  }
  const read = readEthereum(decodeHex('unsignedTransaction', unsignedTransaction));
  if (!read.ok) return `the transaction cannot be read: ${read.problem}`;
  const { transaction } = read.value;
  const { chainId, value, gas, type: kind } = transaction;
  if (chainId === undefined) return 'the transaction names no chain';
  // Nodes try these without their blobs or their authorizations, which is another transaction.
  if (kind === 'TYPE_3') return 'a transaction with blobs has no preview';
  if (kind === 'TYPE_4') return 'a transaction with authorizations has no preview';
  const from = signerOf(tx, organizationId, signWith);
  if (from === undefined) return 'the key that would sign is gone';
  return { chainId, from, value, gas, call: callOf(transaction, from) };
}

function signerOf(tx: Reader, organizationId: string, signWith: string): string | undefined {
  try {
    return senderOf({ key: keyOf(findNamedKey(tx, organizationId, signWith)) });
  } catch (error) {
    if (error instanceof KeyhearthError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
