/**
 * Describes a signature in plain language before it is given. A query of our own: the vault reads, and
 * windows show.
 */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import type { Context, Key } from '../../chains/chain.ts';
import { chains, namedTypes, type TransactionType } from '../../chains/chains.ts';
import { unreadDescription, type Description } from '../../chains/description.ts';
import { openPayload } from '../../chains/payloads/open.ts';
import { decodeHex, invalid } from '../../crypto/encodings.ts';
import type { Reader } from '../../storage/connection.ts';
import { listAddressesThatBegin } from '../../storage/tables/wallet-accounts.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { beginningOf, looksLike } from '../../lib/text/look-alikes.ts';
import { limits } from '../shared/limits.ts';
import { origin, payloadParameters, preimage } from './payload-parameters.ts';
import { findNamedKey, keyOf } from './signers.ts';
import { signingContext } from './signing-context.ts';

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
  run({ tx, organizationId, params }) {
    const { unsignedTransaction, type, payload, encoding, hashFunction, signWith } = params;
    const around = signingContext(tx, organizationId, keyNamed(tx, organizationId, signWith));
    const strangers = new Set<string>();
    const context: Context = {
      ...around,
      ours(address) {
        const name = around.ours(address);
        if (name === undefined) strangers.add(address);
        return name;
      },
    };
    const answer = (description: Description) => ({
      description: {
        ...description,
        warnings: [...poisonWarnings(tx, organizationId, strangers), ...description.warnings],
      },
    });
    if (unsignedTransaction !== undefined && type !== undefined) {
      return answer(describeTransaction(type, unsignedTransaction, context));
    }
    if (payload === undefined || encoding === undefined || hashFunction === undefined) {
      throw invalid(
        'request',
        'expected unsignedTransaction and type, or payload, encoding and hashFunction',
      );
    }
    const raw = { payload, encoding, hashFunction, preimage: params.preimage, origin: params.origin };
    return answer(openPayload(raw, context, 'payload').describe());
  },
});

/** More addresses than a title names: beyond them a person compares no address by eye. */
const mostCompared = 100;

/** Warns of addresses that only seem to be the organization's: they begin and end like one of its own. */
const poisonWarnings = (tx: Reader, organizationId: string, strangers: ReadonlySet<string>): string[] =>
  [...strangers].slice(0, mostCompared).flatMap((address) => {
    const own = looksLike(address, listAddressesThatBegin(tx, organizationId, beginningOf(address)));
    return own === undefined
      ? []
      : [`${address} is not yours. It begins and ends like your address ${own}: compare every character.`];
  });

/** The key that is to sign. A request is described all the same where the key is gone. */
function keyNamed(tx: Reader, organizationId: string, signWith: string | undefined): Key | undefined {
  if (signWith === undefined) return undefined;
  try {
    return keyOf(findNamedKey(tx, organizationId, signWith));
  } catch (error) {
    if (error instanceof KeyhearthError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

function describeTransaction(type: TransactionType, hex: string, context: Context): Description {
  if (type === 'TRANSACTION_TYPE_TEMPO')
    return unreadDescription('A transaction', `${type} is not read here`);
  const opened = chains[type].open(decodeHex('unsignedTransaction', hex), context);
  return opened.ok
    ? opened.value.describe()
    : unreadDescription(`A transaction of ${chains[type].chain}`, opened.problem);
}
