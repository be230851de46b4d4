/** Reads what a request would sign, as the signature, policies and people all see it. */
import type { Context, Key } from '../../chains/chain.ts';
import { chains, type TransactionType } from '../../chains/chains.ts';
import { unreadDescription, Writer, type Description } from '../../chains/description.ts';
import { originLines } from '../../chains/origin.ts';
import { openPayload, type RawPayload } from '../../chains/payloads/open.ts';
import { decodeHex, invalid } from '../../crypto/encodings.ts';
import type { Reader } from '../../storage/connection.ts';
import { listKnownAddressRows } from '../../storage/tables/known-addresses.ts';
import { listAddressesThatBegin } from '../../storage/tables/wallet-accounts.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { beginningOf, looksLike } from '../../lib/text/look-alikes.ts';
import { findNamedKey, keyOf } from './signers.ts';
import { signingContext } from './signing-context.ts';

/** A transaction, or a payload. */
export interface SigningRequest {
  readonly unsignedTransaction?: string | undefined;
  readonly type?: TransactionType | undefined;
  readonly payload?: string | undefined;
  readonly encoding?: RawPayload['encoding'] | undefined;
  readonly hashFunction?: RawPayload['hashFunction'] | undefined;
  readonly preimage?: RawPayload['preimage'];
  readonly origin?: RawPayload['origin'];
  /** The key that signs: the description marks the key's own accounts. */
  readonly signWith?: string | undefined;
}

export interface Described extends Description {
  /** Addresses in its title that are neither the organization's nor in the address book. */
  readonly strangers: readonly string[];
}

/** @throws KeyhearthError INVALID_ARGUMENT for a payload that is not what its encoding says. */
export function describeRequest(tx: Reader, organizationId: string, request: SigningRequest): Described {
  const { unsignedTransaction, type, payload, encoding, hashFunction, signWith } = request;
  const around = signingContext(tx, organizationId, keyNamed(tx, organizationId, signWith));
  const strangers = new Set<string>();
  const context: Context = {
    ...around,
    ours(address) {
      const own = around.ours(address);
      if (own === undefined) strangers.add(address);
      return own;
    },
  };
  const writer = new Writer();
  const answer = (description: Description): Described => ({
    ...description,
    lines: [...description.lines, ...originLines(request.origin, writer)],
    strangers: [...strangers].filter(
      (address) => description.title.includes(address) && context.known?.(address) === undefined,
    ),
    warnings: [
      ...new Set([
        ...poisonWarnings(tx, organizationId, strangers),
        ...description.warnings,
        ...writer.warnings,
      ]),
    ],
  });
  if (unsignedTransaction !== undefined && type !== undefined) {
    return answer(describeTransaction(type, unsignedTransaction, context));
  }
  if (payload === undefined || encoding === undefined || hashFunction === undefined) {
    throw invalid('request', 'expected unsignedTransaction and type, or payload, encoding and hashFunction');
  }
  const raw = { payload, encoding, hashFunction, preimage: request.preimage, origin: request.origin };
  return answer(openPayload(raw, context, 'payload').describe());
}

/** More addresses than a title names: beyond them a person compares no address by eye. */
const mostCompared = 100;

/** Warns of addresses that only seem to be the organization's, or one of the address book: they begin and end alike. */
function poisonWarnings(tx: Reader, organizationId: string, strangers: ReadonlySet<string>): string[] {
  const known = listKnownAddressRows(tx, organizationId).map(({ address }) => address);
  return [...strangers].slice(0, mostCompared).flatMap((address) => {
    if (known.includes(address)) return [];
    const own = looksLike(address, listAddressesThatBegin(tx, organizationId, beginningOf(address)));
    if (own !== undefined) {
      return [
        `${address} is not yours. It begins and ends like your address ${own}: compare every character.`,
      ];
    }
    const like = looksLike(address, known);
    return like === undefined
      ? []
      : [
          `${address} has no name here. It begins and ends like ${like}, which has one: compare every character.`,
        ];
  });
}

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
