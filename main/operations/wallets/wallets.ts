/** HD wallets. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import {
  deleteWallet,
  listWalletRows,
  markWalletExported,
  renameWallet,
  toWallet,
} from '../../storage/tables/wallets.ts';
import { accounts, findWallet } from './account-derivation.ts';
import { forAnother } from '../credentials/authority.ts';
import {
  encryptedBundleText,
  encryptTo,
  exportBundle,
  initImport,
  importKeys,
  openImport,
  wipeImport,
  spendImport,
  targetPublicKey,
} from '../shared/bundles.ts';
import { walletFacts, walletsFacts } from '../signing/key-facts.ts';
import { checkDistinct, id, ids, name, notExported } from '../shared/parameters.ts';
import { uuid, uuids, shownWallet } from '../shared/resources.ts';
import { addWallet, checkWalletNameFree, makeWallet, walletParams } from './wallet-registration.ts';
import { erasePhrase, readPhrase, walletContext } from '../../storage/wallet-secrets.ts';

export const createWallet = activity({
  path: 'create_wallet',
  summary: 'Makes a wallet from a fresh mnemonic, with the accounts asked for.',
  title: 'Create a wallet',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  intent: 'createWalletIntent',
  result: 'createWalletResult',
  authority: { resource: 'WALLET', action: 'CREATE' },
  params: walletParams,
  returns: z.object({ walletId: uuid, addresses: z.array(z.string()) }),
  run(context) {
    return makeWallet(context, context.params, 'parameters');
  },
});

export const updateWallet = activity({
  path: 'update_wallet',
  summary: 'Gives a wallet another name.',
  title: 'Rename a wallet',
  type: 'ACTIVITY_TYPE_UPDATE_WALLET',
  intent: 'updateWalletIntent',
  result: 'updateWalletResult',
  authority: {
    resource: 'WALLET',
    action: 'UPDATE',
    changesRights: true,
    shows: ({ walletId }) => ({ wallet_id: walletId }),
    facts: ({ params: { walletId }, ...where }) => walletFacts(where, walletId),
  },
  params: z.object({ walletId: id, walletName: name.optional() }),
  returns: z.object({ walletId: uuid }),
  run(context) {
    const { tx, organizationId, params, now } = context;
    const wallet = findWallet(tx, organizationId, params.walletId);
    if (params.walletName !== undefined && params.walletName !== wallet.name) {
      checkWalletNameFree(tx, organizationId, params.walletName, 'parameters');
      renameWallet(tx, wallet.id, params.walletName, now);
    }
    return { walletId: wallet.id };
  },
});

export const initImportWallet = activity({
  path: 'init_import_wallet',
  summary: 'Gives a user a public key of the vault, to encrypt a mnemonic to.',
  title: 'Start a wallet import',
  type: 'ACTIVITY_TYPE_INIT_IMPORT_WALLET',
  intent: 'initImportWalletIntent',
  result: 'initImportWalletResult',
  authority: { resource: 'WALLET', action: 'IMPORT', refuses: forAnother },
  params: z.object({ userId: id }),
  returns: z.object({ importBundle: z.string() }),
  run: (context) => ({ importBundle: initImport(context, context.params.userId, 'wallet') }),
});

export const importWallet = activity({
  path: 'import_wallet',
  summary: 'Stores a wallet whose mnemonic the client encrypted to the vault.',
  title: 'Import a wallet',
  type: 'ACTIVITY_TYPE_IMPORT_WALLET',
  intent: 'importWalletIntent',
  result: 'importWalletResult',
  authority: { resource: 'WALLET', action: 'IMPORT', changesRights: true, refuses: forAnother },
  params: z.object({ userId: id, walletName: name, encryptedBundle: encryptedBundleText, accounts }),
  returns: z.object({ walletId: uuid, addresses: z.array(z.string()) }),
  gather: (context) => importKeys(context, context.params.userId, 'wallet'),
  prepare: ({ gathered, params }) => openImport(gathered, 'wallet', params.encryptedBundle),
  wipe: wipeImport,
  run(context) {
    const { tx, params, prepared } = context;
    spendImport(tx, prepared, 'wallet');
    const phrase = readPhrase(prepared.secret, 'parameters.encryptedBundle');
    try {
      return addWallet(context, { ...params, phrase, imported: true }, 'parameters');
    } finally {
      erasePhrase(phrase);
    }
  },
});

export const exportWallet = activity({
  path: 'export_wallet',
  summary: 'Hands a wallet’s mnemonic out, encrypted to the client’s key.',
  title: 'Export a wallet',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET',
  intent: 'exportWalletIntent',
  result: 'exportWalletResult',
  authority: {
    resource: 'WALLET',
    action: 'EXPORT',
    shows: (shown) => ({ target_public_key: shown.targetPublicKey }),
    facts: ({ params: { walletId }, ...where }) => walletFacts(where, walletId),
  },
  stepUp: { for: 'export' },
  params: z.object({
    walletId: id,
    targetPublicKey,
    // In another language the same entropy has another seed, and so other addresses.
    language: z.literal('MNEMONIC_LANGUAGE_ENGLISH').optional(),
  }),
  returns: z.object({ walletId: uuid, exportBundle: z.string() }),
  gather({ tx, keys, organizationId, params }) {
    const wallet = findWallet(tx, organizationId, params.walletId);
    return keys.open(walletContext(wallet), wallet.sealed);
  },
  prepare: ({ gathered, params }) => encryptTo(params.targetPublicKey, gathered),
  run(context) {
    const { tx, organizationId, params, prepared, now } = context;
    const wallet = findWallet(tx, organizationId, params.walletId);
    markWalletExported(tx, wallet.id, now);
    return { walletId: wallet.id, exportBundle: exportBundle(context, prepared) };
  },
});

export const deleteWallets = activity({
  path: 'delete_wallets',
  summary: 'Deletes wallets that were exported, or that may be lost.',
  title: 'Delete wallets',
  type: 'ACTIVITY_TYPE_DELETE_WALLETS',
  intent: 'deleteWalletsIntent',
  result: 'deleteWalletsResult',
  authority: {
    resource: 'WALLET',
    action: 'DELETE',
    facts: ({ params: { walletIds }, ...where }) =>
      walletIds.map((walletId) => ({
        ...walletFacts(where, walletId),
        ...walletsFacts(where, walletIds),
      })),
  },
  params: z.object({ walletIds: ids.min(1), deleteWithoutExport: z.boolean().optional() }),
  returns: z.object({ walletIds: uuids }),
  run({ tx, organizationId, params }) {
    checkDistinct('parameters.walletIds', params.walletIds);
    for (const walletId of params.walletIds) {
      const wallet = findWallet(tx, organizationId, walletId);
      if (params.deleteWithoutExport !== true && wallet.exported === 0) throw notExported('wallet', walletId);
      deleteWallet(tx, walletId);
    }
    return { walletIds: params.walletIds };
  },
});

export const getWallet = query({
  path: 'get_wallet',
  summary: 'Shows one wallet.',
  params: z.object({ walletId: id }),
  returns: z.object({ wallet: shownWallet }),
  run: ({ tx, organizationId, params }) => ({
    wallet: toWallet(findWallet(tx, organizationId, params.walletId)),
  }),
});

export const listWallets = query({
  path: 'list_wallets',
  summary: 'Lists all wallets.',
  params: z.object({}),
  returns: z.object({ wallets: z.array(shownWallet) }),
  run: ({ tx, organizationId }) => ({ wallets: listWalletRows(tx, organizationId).map(toWallet) }),
});
