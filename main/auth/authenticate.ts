/** From a request's raw bytes and headers to who made it. */
import type { IncomingHttpHeaders } from 'node:http';
import { findApiKey } from '../db/api-keys.ts';
import type { Reader } from '../db/connection.ts';
import { getOrganization } from '../db/organizations.ts';
import { getUserRow } from '../db/users.ts';
import { requireVault } from '../db/vault.ts';
import type { Caller } from '../lib/caller.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { isUuid } from '../crypto/uuid.ts';
import { schemes } from './schemes.ts';
import { parseStamp, type Stamp } from './stamp.ts';

/**
 * Checks the stamp's signature over the body.
 * @throws LatchkeyError UNAUTHENTICATED when there is no stamp or it does not hold.
 */
export function verifyStamp(raw: Uint8Array, headers: IncomingHttpHeaders): Stamp {
  const header = headers['x-stamp'];
  if (typeof header !== 'string') {
    throw new LatchkeyError(
      'UNAUTHENTICATED',
      'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)',
      { turnkeyErrorCode: 'SIGNATURE_MISSING' },
    );
  }
  const stamp = parseStamp(header);
  const scheme = Object.hasOwn(schemes, stamp.scheme) ? schemes[stamp.scheme] : undefined;
  if (scheme === undefined) {
    throw new LatchkeyError(
      'UNAUTHENTICATED',
      `malformed activity stamp: X-Stamp: scheme: expected one of ${Object.keys(schemes).join(', ')}`,
      { turnkeyErrorCode: 'SIGNATURE_INVALID' },
    );
  }
  if (stamp.publicKey.length !== scheme.publicKeyLength * 2) {
    throw new LatchkeyError(
      'UNAUTHENTICATED',
      `malformed activity stamp: X-Stamp: publicKey: expected ${String(scheme.publicKeyLength)} bytes in hex for ${stamp.scheme}, got ${String(stamp.publicKey.length / 2)}`,
      { turnkeyErrorCode: 'SIGNATURE_INVALID' },
    );
  }
  if (!scheme.verify(stamp.publicKey, Buffer.from(stamp.signature, 'hex'), raw)) {
    throw new LatchkeyError(
      'UNAUTHENTICATED',
      'could not verify api key signature: the stamp does not sign these bytes; sign the body exactly as it is sent',
      { turnkeyErrorCode: 'SIGNATURE_INVALID' },
    );
  }
  return stamp;
}

/**
 * Finds whose verified key it is, in the organization that the request names.
 * @throws LatchkeyError INVALID_ARGUMENT or NOT_FOUND for a bad organization, VAULT_MISSING where there can be none,
 * UNAUTHENTICATED for a key that is not there or expired.
 */
export function identify(tx: Reader, organizationId: string, stamp: Stamp, now: number): Caller {
  if (!isUuid(organizationId)) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      'malformed organization ID provided: expected a UUID in organizationId',
      {
        turnkeyErrorCode: 'INVALID_ORGANIZATION_ID',
      },
    );
  }
  const { publicKey } = stamp;
  const key = findApiKey(tx, organizationId, publicKey);
  if (key === undefined) requireOrganization(tx, organizationId);
  const scheme = schemes[stamp.scheme];
  if (key === undefined || !scheme?.credentialTypes.includes(key.credentialType)) {
    throw new LatchkeyError(
      'UNAUTHENTICATED',
      `could not find public key in organization or its parent organization organizationId=${organizationId} publicKey=${publicKey}`,
      { turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' },
    );
  }
  if (key.expiresAt !== null && key.expiresAt <= now) {
    throw new LatchkeyError(
      'UNAUTHENTICATED',
      `Unauthenticated desc = expired api key publicKey ${publicKey}`,
      {
        turnkeyErrorCode: 'API_KEY_EXPIRED',
      },
    );
  }
  const user = getUserRow(tx, organizationId, key.userId);
  if (user === undefined) throw new Error(`api key ${key.id} has no user`);
  return { organizationId, userId: user.id, root: user.root === 1, stamp };
}

/** @throws LatchkeyError NOT_FOUND, or VAULT_MISSING where there is not even a vault. */
function requireOrganization(tx: Reader, organizationId: string): void {
  if (getOrganization(tx, organizationId)) return;
  requireVault(tx);
  throw new LatchkeyError('NOT_FOUND', `no organization found with the given ID: ${organizationId}`, {
    turnkeyErrorCode: 'ORGANIZATION_NOT_FOUND',
  });
}
