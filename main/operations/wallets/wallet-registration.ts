/** Parameters of a new wallet, and creating and storing one. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { masterPublicKey } from '../../crypto/keys/derivation.ts';
import { toHex } from '../../crypto/encodings.ts';
import { entropyLength, sentenceFromEntropy, wordCounts } from '../../crypto/keys/mnemonics.ts';
import { uuidV5 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  countWallets,
  findWalletByName,
  getWalletRow,
  insertWallet,
  listWalletRows,
} from '../../storage/tables/wallets.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { accounts, addAccounts, type AccountParams } from './account-derivation.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, checkUnmistakable, name, nameTaken } from '../shared/parameters.ts';
import {
  erasePhrase,
  phraseBytes,
  seedOf,
  walletContext,
  type WalletPhrase,
} from '../../storage/wallet-secrets.ts';

export const walletParams = z.object({
  walletName: name,
  accounts,
  mnemonicLength: z.literal([...wordCounts]).optional(),
});

type WalletContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'random' | 'organizationId' | 'now'>;

interface AddedWallet {
  readonly walletId: string;
  /** Of its accounts, in the order asked for. */
  readonly addresses: readonly string[];
}

/**
 * Generates a wallet's words and stores it.
 * @param at The name of the wallet in the request, for errors.
 */
export function makeWallet(
  context: WalletContext,
  wallet: z.output<typeof walletParams>,
  at: string,
): AddedWallet {
  const entropy = context.random('mnemonic', entropyLength(wallet.mnemonicLength ?? 12));
  const phrase = { mnemonic: sentenceFromEntropy(entropy), passphrase: new Uint8Array(0) };
  entropy.fill(0);
  try {
    return addWallet(context, { ...wallet, phrase, imported: false }, at);
  } finally {
    erasePhrase(phrase);
  }
}

interface NewWallet {
  readonly walletName: string;
  readonly accounts: readonly AccountParams[];
  readonly phrase: WalletPhrase;
  readonly imported: boolean;
}

/**
 * Stores a wallet, sealed, under an id that follows from its seed: the same seed cannot be stored twice.
 * @param at The name of the wallet in the request, for errors.
 */
export function addWallet(context: WalletContext, wallet: NewWallet, at: string): AddedWallet {
  const { tx, keys, organizationId, now } = context;
  checkLimit(tx, 'wallets', countWallets(tx, organizationId), 1, limits.walletsPerOrganization);
  checkWalletNameFree(tx, organizationId, wallet.walletName, at);
  const secret = phraseBytes(wallet.phrase);
  const seed = seedOf(wallet.phrase);
  try {
    const walletId = uuidV5(organizationId, `wallet ${toHex(masterPublicKey(seed))}`);
    if (getWalletRow(tx, organizationId, walletId)) {
      throw new KeyhearthError(
        'ALREADY_EXISTS',
        `seed for wallet ${walletId} already imported in this organization`,
      );
    }
    insertWallet(tx, {
      id: walletId,
      organizationId,
      name: wallet.walletName,
      sealed: keys.seal(walletContext({ id: walletId, organizationId }), secret),
      exported: 0,
      imported: wallet.imported ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    });
    return { walletId, addresses: addAccounts(context, walletId, seed, wallet.accounts, `${at}.accounts`) };
  } finally {
    secret.fill(0);
    seed.fill(0);
  }
}

export function checkWalletNameFree(
  tx: Reader,
  organizationId: string,
  walletName: string,
  at: string,
): void {
  const field = `${at}.walletName`;
  if (findWalletByName(tx, organizationId, walletName)) throw nameTaken(field, 'wallet name', walletName);
  checkUnmistakable(field, 'wallet name', walletName, () => listWalletRows(tx, organizationId));
}
