/** Wallet accounts. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import type { Curve } from '../../crypto/keys/curves.ts';
import { derivePrivateKey } from '../../crypto/keys/derivation.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  deleteAccount,
  findAccountByAddress,
  findAccountByPath,
  getAccountRow,
  listAccountRows,
  markAccountExported,
  renameAccount,
  toWalletAccount,
  type WalletAccountRow,
} from '../../storage/tables/wallet-accounts.ts';
import { getWalletRow, toWallet } from '../../storage/tables/wallets.ts';
import { accounts, addAccounts, deriveAccount, findWallet, path } from './account-derivation.ts';
import { accountFacts, accountFactsById, walletFacts } from '../signing/key-facts.ts';
import { encryptTo, exportBundle, targetPublicKey } from '../shared/bundles.ts';
import {
  checkDistinct,
  orNotFound,
  id,
  ids,
  name,
  notExported,
  page,
  pagination,
} from '../shared/parameters.ts';
import { withSeed } from '../../storage/wallet-secrets.ts';
import { uuid, uuids, shownWalletAccount } from '../shared/resources.ts';

/** An address as a request names one: whatever the format, it is of plain characters. */
const addressText = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[!-~]+$/, 'Expected an address, without white space and control characters');

export const createWalletAccounts = activity({
  path: 'create_wallet_accounts',
  summary: 'Derives more accounts of a wallet.',
  title: 'Add accounts to a wallet',
  type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
  intent: 'createWalletAccountsIntent',
  result: 'createWalletAccountsResult',
  authority: {
    resource: 'WALLET',
    action: 'CREATE',
    facts: ({ params: { walletId }, ...where }) => walletFacts(where, walletId),
  },
  params: z.object({ walletId: id, accounts: accounts.min(1), persist: z.boolean().optional() }),
  returns: z.object({ addresses: z.array(z.string()) }),
  run(context) {
    const { tx, organizationId, params } = context;
    const wallet = findWallet(tx, organizationId, params.walletId);
    return withSeed(context.keys, wallet, (seed) => ({
      addresses:
        params.persist === false
          ? params.accounts.map(
              (account, index) =>
                deriveAccount(seed, account, `parameters.accounts[${String(index)}]`).address,
            )
          : addAccounts(context, wallet.id, seed, params.accounts, 'parameters.accounts'),
    }));
  },
});

/** The vendor has its type, intent and result; no path of its public API and no method of its clients leads to it. */
export const updateWalletAccountName = activity({
  path: 'update_wallet_account_name',
  summary: 'Gives an account of a wallet another name, or takes its name off.',
  title: 'Rename an account',
  own: true,
  type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
  intent: 'updateWalletAccountNameIntent',
  result: 'updateWalletAccountNameResult',
  authority: {
    resource: 'WALLET',
    action: 'UPDATE',
    facts: ({ params: { walletAccountId }, ...where }) => accountFactsById(where, walletAccountId),
  },
  params: z.object({
    walletAccountId: id,
    /** An empty one takes the name off. */
    name: z.union([z.literal(''), name]),
  }),
  returns: z.object({ walletAccountId: uuid }),
  run({ tx, organizationId, params, now }) {
    const account = findAccountById(tx, organizationId, params.walletAccountId);
    const wanted = params.name === '' ? null : params.name;
    if (wanted !== account.name) renameAccount(tx, account.id, wanted, now);
    return { walletAccountId: account.id };
  },
});

export const exportWalletAccount = activity({
  path: 'export_wallet_account',
  summary: 'Hands the private key of an account out, encrypted to the client’s key.',
  title: 'Export an account’s key',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
  intent: 'exportWalletAccountIntent',
  result: 'exportWalletAccountResult',
  authority: {
    resource: 'WALLET',
    action: 'EXPORT',
    shows: (shown) => ({ target_public_key: shown.targetPublicKey }),
    facts: ({ params: { address }, ...where }) => accountFacts(where, address),
  },
  stepUp: { for: 'export' },
  params: z.object({ address: addressText, targetPublicKey }),
  returns: z.object({ address: z.string(), exportBundle: z.string() }),
  gather({ tx, keys, organizationId, params }) {
    const account = findAccount(tx, organizationId, params.address);
    const wallet = findWallet(tx, organizationId, account.walletId);
    return withSeed(keys, wallet, (seed) => derivePrivateKey(account.curve as Curve, seed, account.path));
  },
  prepare: ({ gathered, params }) => encryptTo(params.targetPublicKey, gathered),
  run(context) {
    const { tx, organizationId, params, prepared, now } = context;
    const account = findAccount(tx, organizationId, params.address);
    markAccountExported(tx, account.id, now);
    return { address: account.address, exportBundle: exportBundle(context, prepared) };
  },
});

