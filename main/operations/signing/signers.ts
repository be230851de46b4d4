/** Signers: the keys that requests name. */
import type { ActivityContext } from '../../activities/define.ts';
import type { Key } from '../../chains/chain.ts';
import { signerOf, type AddressFormat } from '../../chains/addresses/addresses.ts';
import { curves, type Curve, type CurveEntry } from '../../crypto/keys/curves.ts';
import { derivePrivateKey } from '../../crypto/keys/derivation.ts';
import { decodeHex } from '../../crypto/encodings.ts';
import { readPublicKey } from '../../crypto/keys/public-keys.ts';
import {
  findPrivateKeyByAddress,
  getPrivateKeyRow,
  privateKeyContext,
  type PrivateKeyRow,
} from '../../storage/tables/private-keys.ts';
import {
  findAccountByAddress,
  findAccountByPublicKey,
  type WalletAccountRow,
} from '../../storage/tables/wallet-accounts.ts';
import type { Reader } from '../../storage/connection.ts';
import { getWalletRow } from '../../storage/tables/wallets.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { privateKeyIdOf } from '../private-keys/private-key-ids.ts';
import { withSeed } from '../../storage/wallet-secrets.ts';

/** The key that `signWith` names, and the format of the address if it is one. */
export type NamedKey =
  | { readonly kind: 'private key'; readonly row: PrivateKeyRow; readonly format?: AddressFormat }
  | { readonly kind: 'wallet account'; readonly row: WalletAccountRow; readonly format?: AddressFormat };

export interface Signer extends Key {
  readonly sign: CurveEntry['sign'];
  /** The private key, lent until the vault locks. */
  readonly secret: () => Uint8Array;
}

type SigningContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'noteKeyUse'>;

/**
 * Finds the key that `signWith` names: a private key by its id, or a private key or wallet account by its public
 * key, or by its address exactly as written. An address also decides how its chain signs; an id or a public key
 * means the curve's own way.
 */
export function findSigner(context: SigningContext, signWith: string): Signer {
  const named = findNamedKey(context.tx, context.organizationId, signWith);
  context.noteKeyUse(named.kind === 'private key' ? named.row.id : named.row.walletId);
  const key = keyOf(named);
  const { curve, format } = key;
  return {
    ...key,
    sign: format === undefined ? curves[curve].sign : signerOf(format, curve),
    secret:
      named.kind === 'private key' ? privateKeySecret(context, named.row) : accountSecret(context, named.row),
  };
}

export const keyOf = ({ row, format }: NamedKey): Key => ({
  curve: row.curve as Curve,
  publicKey: decodeHex('publicKey', row.publicKey),
  format,
});

/** @returns undefined where it names nothing in the organization. */
export function lookUpNamedKey(tx: Reader, organizationId: string, signWith: string): NamedKey | undefined {
  const byId = getPrivateKeyRow(tx, organizationId, signWith.toLowerCase());
  if (byId) return { kind: 'private key', row: byId };
  const addressed = findPrivateKeyByAddress(tx, organizationId, signWith);
  if (addressed) {
    return { kind: 'private key', row: addressed.key, format: addressed.format as AddressFormat };
  }
  const account = findAccountByAddress(tx, organizationId, signWith);
  if (account) {
    return { kind: 'wallet account', row: account, format: account.addressFormat as AddressFormat };
  }
  for (const [curve, publicKey] of readPublicKey(signWith)) {
    const key = getPrivateKeyRow(tx, organizationId, privateKeyIdOf(organizationId, curve, publicKey));
    if (key) return { kind: 'private key', row: key };
    const derived = findAccountByPublicKey(tx, organizationId, curve, publicKey);
    if (derived) return { kind: 'wallet account', row: derived };
  }
  return undefined;
}

/** @throws KeyhearthError NOT_FOUND where it names nothing in the organization. */
export function findNamedKey(tx: Reader, organizationId: string, signWith: string): NamedKey {
  const named = lookUpNamedKey(tx, organizationId, signWith);
  if (named !== undefined) return named;
  throw new KeyhearthError('NOT_FOUND', 'Could not find any resource to sign with.', {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.Help',
        description:
          'signWith is the id, an address or the public key of a private key, or the address or the public key of a wallet account, ' +
          'in this organization. Addresses are compared to the letter, upper and lower case included. A wallet id is not accepted.',
      },
    ],
  });
}

function privateKeySecret({ keys }: SigningContext, row: PrivateKeyRow): () => Uint8Array {
  return () => keys.cached(`private key ${row.id}`, () => keys.open(privateKeyContext(row), row.sealed));
}

function accountSecret(
  { tx, keys, organizationId }: SigningContext,
  account: WalletAccountRow,
): () => Uint8Array {
  return () =>
    keys.cached(`wallet account ${account.id}`, () => {
      const wallet = getWalletRow(tx, organizationId, account.walletId);
      if (wallet === undefined) throw new Error(`wallet account ${account.id} has no wallet`);
      return withSeed(keys, wallet, (seed) => derivePrivateKey(account.curve as Curve, seed, account.path));
    });
}
