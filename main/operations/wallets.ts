/** HD wallets and their accounts. */
import { z } from 'zod';
import { activity, query, type ActivityContext } from '../activities/define.ts';
import { encodeAddress } from '../crypto/addresses.ts';
import { curves } from '../crypto/curves.ts';
import { derivePrivateKey, formatPath, masterPublicKey, parsePath } from '../crypto/derivation.ts';
import { toHex } from '../crypto/encodings.ts';
import { entropyLength, mnemonicFromEntropy, seedFromMnemonic, wordCounts } from '../crypto/mnemonics.ts';
import { uuidV4, uuidV5 } from '../crypto/uuid.ts';
import { hasAccount, insertAccount, listAccountRows, toWalletAccount } from '../db/wallet-accounts.ts';
import {
  countWallets,
  findWalletByName,
  getWalletRow,
  insertWallet,
  listWalletRows,
  toWallet,
  walletsTable,
  type WalletRow,
} from '../db/wallets.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { limits } from './limits.ts';
import { addressFormat, checkLimit, curve, found, id, name, page, pagination } from './parameters.ts';

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
        message: error instanceof Error ? error.message : 'Expected a path',
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
      return addWallet(context, { ...params, mnemonic: mnemonicFromEntropy(entropy), imported: false });
    } finally {
      entropy.fill(0);
    }
  },
});

interface NewWallet {
  readonly walletName: string;
  readonly accounts: readonly AccountParams[];
  readonly mnemonic: string;
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
  if (findWalletByName(tx, organizationId, wallet.walletName)) {
    throw new LatchkeyError(
      'ALREADY_EXISTS',
      `invalid parameters.walletName: wallet name must be unique, ${JSON.stringify(wallet.walletName)} is taken`,
    );
  }
  const secret = Buffer.from(wallet.mnemonic, 'utf8');
  const seed = seedFromMnemonic(wallet.mnemonic);
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
      sealed: keys.seal({ table: walletsTable, rowId: walletId, organizationId }, secret),
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
    const secret = derivePrivateKey(account.curve, seed, account.path);
    const publicKey = curves[account.curve].publicKey(secret);
    secret.fill(0);
    const address = encodeAddress(account.addressFormat, account.curve, publicKey);
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
      createdAt: now,
      updatedAt: now,
    });
    return address;
  });
}

/** Opens a wallet's mnemonic for as long as `use` runs and hands it the seed. */
function withSeed<T>(
  { keys }: Pick<WalletContext, 'keys'>,
  wallet: WalletRow,
  use: (seed: Uint8Array) => T,
): T {
  const { id: rowId, organizationId } = wallet;
  const secret = keys.open({ table: walletsTable, rowId, organizationId }, wallet.sealed);
  const seed = seedFromMnemonic(Buffer.from(secret).toString('utf8'));
  secret.fill(0);
  try {
    return use(seed);
  } finally {
    seed.fill(0);
  }
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
    return withSeed(context, wallet, (seed) => ({
      addresses:
        params.persist === false
          ? params.accounts.map((account) => addressOf(seed, account))
          : addAccounts(context, wallet.id, seed, params.accounts),
    }));
  },
});

function addressOf(seed: Uint8Array, account: AccountParams): string {
  const secret = derivePrivateKey(account.curve, seed, account.path);
  const publicKey = curves[account.curve].publicKey(secret);
  secret.fill(0);
  return encodeAddress(account.addressFormat, account.curve, publicKey);
}

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