export const deleteWalletAccounts = activity({
  path: 'delete_wallet_accounts',
  summary: 'Deletes accounts whose keys were exported, or may be lost.',
  title: 'Delete accounts',
  type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
  intent: 'deleteWalletAccountsIntent',
  result: 'deleteWalletAccountsResult',
  authority: {
    resource: 'WALLET',
    action: 'DELETE',
    facts: ({ params: { walletAccountIds }, ...where }) =>
      walletAccountIds.map((walletAccountId) => accountFactsById(where, walletAccountId)),
  },
  params: z.object({ walletAccountIds: ids.min(1), deleteWithoutExport: z.boolean().optional() }),
  returns: z.object({ walletAccountIds: uuids }),
  run({ tx, organizationId, params }) {
    checkDistinct('parameters.walletAccountIds', params.walletAccountIds);
    for (const accountId of params.walletAccountIds) {
      const account = findAccountById(tx, organizationId, accountId);
      // The wallet's words give the account's key.
      const kept = account.exported === 1 || findWallet(tx, organizationId, account.walletId).exported === 1;
      if (params.deleteWithoutExport !== true && !kept) throw notExported('wallet account', accountId);
      deleteAccount(tx, accountId);
    }
    return { walletAccountIds: params.walletAccountIds };
  },
});

export const getWalletAccount = query({
  path: 'get_wallet_account',
  summary: 'Shows one account of a wallet, by its address or its path.',
  params: z
    .object({ walletId: id, address: addressText.optional(), path: path.optional() })
    .refine(
      ({ address, path: at }) => (address === undefined) !== (at === undefined),
      'Expected address or path, one of the two',
    ),
  returns: z.object({ account: shownWalletAccount }),
  run({ tx, organizationId, params }) {
    findWallet(tx, organizationId, params.walletId);
    const row =
      params.path === undefined
        ? findAccountByAddress(tx, organizationId, params.address ?? '')
        : findAccountByPath(tx, params.walletId, params.path);
    const account = orNotFound(
      row?.walletId === params.walletId ? row : undefined,
      `Could not find wallet account with ${params.path === undefined ? `address ${params.address ?? ''}` : `path ${params.path}`}`,
    );
    return { account: toWalletAccount(account) };
  },
});

export const listWalletAccounts = query({
  path: 'list_wallet_accounts',
  summary: 'Lists the accounts of a wallet, or of all wallets.',
  params: z.object({
    walletId: id.optional(),
    includeWalletDetails: z.boolean().optional(),
    paginationOptions: pagination,
  }),
  returns: z.object({ accounts: z.array(shownWalletAccount) }),
  run({ tx, organizationId, params }) {
    if (params.walletId !== undefined) findWallet(tx, organizationId, params.walletId);
    const rows = orNotFound(
      listAccountRows(tx, organizationId, params.walletId ?? null, page(params.paginationOptions)),
      'invalid paginationOptions: after and before name a wallet account of this organization',
    );
    return {
      accounts: rows.map((row) => {
        const wallet = params.includeWalletDetails === true && getWalletRow(tx, organizationId, row.walletId);
        return { ...toWalletAccount(row), ...(wallet ? { walletDetails: toWallet(wallet) } : {}) };
      }),
    };
  },
});

function findAccountById(tx: Reader, organizationId: string, accountId: string): WalletAccountRow {
  return orNotFound(
    getAccountRow(tx, organizationId, accountId),
    `unable to find wallet account ${accountId}`,
  );
}

function findAccount(tx: Reader, organizationId: string, address: string): WalletAccountRow {
  return orNotFound(
    findAccountByAddress(tx, organizationId, address),
    `Could not find wallet account with address ${address}`,
  );
}
