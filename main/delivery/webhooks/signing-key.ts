/** The key that signs webhooks, and how receivers learn of it. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { Reader, Writer } from '../../storage/connection.ts';
import { getServerKey, insertServerKey, serverKeyContext } from '../../storage/tables/server-keys.ts';
import { getVault } from '../../storage/tables/vault.ts';
import { signatureAlgorithm, signatureVersion } from './sign-event.ts';

/** The unlocked vault, as far as webhooks need it. */
export interface WebhookKeys {
  readonly unlocked: boolean;
  seal(context: KeyContext, secret: Uint8Array): Uint8Array;
  open(context: KeyContext, sealed: Uint8Array): Uint8Array;
  cached(name: string, make: () => Uint8Array): Uint8Array;
  onChange(listener: (unlocked: boolean) => void): () => void;
}

interface KeyContext {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

/** Makes the key in a vault that has none. */
export function makeWebhookKey(tx: Writer, keys: WebhookKeys, now: number): void {
  const vault = getVault(tx);
  if (vault === undefined || !keys.unlocked || getServerKey(tx, 'webhooks') !== undefined) return;
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const seed = Buffer.from(d, 'base64url');
  try {
    insertServerKey(tx, {
      name: 'webhooks',
      publicKey: Buffer.from(x, 'base64url').toString('hex'),
      sealed: keys.seal(serverKeyContext('webhooks', vault.organizationId), seed),
      createdAt: now,
    });
  } finally {
    seed.fill(0);
  }
}

/** A JSON Web Key (RFC 8037) with what the real API adds to it. */
export interface WebhookJwk {
  readonly kid: string;
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly x: string;
  readonly turnkey_signature_algorithm: string;
  readonly turnkey_signature_version: string;
}

/** @returns none for a vault that was not unlocked since it can send webhooks. */
export function webhookJwks(tx: Reader): readonly WebhookJwk[] {
  const key = getServerKey(tx, 'webhooks');
  if (key === undefined) return [];
  const x = Buffer.from(key.publicKey, 'hex').toString('base64url');
  return [
    {
      kid: keyIdOf(x),
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      x,
      turnkey_signature_algorithm: signatureAlgorithm,
      turnkey_signature_version: signatureVersion,
    },
  ];
}

/** The key's thumbprint (RFC 7638, RFC 8037). */
const keyIdOf = (x: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');

/** @returns the key's name, and what it signs with, which the keyring erases. @throws KeyhearthError VAULT_LOCKED */
export function openWebhookKey(
  tx: Reader,
  keys: WebhookKeys,
): { readonly keyId: string; readonly seed: Uint8Array } {
  const vault = getVault(tx);
  const key = getServerKey(tx, 'webhooks');
  if (vault === undefined || key === undefined) throw new Error('the vault has no key to sign webhooks with');
  const context = serverKeyContext('webhooks', vault.organizationId);
  return {
    keyId: keyIdOf(Buffer.from(key.publicKey, 'hex').toString('base64url')),
    seed: keys.cached('server key webhooks', () => keys.open(context, key.sealed)),
  };
}
