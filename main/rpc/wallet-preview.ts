/** The addresses of a wallet before its import. Nothing is stored, and no row is written. */
import { z } from 'zod';
import type { WalletPreview } from '../../preload/contract.ts';
import { parse } from '../lib/parse.ts';
import type { SetupParts } from '../app/create-vault.ts';
import { encryptedBundleText, importKeys, openImport, wipeImport } from '../operations/shared/bundles.ts';
import { accountParams, deriveAccount } from '../operations/wallets/account-derivation.ts';
import { requireVault } from '../storage/tables/vault.ts';
import { erasePhrase, readPhrase, seedOf } from '../storage/wallet-secrets.ts';

/** More than there are chains. Deriving them takes about 100 ms. */
const mostAccounts = 50;

const params = z.strictObject({
  encryptedBundle: encryptedBundleText,
  accounts: z.array(accountParams).max(mostAccounts),
});

/**
 * Opens what the window encrypted to an import key of the owner's. The key stays good for the import.
 * @throws KeyhearthError VAULT_LOCKED, or INVALID_ARGUMENT naming what is wrong, never a word of the phrase.
 */
export async function previewWallet(
  { units, keyring, clock }: Pick<SetupParts, 'units' | 'keyring' | 'clock'>,
  input: unknown,
): Promise<WalletPreview> {
  keyring.checkUnlocked();
  const { encryptedBundle, accounts } = parse(params, input, 'parameters');
  const targets = units.read((tx) =>
    importKeys({ tx, keys: keyring, now: clock.now() }, requireVault(tx).ownerUserId, 'wallet'),
  );
  const opened = await openImport(targets, 'wallet', encryptedBundle);
  try {
    // The vault may have been locked meanwhile.
    keyring.checkUnlocked();
    const phrase = readPhrase(opened.secret, 'parameters.encryptedBundle');
    const seed = seedOf(phrase);
    try {
      return {
        addresses: accounts.map(
          (account, index) => deriveAccount(seed, account, `parameters.accounts[${String(index)}]`).address,
        ),
      };
    } finally {
      seed.fill(0);
      erasePhrase(phrase);
    }
  } finally {
    wipeImport(opened);
  }
}
