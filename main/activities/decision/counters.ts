/**
 * Totals reserved in an organization, as policies count them. A key's counter is stored under its public key.
 * Earlier versions stored a counter for each name that requests used for the key, so those rows are added.
 */
import type { Reader } from '../../storage/connection.ts';
import { listCounters, reservedOf } from '../../storage/tables/policy-reservations.ts';
import { getPrivateKeyRow, listIdsOfPublicKey } from '../../storage/tables/private-keys.ts';
import { findAccountByAddress, listAddressesOfPublicKey } from '../../storage/tables/wallet-accounts.ts';
import type { Counter, Counters } from '../../policy/language/evaluation.ts';
import { keyName } from '../../policy/language/functions.ts';

/** @returns the totals as of one decision: nothing is reserved before it ends. */
export function countersOf(tx: Reader, organizationId: string): Counters {
  const known = new Map<string, readonly ((since: number) => bigint)[]>();
  const find = ({ measure, by }: Counter): readonly ((since: number) => bigint)[] => {
    const named = namings(tx, organizationId, by);
    const counters = named.length === 1 ? named : listCounters(tx, { organizationId, measure }, named);
    return counters.map((each) => reservedOf(tx, { organizationId, measure, by: each }));
  };
  return {
    total({ measure, by }, since) {
      const key = JSON.stringify([measure, by]);
      const counters = known.get(key) ?? find({ measure, by });
      known.set(key, counters);
      return counters.reduce((sum, reservedSince) => sum + reservedSince(since), 0n);
    },
  };
}

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
