/**
 * Signed heads of the activity log. A head says that at a time the log of one vault ended with one row. A copy
 * of it shows later if the log that leads up to that row is still the same.
 *
 * The signature (ECDSA P-256 with SHA-256, DER) is over the UTF-8 of a JSON array, as JSON.stringify writes it:
 * `["latchkey log head", 1, vaultId, organizationId, sequence, hash, signedAt]`.
 */
import { z } from 'zod';
import { asUint8Array } from '../crypto/bytes.ts';
import { encodeUtf8, toHex } from '../crypto/encodings.ts';
import {
  compressP256,
  isP256PublicKey,
  p256PublicKey,
  signP256,
  uncompressP256,
  verifyP256,
} from '../crypto/keys/p256.ts';
import type { SealContext } from '../crypto/sealing.ts';
import type { LogPoint } from '../storage/tables/activities.ts';
import type { Reader } from '../storage/connection.ts';
import type { LogHeadRow } from '../storage/tables/log-heads.ts';
import { getServerKey, serverKeyContext } from '../storage/tables/server-keys.ts';
import type { VaultRow } from '../storage/tables/vault.ts';

/** Identifies the log of a head. */
export interface LogIdentity {
  readonly vaultId: string;
  readonly organizationId: string;
}

export const identityOf = ({ id, organizationId }: VaultRow): LogIdentity => ({
  vaultId: id,
  organizationId,
});

export const hashHex = z.string().regex(/^[0-9a-f]{64}$/);
/** An uncompressed P-256 point. */
export const publicKeyHex = z.string().regex(/^04[0-9a-f]{128}$/);

/** A head as it leaves the vault: in exports, in the keychain, on paper. */
export const signedHead = z.strictObject({
  sequence: z.int().nonnegative(),
  hash: hashHex,
  signedAt: z.int().nonnegative(),
  publicKey: publicKeyHex,
  signature: z.string().regex(/^([0-9a-f]{2}){8,80}$/),
});

export type SignedHead = z.output<typeof signedHead>;

const message = (
  { vaultId, organizationId }: LogIdentity,
  head: Pick<SignedHead, 'sequence' | 'hash' | 'signedAt'>,
): Uint8Array =>
  encodeUtf8(
    'log head',
    JSON.stringify([
      'latchkey log head',
      1,
      vaultId,
      organizationId,
      head.sequence,
      head.hash,
      head.signedAt,
    ]),
  );

/**
 * @param privateKey The log signer's, 32 bytes.
 * @param now Milliseconds since the epoch.
 */
export function signHead(
  identity: LogIdentity,
  privateKey: Uint8Array,
  end: LogPoint,
  now: number,
): SignedHead {
  const head = { sequence: end.sequence, hash: toHex(end.hash), signedAt: now };
  return {
    ...head,
    publicKey: toHex(uncompressP256(p256PublicKey(privateKey))),
    signature: signP256(privateKey, message(identity, head)),
  };
}

/** @param publicKey Hex, uncompressed. @returns what tells whether a head's signature is this key's. */
export function headVerifier(identity: LogIdentity, publicKey: string): (head: SignedHead) => boolean {
  if (!publicKeyHex.safeParse(publicKey).success || !isP256PublicKey(publicKey)) return () => false;
  const compressed = toHex(compressP256(asUint8Array(Buffer.from(publicKey, 'hex'))));
  return (head) =>
    head.publicKey === publicKey &&
    verifyP256(compressed, asUint8Array(Buffer.from(head.signature, 'hex')), message(identity, head));
}

/** In the order in which exports have the fields. */
export const headOfRow = (row: LogHeadRow): SignedHead => ({
  sequence: row.sequence,
  hash: toHex(row.hash),
  signedAt: row.signedAt,
  publicKey: row.publicKey,
  signature: row.signature,
});

export const rowOfHead = ({ hash, ...head }: SignedHead): LogHeadRow => ({
  ...head,
  hash: asUint8Array(Buffer.from(hash, 'hex')),
});

/** The key that signs heads, as the file has it: its public half, and the private one sealed for its context. */
export function logSigningKey(
  tx: Reader,
  vault: VaultRow,
): { readonly publicKey: string; readonly sealed: Uint8Array; readonly context: SealContext } {
  const key = getServerKey(tx, 'notarizer');
  if (key === undefined) throw new Error('the vault has no notarizer key');
  return { ...key, context: serverKeyContext('notarizer', vault.organizationId) };
}
