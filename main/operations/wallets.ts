/** HD wallets and their accounts. */
import { z } from 'zod';
import { activity, query, type ActivityContext } from '../activities/define.ts';
import { encodeAddress } from '../crypto/addresses.ts';
import { curves, type Curve } from '../crypto/curves.ts';
import { derivePrivateKey, formatPath, masterPublicKey, parsePath } from '../crypto/derivation.ts';
import { toHex } from '../crypto/encodings.ts';
import { entropyLength, mnemonicFromEntropy, wordCounts } from '../crypto/mnemonics.ts';
import { uuidV4, uuidV5 } from '../crypto/uuid.ts';
import type { Reader } from '../db/connection.ts';
import {
  deleteAccount,
  findAccountByAddress,
  findAccountByPath,
  getAccountRow,
  hasAccount,
  insertAccount,
  listAccountRows,
  markAccountExported,
  toWalletAccount,
  type WalletAccountRow,
} from '../db/wallet-accounts.ts';
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
  type WalletRow,
} from '../db/wallets.ts';
import { LatchkeyError } from '../lib/errors.ts';
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
import {
  addressFormat,
  checkDistinct,
  checkLimit,
  curve,
  found,
  id,
  ids,
  name,
  notExported,
  page,
  pagination,
} from './parameters.ts';
import {
  phraseBytes,
  readPhrase,
  seedOf,
  walletPlace,
  withSeed,
  type WalletPhrase,
} from './wallet-secrets.ts';

/** Kept in one form, so that equal paths are equal texts. */
const path = z
  .string()
  .max(200)
  .transform((text, context) => {
    try {
      return formatPath(parsePath(text));
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message: error instanceof Error ? error.message.replace(/^invalid path: /, '') : 'Expected a path',
      });
      return z.NEVER;
    }
  });

const accountParams = z.object({
  curve,
  pathFormat: z.literal('PATH_FORMAT_BIP32'),
  path,
  addressFormat,
  name: name.optional(),
});

type AccountParams = z.output<typeof accountParams>;

const accounts = z.array(accountParams).max(limits.batch);

