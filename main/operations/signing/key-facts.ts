/** Facts of wallets, accounts and private keys for policies. */
import { parsePath } from '../../crypto/keys/derivation.ts';
import type { Reader } from '../../storage/connection.ts';
import { getPrivateKeyRow, type PrivateKeyRow } from '../../storage/tables/private-keys.ts';
import { listTagIdsOf } from '../../storage/tables/tags.ts';
import {
  findAccountByAddress,
  getAccountRow,
  type WalletAccountRow,
} from '../../storage/tables/wallet-accounts.ts';
import { getWalletRow, type WalletRow } from '../../storage/tables/wallets.ts';
import { once } from '../../lib/once.ts';
import type { ConditionFacts } from '../../policy/language/schema.ts';
import { findNamedKey } from './signers.ts';

type KeyFacts = Pick<ConditionFacts, 'wallet' | 'wallets' | 'wallet_account' | 'private_key' | 'signing_key'>;

interface Where {
  readonly tx: Reader;
  readonly organizationId: string;
}

const ofWallet = ({ id, imported, exported, name }: WalletRow) => ({
  id,
  imported: imported === 1,
  exported: exported === 1,
  label: name,
});

const ofPrivateKey = (tx: Reader, { id, imported, exported, name }: PrivateKeyRow) => ({
  id,
  tags: listTagIdsOf(tx, 'TAG_TYPE_PRIVATE_KEY', id),
  imported: imported === 1,
  exported: exported === 1,
  label: name,
});

/** Added to a step of a path that is hardened. */
const hardened = 0x8000_0000;

function ofAccount({ address, path }: WalletAccountRow) {
  const steps = parsePath(path);
  return {
    address,
    path_indexes: steps.map((step) => (step >= hardened ? step - hardened : step)),
    path_hardened: steps.map((step) => step >= hardened),
  };
}

export const walletFacts = ({ tx, organizationId }: Where, walletId: string): KeyFacts => ({
  wallet: () => {
    const row = getWalletRow(tx, organizationId, walletId);
    return row && ofWallet(row);
  },
});

/** Those that are not there are not shown. */
export const walletsFacts = ({ tx, organizationId }: Where, walletIds: readonly string[]): KeyFacts => ({
  wallets: () =>
    walletIds.flatMap((walletId) => {
      const row = getWalletRow(tx, organizationId, walletId);
      return row === undefined ? [] : [ofWallet(row)];
    }),
});

export const privateKeyFacts = ({ tx, organizationId }: Where, privateKeyId: string): KeyFacts => ({
  private_key: () => {
    const row = getPrivateKeyRow(tx, organizationId, privateKeyId);
    return row && ofPrivateKey(tx, row);
  },
});

export const accountFacts = (where: Where, address: string): KeyFacts =>
  factsOfAccount(where, () => findAccountByAddress(where.tx, where.organizationId, address));

export const accountFactsById = (where: Where, accountId: string): KeyFacts =>
  factsOfAccount(where, () => getAccountRow(where.tx, where.organizationId, accountId));

/** The key that signs: a private key, or a wallet account with its wallet; and the key itself, whatever it is called by. */
export function signerFacts({ tx, organizationId }: Where, signWith: string): KeyFacts {
  const named = once(() => findNamedKey(tx, organizationId, signWith));
  const account = (): WalletAccountRow | undefined => {
    const key = named();
    return key.kind === 'wallet account' ? key.row : undefined;
  };
  return {
    ...factsOfAccount({ tx, organizationId }, account),
    private_key: () => {
      const key = named();
      return key.kind === 'private key' ? ofPrivateKey(tx, key.row) : undefined;
    },
    signing_key: () => {
      const { publicKey, curve } = named().row;
      return { public_key: publicKey, curve };
    },
  };
}

function factsOfAccount({ tx, organizationId }: Where, find: () => WalletAccountRow | undefined): KeyFacts {
  return {
    wallet_account: () => {
      const row = find();
      return row && ofAccount(row);
    },
    wallet: () => {
      const account = find();
      const row = account && getWalletRow(tx, organizationId, account.walletId);
      return row && ofWallet(row);
    },
  };
}
