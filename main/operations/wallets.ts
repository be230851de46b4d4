/** HD wallets. */
import { z } from 'zod';
import { activity, query, type ActivityContext } from '../activities/define.ts';
import { masterPublicKey } from '../crypto/derivation.ts';
import { toHex } from '../crypto/encodings.ts';
import { entropyLength, mnemonicFromEntropy, wordCounts } from '../crypto/mnemonics.ts';
import { uuidV5 } from '../crypto/uuid.ts';
import type { Reader } from '../db/connection.ts';
import {
  countWallets,
  deleteWallet,
  findWalletByName,
  getWalletRow,
  insertWallet,
  listWalletRows,
  markWalletExported,
  renameWallet,
  toWallet,
} from '../db/wallets.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { forAnother, onlyOne } from './authority.ts';
import { walletFacts, walletsFacts } from './key-facts.ts';
import { accounts, addAccounts, findWallet, type AccountParams } from './account-derivation.ts';
import { limits } from './limits.ts';
import {
  encryptedBundleText,
  encryptTo,
  exportBundle,
  initImport,
  openImport,
  spendImport,
  targetPublicKey,
} from './bundles.ts';
import { checkDistinct, checkLimit, id, ids, name, notExported } from './parameters.ts';
import { phraseBytes, readPhrase, seedOf, walletPlace, type WalletPhrase } from './wallet-secrets.ts';
import { uuid, uuids, shownWallet } from './resources.ts';

export const createWallet = activity({
  path: 'create_wallet',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  intent: 'createWalletIntent',
  result: 'createWalletResult',
  authority: { resource: 'WALLET', action: 'CREATE' },
  params: z.object({
    walletName: name,
    accounts,
    mnemonicLength: z.literal([...wordCounts]).optional(),
  }),
  returns: z.object({ walletId: uuid, addresses: z.array(z.string()) }),
  run(context) {
    const { params, random } = context;
    const entropy = random('mnemonic', entropyLength(params.mnemonicLength ?? 12));
    try {
      const phrase = { mnemonic: mnemonicFromEntropy(entropy), passphrase: '' };
      return addWallet(context, { ...params, phrase, imported: false });
    } finally {
      entropy.fill(0);
    }
  },
});

interface NewWallet {
  readonly walletName: string;
  readonly accounts: readonly AccountParams[];
  readonly phrase: WalletPhrase;
  readonly imported: boolean;
}

/** Stores a wallet, sealed, under an id that follows from its seed: the same seed cannot be stored twice. */
function addWallet(
  context: Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'random' | 'organizationId' | 'now'>,
  wallet: NewWallet,
): { readonly walletId: string; readonly addresses: readonly string[] } {
  const { tx, keys, organizationId, now } = context;
  checkLimit('wallets', countWallets(tx, organizationId), 1, limits.walletsPerOrganization);
  checkNameFree(tx, organizationId, wallet.walletName);
  const secret = phraseBytes(wallet.phrase);
  const seed = seedOf(wallet.phrase);
  try {
    const walletId = uuidV5(organizationId, `wallet ${toHex(masterPublicKey(seed))}`);
    if (getWalletRow(tx, organizationId, walletId)) {
      throw new LatchkeyError(
        'ALREADY_EXISTS',
        `seed for wallet ${walletId} already imported in this organization`,
      );
    }
    insertWallet(tx, {
      id: walletId,
      organizationId,
      name: wallet.walletName,
      sealed: keys.seal(walletPlace({ id: walletId, organizationId }), secret),
      exported: 0,
      imported: wallet.imported ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    });
    return { walletId, addresses: addAccounts(context, walletId, seed, wallet.accounts) };
  } finally {
    secret.fill(0);
    seed.fill(0);
  }
}

