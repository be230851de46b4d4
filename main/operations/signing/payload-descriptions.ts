/**
 * Describes a signature in plain language before it is given. A query of our own: the vault reads, and
 * windows show.
 */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { namedTypes } from '../../chains/chains.ts';
import { limits } from '../shared/limits.ts';
import { describeRequest } from './describe-request.ts';
import { origin, payloadParameters, preimage } from './payload-parameters.ts';

const shownLine = z.object({ label: z.string(), value: z.string() });

const shownDescription = z
  .object({
    title: z.string(),
    /** Why nothing would be signed: the transaction cannot be read. Absent where it can. */
    unread: z.string().optional(),
    lines: z.array(shownLine),
    parts: z.array(z.object({ title: z.string(), lines: z.array(shownLine) })),
    warnings: z.array(z.string()),
    digests: z.array(shownLine),
    /** Addresses in the title that are neither the organization's nor in its address book. */
    strangers: z.array(z.string()),
  })
  .meta({ id: 'PayloadDescription' });

const text = z.string().max(limits.payloadCharacters).optional();

export const describePayload = query({
  path: 'describe_payload',
  summary: 'Tells in plain language what a transaction or a payload does, before it is signed.',
  own: true,
  params: z.object({
    /** Of a transaction: as `sign_transaction` takes them. */
    unsignedTransaction: text,
    type: z.enum(namedTypes).optional(),
    /** Of a payload: as `sign_raw_payload` takes them. */
    payload: text,
    encoding: payloadParameters.encoding.optional(),
    hashFunction: payloadParameters.hashFunction.optional(),
    preimage: preimage.optional(),
    origin: origin.optional(),
    /**
     * The key that signs: the description marks the key's own accounts, and names the network of Bitcoin's
     * addresses.
     */
    signWith: z.string().min(1).max(200).optional(),
  }),
  returns: z.object({ description: shownDescription }),
  run: ({ tx, organizationId, params }) => ({ description: describeRequest(tx, organizationId, params) }),
});
