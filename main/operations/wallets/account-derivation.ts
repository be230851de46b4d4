/** Parameters of a wallet account, and deriving it from the wallet's seed. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { encodeAddress } from '../../chains/addresses/addresses.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { derivePrivateKey, formatPath, parsePath } from '../../crypto/keys/derivation.ts';
import { toHex } from '../../crypto/encodings.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import { findAccountId, insertAccount } from '../../storage/tables/wallet-accounts.ts';
import { getWalletRow, type WalletRow } from '../../storage/tables/wallets.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { limits } from '../shared/limits.ts';
import { addressFormat, curve, orNotFound, name } from '../shared/parameters.ts';

/** Kept in one form, so that equal paths are equal texts. */
export const path = z
  .string()
  .max(200)
  .transform((text, context) => {
    try {
      return formatPath(parsePath(text));
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message:
          error instanceof Error
            ? error.message.replace(/^invalid path: |, got .*$/g, '')
            : 'Expected a path',
      });
      return z.NEVER;
    }
  });

export const accountParams = z.object({
  curve,
  pathFormat: z.literal('PATH_FORMAT_BIP32'),
  path,
  addressFormat,
  name: name.optional(),
});

export type AccountParams = z.output<typeof accountParams>;

export const accounts = z.array(accountParams).max(limits.batch);

interface PublicAccount {
  /** Hex. */
  readonly publicKey: string;
  readonly address: string;
}

/** @param at The account's name in the request, for errors. */
export function deriveAccount(seed: Uint8Array, account: AccountParams, at: string): PublicAccount {
  const secret = derivePrivateKey(account.curve, seed, account.path, `${at}.path`);
  const publicKey = curves[account.curve].publicKey(secret);
  secret.fill(0);
  return {
    publicKey: toHex(publicKey),
    address: encodeAddress(account.addressFormat, account.curve, publicKey, `${at}.addressFormat`),
  };
}

/**
 * @param field The name of the accounts in the request, for errors.
 * @returns the new accounts' addresses, in the order asked for.
 */
export function addAccounts(
  {
    tx,
    random,
    organizationId,
    now,
  }: Pick<ActivityContext<unknown>, 'tx' | 'random' | 'organizationId' | 'now'>,
  walletId: string,
  seed: Uint8Array,
  wanted: readonly AccountParams[],
  field: string,
): string[] {
  return wanted.map((account, index) => {
    const at = `${field}[${String(index)}]`;
    const present = findAccountId(tx, walletId, account);
    if (present !== undefined) {
      // Clients look for the beginning, and read the id behind it.
      throw new KeyhearthError(
        'ALREADY_EXISTS',
        `path already exists in wallet account ${present}: invalid ${at}: the wallet has ${account.path} as ${account.addressFormat}`,
      );
    }
    const { publicKey, address } = deriveAccount(seed, account, at);
    insertAccount(tx, {
      id: uuidV4(random('wallet account', 16)),
      organizationId,
      walletId,
      name: account.name ?? null,
      curve: account.curve,
      path: account.path,
      addressFormat: account.addressFormat,
      address,
      publicKey,
      exported: 0,
      createdAt: now,
      updatedAt: now,
    });
    return address;
  });
}

/** @throws KeyhearthError NOT_FOUND */
export function findWallet(tx: Reader, organizationId: string, walletId: string): WalletRow {
  return orNotFound(getWalletRow(tx, organizationId, walletId), `unable to find wallet ${walletId}`);
}
