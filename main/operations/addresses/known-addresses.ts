/**
 * The address book: names for addresses of others. The real API has nothing of the kind.
 *
 * A name decides how people read what they sign. So only who may create and delete policies may change the book.
 */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { checksumAddress, readEthereumAddress } from '../../chains/addresses/ethereum.ts';
import { decodeBase58, isBase58Check, isBech32 } from '../../crypto/encodings.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import { writtenAddress } from '../../policy/language/addresses.ts';
import {
  deleteKnownAddressRow,
  findKnownAddress,
  getKnownAddressRow,
  insertKnownAddress,
  listKnownAddressRows,
  toKnownAddress,
} from '../../storage/tables/known-addresses.ts';
import { findPrivateKeyByAddress } from '../../storage/tables/private-keys.ts';
import { findAccountByAddress, listAddressesThatBegin } from '../../storage/tables/wallet-accounts.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { beginningOf, looksLike } from '../../lib/text/look-alikes.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, checkUnmistakable, id, name, nameTaken, orNotFound } from '../shared/parameters.ts';
import { timestamp, uuid } from '../shared/resources.ts';

const shownKnownAddress = z
  .object({ knownAddressId: uuid, name: z.string(), address: z.string(), createdAt: timestamp })
  .meta({ id: 'KnownAddress' });

const field = 'parameters.address';

/** A name that reads as an address could stand for another. */
const isAddressLike = (text: string): boolean =>
  /^[0-9A-Za-z:]{20,}$/.test(text) || /^0x[0-9a-f]{4,}/i.test(text);

const refused = (problem: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `invalid ${field}: ${problem}`);

/** As the chains write it, so that it is found by what they read. @throws KeyhearthError for one that no chain would write. */
function written(address: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(address)) return checksumAddress(readEthereumAddress(field, address));
  const text = writtenAddress(address);
  for (const { shape, isRight, expected } of checked) {
    // A name of a mistyped address would stand nowhere, and its owner would believe that the receiver is known.
    if (shape.test(text) && !isRight(text)) throw refused(`${address} is mistyped: expected ${expected}`);
  }
  return text;
}

const ofBitcoin = { isRight: isBech32, expected: 'the checksum of a Bech32 address' };
const ofBase58 = { isRight: isBase58Check, expected: 'the checksum of a Base58 address' };

/** Addresses that say by themselves whether they are mistyped, by what they begin with. */
const checked = [
  {
    shape: /^0x/i,
    isRight: (text: string) => /^0x[0-9a-f]{64}$/.test(text),
    expected: '40 or 64 hex digits after 0x',
  },
  { shape: /^(?:bc|tb|bcrt)1/, ...ofBitcoin },
  {
    shape: /^[123mn][1-9A-HJ-NP-Za-km-z]{24,34}$/,
    ...ofBase58,
    // Addresses of Solana have no checksum, and those of its own programs may be as short.
    isRight: (text: string) => isBase58Check(text) || decodeBase58(field, text).length === 32,
  },
  { shape: /^T[1-9A-HJ-NP-Za-km-z]{32,34}$/, ...ofBase58 },
] as const;

export const createKnownAddress = activity({
  path: 'create_known_address',
  summary: 'Names an address of somebody else, for people who read what is signed.',
  title: 'Name an address',
  own: true,
  type: 'ACTIVITY_TYPE_CREATE_KNOWN_ADDRESS',
  intent: 'createKnownAddressIntent',
  result: 'createKnownAddressResult',
  authority: { resource: 'POLICY', action: 'CREATE', changesRights: true },
  params: z.object({
    name,
    address: z.string().regex(/^[!-~]{10,200}$/, 'Expected an address, 10 to 200 characters without blanks'),
  }),
  returns: z.object({ knownAddressId: uuid }),
  run({ tx, organizationId, params, random, now }) {
    const address = written(params.address);
    const own =
      findAccountByAddress(tx, organizationId, address) ??
      findPrivateKeyByAddress(tx, organizationId, address);
    if (own !== undefined)
      throw refused(`${address} is an address of this vault, and has the name of its key`);
    const present = findKnownAddress(tx, organizationId, address);
    if (present !== undefined) throw refused(`${address} has the name ${JSON.stringify(present.name)}`);
    const known = listKnownAddressRows(tx, organizationId);
    const like =
      looksLike(address, listAddressesThatBegin(tx, organizationId, beginningOf(address))) ??
      looksLike(
        address,
        known.map((each) => each.address),
      );
    if (like !== undefined) {
      throw refused(`${address} begins and ends like ${like}, which is another: compare every character`);
    }
    if (isAddressLike(params.name)) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'invalid parameters.name: expected a name that does not read as an address',
      );
    }
    if (known.some((each) => each.name === params.name))
      throw nameTaken('parameters.name', 'name', params.name);
    checkUnmistakable('parameters.name', 'name', params.name, () => known);
    checkLimit(tx, 'known addresses', known.length, 1, limits.knownAddressesPerOrganization);
    const knownAddressId = uuidV4(random('known address', 16));
    insertKnownAddress(tx, {
      id: knownAddressId,
      organizationId,
      name: params.name,
      address,
      createdAt: now,
    });
    return { knownAddressId };
  },
});

const missing = (wanted: string): string => `unable to find known address ${wanted}`;

export const deleteKnownAddress = activity({
  path: 'delete_known_address',
  summary: 'Takes the name of an address away.',
  title: 'Delete the name of an address',
  own: true,
  type: 'ACTIVITY_TYPE_DELETE_KNOWN_ADDRESS',
  intent: 'deleteKnownAddressIntent',
  result: 'deleteKnownAddressResult',
  authority: { resource: 'POLICY', action: 'DELETE', changesRights: true },
  params: z.object({ knownAddressId: id }),
  returns: z.object({ knownAddressId: uuid }),
  run({ tx, organizationId, params: { knownAddressId } }) {
    orNotFound(getKnownAddressRow(tx, organizationId, knownAddressId), missing(knownAddressId));
    deleteKnownAddressRow(tx, knownAddressId);
    return { knownAddressId };
  },
});

export const listKnownAddresses = query({
  path: 'list_known_addresses',
  summary: 'Lists the addresses that have a name, by name.',
  own: true,
  params: z.object({}),
  returns: z.object({ knownAddresses: z.array(shownKnownAddress) }),
  run: ({ tx, organizationId }) => ({
    knownAddresses: listKnownAddressRows(tx, organizationId).map(toKnownAddress),
  }),
});