export const createWallet = activity({
  path: 'create_wallet',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  intent: 'createWalletIntent',
  result: 'createWalletResult',
  params: z.object({
    walletName: name,
    accounts,
    mnemonicLength: z.literal([...wordCounts]).optional(),
  }),
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

type WalletContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'random' | 'organizationId' | 'now'>;

/** Stores a wallet, sealed, under an id that follows from its seed: the same seed cannot be stored twice. */
function addWallet(
  context: WalletContext,
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

/** @returns the new accounts' addresses, in the order asked for. */
function addAccounts(
  { tx, random, organizationId, now }: WalletContext,
  walletId: string,
  seed: Uint8Array,
  wanted: readonly AccountParams[],
): string[] {
  return wanted.map((account, index) => {
    const at = `parameters.accounts[${String(index)}]`;
    if (hasAccount(tx, walletId, account)) {
      throw new LatchkeyError(
        'ALREADY_EXISTS',
        `path already exists in wallet: invalid ${at}: the wallet has ${account.path} as ${account.addressFormat}`,
      );
    }
    const secret = derivePrivateKey(account.curve, seed, account.path, `${at}.path`);
    const publicKey = curves[account.curve].publicKey(secret);
    secret.fill(0);
    const address = encodeAddress(account.addressFormat, account.curve, publicKey, `${at}.addressFormat`);
    insertAccount(tx, {
      id: uuidV4(random('wallet account', 16)),
      organizationId,
      walletId,
      name: account.name ?? null,
      curve: account.curve,
      path: account.path,
      addressFormat: account.addressFormat,
      address,
      publicKey: toHex(publicKey),
      exported: 0,
      createdAt: now,
      updatedAt: now,
    });
    return address;
  });
}

export const createWalletAccounts = activity({
  path: 'create_wallet_accounts',
  type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
  intent: 'createWalletAccountsIntent',
  result: 'createWalletAccountsResult',
  params: z.object({ walletId: id, accounts: accounts.min(1), persist: z.boolean().optional() }),
  run(context) {
    const { tx, organizationId, params } = context;
    const wallet = found(
      getWalletRow(tx, organizationId, params.walletId),
      `unable to find wallet ${params.walletId}`,
    );
    return withSeed(context.keys, wallet, (seed) => ({
      addresses:
        params.persist === false
          ? params.accounts.map((account, index) =>
              addressOf(seed, account, `parameters.accounts[${String(index)}]`),
            )
          : addAccounts(context, wallet.id, seed, params.accounts),
    }));
  },
});

/** @param at The name of the account in the request, for errors. */
function addressOf(seed: Uint8Array, account: AccountParams, at: string): string {
  const secret = derivePrivateKey(account.curve, seed, account.path, `${at}.path`);
  const publicKey = curves[account.curve].publicKey(secret);
  secret.fill(0);
  return encodeAddress(account.addressFormat, account.curve, publicKey, `${at}.addressFormat`);
}

export const updateWallet = activity({
  path: 'update_wallet',
  type: 'ACTIVITY_TYPE_UPDATE_WALLET',
  intent: 'updateWalletIntent',
  result: 'updateWalletResult',
  params: z.object({ walletId: id, walletName: name.optional() }),
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
  params: z.object({ userId: id }),
  run: (context) => ({ importBundle: initImport(context, context.params.userId, 'wallet') }),
});

export const importWallet = activity({
  path: 'import_wallet',
  type: 'ACTIVITY_TYPE_IMPORT_WALLET',
  intent: 'importWalletIntent',
  result: 'importWalletResult',
  params: z.object({ userId: id, walletName: name, encryptedBundle: encryptedBundleText, accounts }),
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
  params: z.object({
    walletId: id,
    targetPublicKey,
    // In another language the same entropy has another seed, and so other addresses.
    language: z.literal('MNEMONIC_LANGUAGE_ENGLISH').optional(),
  }),
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

export const exportWalletAccount = activity({
  path: 'export_wallet_account',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
  intent: 'exportWalletAccountIntent',
  result: 'exportWalletAccountResult',
  params: z.object({ address: z.string().min(1).max(200), targetPublicKey }),
  prepare({ tx, keys, organizationId, params }) {
    const account = findAccount(tx, organizationId, params.address);
    const wallet = findWallet(tx, organizationId, account.walletId);
    return encryptTo(
      params.targetPublicKey,
      withSeed(keys, wallet, (seed) => derivePrivateKey(account.curve as Curve, seed, account.path)),
    );
  },
  run(context) {
    const { tx, organizationId, params, prepared, now } = context;
    const account = findAccount(tx, organizationId, params.address);
    markAccountExported(tx, account.id, now);
    return { address: account.address, exportBundle: exportBundle(context, prepared) };
  },
});

export const deleteWallets = activity({
  path: 'delete_wallets',
  type: 'ACTIVITY_TYPE_DELETE_WALLETS',
  intent: 'deleteWalletsIntent',
  result: 'deleteWalletsResult',
  params: z.object({ walletIds: ids.min(1), deleteWithoutExport: z.boolean().optional() }),
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

export const deleteWalletAccounts = activity({
  path: 'delete_wallet_accounts',
  type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
  intent: 'deleteWalletAccountsIntent',
  result: 'deleteWalletAccountsResult',
  params: z.object({ walletAccountIds: ids.min(1), deleteWithoutExport: z.boolean().optional() }),
  run({ tx, organizationId, params }) {
    checkDistinct('parameters.walletAccountIds', params.walletAccountIds);
    for (const accountId of params.walletAccountIds) {
      const account = found(
        getAccountRow(tx, organizationId, accountId),
        `unable to find wallet account ${accountId}`,
      );
      // Whoever has the wallet's words has the account's key.
      const kept = account.exported === 1 || findWallet(tx, organizationId, account.walletId).exported === 1;
      if (params.deleteWithoutExport !== true && !kept) throw notExported('wallet account', accountId);
      deleteAccount(tx, accountId);
    }
    return { walletAccountIds: params.walletAccountIds };
  },
});

function findWallet(tx: Reader, organizationId: string, walletId: string): WalletRow {
  return found(getWalletRow(tx, organizationId, walletId), `unable to find wallet ${walletId}`);
}

function findAccount(tx: Reader, organizationId: string, address: string): WalletAccountRow {
  return found(
    findAccountByAddress(tx, organizationId, address),
    `Could not find wallet account with address ${address}`,
  );
}

function checkNameFree(tx: Reader, organizationId: string, walletName: string): void {
  if (findWalletByName(tx, organizationId, walletName) === undefined) return;
  throw new LatchkeyError(
    'ALREADY_EXISTS',
    `invalid parameters.walletName: wallet name must be unique, ${JSON.stringify(walletName)} is taken`,
  );
}

export const getWalletAccount = query({
  path: 'get_wallet_account',
  params: z
    .object({ walletId: id, address: z.string().max(200).optional(), path: path.optional() })
    .refine(
      ({ address, path: at }) => (address === undefined) !== (at === undefined),
      'Expected address or path, one of the two',
    ),
  run({ tx, organizationId, params }) {
    findWallet(tx, organizationId, params.walletId);
    const row =
      params.path === undefined
        ? findAccountByAddress(tx, organizationId, params.address ?? '')
        : findAccountByPath(tx, params.walletId, params.path);
    const account = found(
      row?.walletId === params.walletId ? row : undefined,
      `Could not find wallet account with ${params.path === undefined ? `address ${params.address ?? ''}` : `path ${params.path}`}`,
    );
    return { account: toWalletAccount(account) };
  },
});

export const getWallet = query({
  path: 'get_wallet',
  params: z.object({ walletId: id }),
  run: ({ tx, organizationId, params }) => ({
    wallet: toWallet(
      found(getWalletRow(tx, organizationId, params.walletId), `unable to find wallet ${params.walletId}`),
    ),
  }),
});

export const listWallets = query({
  path: 'list_wallets',
  params: z.object({}),
  run: ({ tx, organizationId }) => ({ wallets: listWalletRows(tx, organizationId).map(toWallet) }),
});

export const listWalletAccounts = query({
  path: 'list_wallet_accounts',
  params: z.object({
    walletId: id.optional(),
    includeWalletDetails: z.boolean().optional(),
    paginationOptions: pagination,
  }),
  run({ tx, organizationId, params }) {
    if (params.walletId !== undefined) {
      found(getWalletRow(tx, organizationId, params.walletId), `unable to find wallet ${params.walletId}`);
    }
    const rows = found(
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