export const updateWallet = activity({
  path: 'update_wallet',
  type: 'ACTIVITY_TYPE_UPDATE_WALLET',
  intent: 'updateWalletIntent',
  result: 'updateWalletResult',
  authority: {
    resource: 'WALLET',
    action: 'UPDATE',
    shows: ({ walletId }) => ({ wallet_id: walletId }),
    facts: ({ params: { walletId }, ...where }) => walletFacts(where, walletId),
  },
  params: z.object({ walletId: id, walletName: name.optional() }),
  returns: z.object({ walletId: uuid }),
  run(context) {
    const { tx, organizationId, params, now } = context;
    const wallet = findWallet(tx, organizationId, params.walletId);
    if (params.walletName !== undefined && params.walletName !== wallet.name) {
      checkNameFree(tx, organizationId, params.walletName);
      renameWallet(tx, wallet.id, params.walletName, now);
    }
    return { walletId: wallet.id };
  },
});

export const initImportWallet = activity({
  path: 'init_import_wallet',
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
  type: 'ACTIVITY_TYPE_IMPORT_WALLET',
  intent: 'importWalletIntent',
  result: 'importWalletResult',
  authority: { resource: 'WALLET', action: 'IMPORT', refuses: forAnother },
  params: z.object({ userId: id, walletName: name, encryptedBundle: encryptedBundleText, accounts }),
  returns: z.object({ walletId: uuid, addresses: z.array(z.string()) }),
  prepare: (context) => openImport(context, context.params.userId, 'wallet', context.params.encryptedBundle),
  run(context) {
    const { tx, params, prepared } = context;
    try {
      spendImport(tx, prepared, 'wallet');
      const phrase = readPhrase(prepared.secret, 'parameters.encryptedBundle');
      return addWallet(context, { ...params, phrase, imported: true });
    } finally {
      prepared.secret.fill(0);
    }
  },
});

export const exportWallet = activity({
  path: 'export_wallet',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET',
  intent: 'exportWalletIntent',
  result: 'exportWalletResult',
  authority: {
    resource: 'WALLET',
    action: 'EXPORT',
    shows: (shown) => ({ target_public_key: shown.targetPublicKey }),
    facts: ({ params: { walletId }, ...where }) => walletFacts(where, walletId),
  },
  params: z.object({
    walletId: id,
    targetPublicKey,
    // In another language the same entropy has another seed, and so other addresses.
    language: z.literal('MNEMONIC_LANGUAGE_ENGLISH').optional(),
  }),
  returns: z.object({ walletId: uuid, exportBundle: z.string() }),
  prepare({ tx, keys, organizationId, params }) {
    const wallet = findWallet(tx, organizationId, params.walletId);
    return encryptTo(params.targetPublicKey, keys.open(walletPlace(wallet), wallet.sealed));
  },
  run(context) {
    const { tx, organizationId, params, prepared, now } = context;
    const wallet = findWallet(tx, organizationId, params.walletId);
    markWalletExported(tx, wallet.id, now);
    return { walletId: wallet.id, exportBundle: exportBundle(context, prepared) };
  },
});

export const deleteWallets = activity({
  path: 'delete_wallets',
  type: 'ACTIVITY_TYPE_DELETE_WALLETS',
  intent: 'deleteWalletsIntent',
  result: 'deleteWalletsResult',
  authority: {
    resource: 'WALLET',
    action: 'DELETE',
    facts: ({ params: { walletIds }, ...where }) => ({
      ...onlyOne(walletIds, (only) => walletFacts(where, only)),
      ...walletsFacts(where, walletIds),
    }),
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

function checkNameFree(tx: Reader, organizationId: string, walletName: string): void {
  if (findWalletByName(tx, organizationId, walletName) === undefined) return;
  throw new LatchkeyError(
    'ALREADY_EXISTS',
    `invalid parameters.walletName: wallet name must be unique, ${JSON.stringify(walletName)} is taken`,
  );
}

export const getWallet = query({
  path: 'get_wallet',
  params: z.object({ walletId: id }),
  returns: z.object({ wallet: shownWallet }),
  run: ({ tx, organizationId, params }) => ({
    wallet: toWallet(findWallet(tx, organizationId, params.walletId)),
  }),
});

export const listWallets = query({
  path: 'list_wallets',
  params: z.object({}),
  returns: z.object({ wallets: z.array(shownWallet) }),
  run: ({ tx, organizationId }) => ({ wallets: listWalletRows(tx, organizationId).map(toWallet) }),
});
