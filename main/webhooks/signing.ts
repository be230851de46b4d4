/** The key that signs webhooks, how receivers learn of it, and the headers that it signs. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { ed25519Signer } from '../crypto/ed25519.ts';
import { toHex } from '../crypto/encodings.ts';
import type { Reader, Writer } from '../db/connection.ts';
import { getServerKey, insertServerKey, serverKeyPlace } from '../db/server-keys.ts';
import { getVault } from '../db/vault.ts';

/** The unlocked vault, as far as webhooks need it. */
export interface WebhookKeys {
  readonly unlocked: boolean;
  seal(place: KeyPlace, secret: Uint8Array): Uint8Array;
  open(place: KeyPlace, sealed: Uint8Array): Uint8Array;
  cached(name: string, make: () => Uint8Array): Uint8Array;
  onChange(listener: (unlocked: boolean) => void): () => void;
}

interface KeyPlace {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

const algorithm = 'ed25519';
const version = 'v1';

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
      sealed: keys.seal(serverKeyPlace('webhooks', vault.organizationId), seed),
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
      turnkey_signature_algorithm: algorithm,
      turnkey_signature_version: version,
    },
  ];
}

/** The key's thumbprint (RFC 7638, RFC 8037). */
const keyIdOf = (x: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');

/** What an event says of itself in its headers. */
export interface EventHead {
  readonly eventId: string;
  readonly organizationId: string;
  readonly timestampMs: number;
}

type SignHeaders = (head: EventHead, body: Uint8Array) => Record<string, string>;

/**
 * @returns what signs several events; use it within one turn of the event loop.
 * @throws LatchkeyError VAULT_LOCKED
 */
export function webhookSigner(tx: Reader, keys: WebhookKeys): SignHeaders {
  const vault = getVault(tx);
  const key = getServerKey(tx, 'webhooks');
  if (vault === undefined || key === undefined) throw new Error('the vault has no key to sign webhooks with');
  const place = serverKeyPlace('webhooks', vault.organizationId);
  const sign = ed25519Signer(keys.cached('server key webhooks', () => keys.open(place, key.sealed)));
  const keyId = keyIdOf(Buffer.from(key.publicKey, 'hex').toString('base64url'));
  return ({ eventId, organizationId, timestampMs }, body) => {
    const time = String(timestampMs);
    const prefix = Buffer.from(`${[version, algorithm, keyId, time, eventId].join('.')}.`);
    return {
      'Content-Type': 'application/json',
      'User-Agent': 'Latchkey',
      'X-Turnkey-Organization-Id': organizationId,
      'X-Turnkey-Event-Type': 'ACTIVITY_UPDATES',
      'X-Turnkey-Timestamp': time,
      'X-Turnkey-Webhook-Version': '1',
      'X-Turnkey-Event-Id': eventId,
      'X-Turnkey-Signature-Key-Id': keyId,
      'X-Turnkey-Signature-Algorithm': algorithm,
      'X-Turnkey-Signature-Version': version,
      'X-Turnkey-Signature': toHex(sign(Buffer.concat([prefix, body]))),
    };
  };
}
