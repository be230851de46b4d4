/**
 * The vault's facts around a transaction: its own keys by address, and the interfaces that an organization
 * keeps.
 */
import type { Context, Key } from '../../chains/chain.ts';
import type { Reader } from '../../storage/connection.ts';
import { findKnownAddress } from '../../storage/tables/known-addresses.ts';
import { findPrivateKeyByAddress } from '../../storage/tables/private-keys.ts';
import { findAccountByAddress } from '../../storage/tables/wallet-accounts.ts';
import { getWalletRow } from '../../storage/tables/wallets.ts';
import { interfacesOf } from './contract-interfaces.ts';

/** @param key The key that signs. */
export function signingContext<SigningKey extends Key | undefined>(
  tx: Reader,
  organizationId: string,
  key: SigningKey,
): Context & { readonly key: SigningKey } {
  return {
    key,
    interfaces: interfacesOf(tx, organizationId),
    ours(address) {
      const account = findAccountByAddress(tx, organizationId, address);
      const holder =
        account === undefined
          ? findPrivateKeyByAddress(tx, organizationId, address)?.key
          : getWalletRow(tx, organizationId, account.walletId);
      return holder && { id: holder.id, name: holder.name, isImported: holder.imported === 1 };
    },
    known: (address) => findKnownAddress(tx, organizationId, address)?.name,
  };
}
