/**
 * Totals reserved in an organization, as policies count them. A key's counter is stored under its public key.
 * Earlier versions stored a counter for each name that requests used for the key, so those rows are added.
 */
import type { Reader } from '../../storage/connection.ts';
import { listCounters, reservedSince } from '../../storage/tables/policy-reservations.ts';
import { getPrivateKeyRow, listIdsOfPublicKey } from '../../storage/tables/private-keys.ts';
import { findAccountByAddress, listAddressesOfPublicKey } from '../../storage/tables/wallet-accounts.ts';
import type { Counters } from '../../policy/language/evaluation.ts';
import { keyName } from '../../policy/language/functions.ts';

export const countersOf = (tx: Reader, organizationId: string): Counters => ({
  total({ measure, by }, since) {
    const named = namings(tx, organizationId, by);
    const counters = named.length === 1 ? named : listCounters(tx, { organizationId, measure }, named);
    return counters.reduce(
      (sum, each) => sum + reservedSince(tx, { organizationId, measure, by: each }, since),
      0n,
    );
  },
});

type Pair = readonly [name: string, value: string];

/** All that a counter is, or was, kept by: once for each name of the key that it speaks of. */
function namings(tx: Reader, organizationId: string, by: string): readonly string[] {
  const pairs = JSON.parse(by) as readonly Pair[];
  const publicKey = pairs.map((pair) => publicKeyOf(tx, organizationId, pair)).find(isThere);
  if (publicKey === undefined) return [by];
  const names: readonly Pair[] = [
    [keyName, publicKey],
    ...listAddressesOfPublicKey(tx, organizationId, publicKey).flatMap((address): readonly Pair[] => [
      [accountName, address],
      [`CaseInsensitiveString(${accountName})`, address.toLowerCase()],
    ]),
    ...listIdsOfPublicKey(tx, organizationId, publicKey).map((id): Pair => [privateKeyName, id]),
  ];
  return [
    ...new Set(
      names.map((name) =>
        JSON.stringify(pairs.map((pair) => (isThere(publicKeyOf(tx, organizationId, pair)) ? name : pair))),
      ),
    ),
  ];
}

const accountName = 'wallet_account.address';
const privateKeyName = 'private_key.id';

/** The key that a counter is kept by, under whichever name. */
function publicKeyOf(tx: Reader, organizationId: string, [name, value]: Pair): string | undefined {
  switch (name) {
    case keyName:
      return value;
    case accountName:
      return findAccountByAddress(tx, organizationId, value)?.publicKey;
    case privateKeyName:
      return getPrivateKeyRow(tx, organizationId, value)?.publicKey;
    default:
      return undefined;
  }
}

const isThere = (value: string | undefined): value is string => value !== undefined;
