/**
 * The accounts of a wallet as a list that may have hundreds of thousands of them, and the next free path. The real API has
 * nothing of the kind.
 */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { findAccounts, getAccountAtPlace } from '../../storage/tables/wallet-account-lists.ts';
import { fromPublicId, rowIdsOf, toPublicId } from '../../storage/row-ids.ts';
import { findAccountId, toWalletAccount } from '../../storage/tables/wallet-accounts.ts';
import { findWallet, path } from './account-derivation.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { limits } from '../shared/limits.ts';
import { blocksOf, place, places, shownBlock } from '../shared/list-places.ts';
import { addressFormat, curve, id } from '../shared/parameters.ts';
import { shownWalletAccount } from '../shared/resources.ts';
import { defined } from '../../lib/defined.ts';

export const outlineWalletAccounts = query({
  path: 'outline_wallet_accounts',
  summary:
    'Tells where the accounts of a wallet are that fit a search, however many: as far as a few milliseconds go, and where to go on.',
  own: true,
  params: z.object({
    walletId: id,
    filterByAddressFormat: z.array(addressFormat).max(limits.batch).optional(),
    /** Somewhere in the address, the name, the path or the public key; the case of A to Z does not matter. */
    text: z.string().min(1).max(200).optional(),
    /** Only accounts created after this place: `next` of an earlier answer. */
    after: place.optional(),
  }),
  returns: z.object({
    outline: z
      .object({
        /** In the order of creation. */
        blocks: z.array(shownBlock),
        /** `after` of the next query. Absent at the end. */
        next: place.optional(),
      })
      .meta({ id: 'WalletAccountOutline' }),
  }),
  run({ tx, organizationId, params: { walletId, filterByAddressFormat, text, after }, caller }) {
    findWallet(tx, organizationId, walletId);
    const shown = rowIdsOf(tx, caller.organizationId, 'wallet_accounts');
    const slice = findAccounts(
      tx,
      walletId,
      {
        ...(filterByAddressFormat?.length ? { addressFormats: filterByAddressFormat } : {}),
        ...defined({ text }),
      },
      after === undefined ? 0 : fromPublicId(shown, after),
    );
    const createdAt = (sequence: number): number => getAccountAtPlace(tx, walletId, sequence)?.createdAt ?? 0;
    return {
      outline: {
        blocks: blocksOf(slice.found, shown, createdAt),
        ...(slice.next === null ? {} : { next: toPublicId(shown, slice.next) }),
      },
    };
  },
});

export const browseWalletAccounts = query({
  path: 'browse_wallet_accounts',
  summary: 'Shows the accounts of a wallet at some places of their list.',
  own: true,
  params: z.object({ walletId: id, places }),
  returns: z.object({ lines: z.array(z.object({ place, account: shownWalletAccount })) }),
  run({ tx, organizationId, params, caller }) {
    findWallet(tx, organizationId, params.walletId);
    const rows = rowIdsOf(tx, caller.organizationId, 'wallet_accounts').find(params.places);
    return {
      lines: params.places.flatMap((each, index) => {
        const row = getAccountAtPlace(tx, params.walletId, rows[index] ?? 0);
        return row === undefined ? [] : [{ place: each, account: toWalletAccount(row) }];
      }),
    };
  },
});

/** Indexes of BIP-32 end here. */
const mostIndexes = 2 ** 31;

export const getFreeWalletPath = query({
  path: 'get_free_wallet_path',
  summary: 'Finds the next derivation path that no account of a wallet has.',
  own: true,
  params: z.object({
    walletId: id,
    curve,
    addressFormat,
    /** A path with `{i}` where the index goes: `m/44'/60'/0'/0/{i}`. */
    path: z
      .string()
      .max(200)
      .regex(/^[^{}]*\{i\}[^{}]*$/, 'Expected a path with {i} where its index goes, once')
      .refine((text) => path.safeParse(text.replace('{i}', '0')).success, 'Expected a derivation path'),
    /** The first index to look at; 0 unless given. */
    from: z
      .int()
      .min(0)
      .max(mostIndexes - 1)
      .optional(),
  }),
  returns: z.object({ path: z.string(), index: z.int() }),
  run({ tx, organizationId, params }) {
    const { walletId, curve: itsCurve, addressFormat: itsFormat } = params;
    findWallet(tx, organizationId, walletId);
    const pathAt = (index: number): string => path.parse(params.path.replace('{i}', String(index)));
    const taken = (index: number): boolean =>
      findAccountId(tx, walletId, { curve: itsCurve, addressFormat: itsFormat, path: pathAt(index) }) !==
      undefined;
    const index = firstFree(taken, params.from ?? 0);
    if (index === mostIndexes) throw new KeyhearthError('LIMIT_REACHED', 'no index of this path is free');
    return { path: pathAt(index), index };
  },
});

/**
 * The end of the indexes that are taken without a gap from one on; where there are gaps, the end of one such stretch.
 * @returns `mostIndexes` where none is free.
 */
function firstFree(taken: (index: number) => boolean, from: number): number {
  let step = 1;
  // Small wallets have gaps: their lowest free index is found by going through.
  const near = Math.min(from + 100, mostIndexes);
  for (let index = from; index < near; index++) if (!taken(index)) return index;
  let low = near - 1;
  while (low + step < mostIndexes && taken(low + step)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, mostIndexes);
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (taken(middle)) low = middle;
    else high = middle;
  }
  return high;
}
