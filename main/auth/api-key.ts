/** API keys: the `X-Stamp` header, a signature over the body. */
import { findApiKey, findApiKeyHolder, findApiKeysBelow } from '../storage/tables/api-keys.ts';
import type { Reader } from '../storage/connection.ts';
import type { Caller } from '../lib/caller.ts';
import { isOver } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { Paced } from '../lib/concurrency/paced.ts';
import {
  callerOf,
  findCredential,
  lookedThrough,
  unauthenticated,
  type Addressed,
  type Proof,
} from './proof.ts';
import { messageOf, schemes, type Scheme } from './schemes.ts';
import { parseStamp, type Stamp } from './parse-stamp.ts';
import type { Verify } from './verifications.ts';

/** The credential of a recovery mail. It gives access to recovery alone. */
const recoveryCredential = 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';

/**
 * Checks a stamp's signature over the body: whose key it is comes later.
 * @throws KeyhearthError UNAUTHENTICATED when it does not hold.
 */
export function* apiKeyProof(
  raw: Uint8Array,
  header: string,
  { verify }: { readonly verify: Verify },
): Paced<Proof | Promise<Proof>> {
  const stamp = parseStamp(header);
  const scheme = Object.hasOwn(schemes, stamp.scheme) ? schemes[stamp.scheme] : undefined;
  if (scheme === undefined) {
    throw unauthenticated(
      `malformed activity stamp: X-Stamp: scheme: expected one of ${Object.keys(schemes).join(', ')}`,
      'SIGNATURE_INVALID',
    );
  }
  if (stamp.publicKey.length !== scheme.publicKeyLength * 2) {
    throw unauthenticated(
      `malformed activity stamp: X-Stamp: publicKey: expected ${scheme.publicKeyLength} bytes in hex for ${stamp.scheme}, got ${stamp.publicKey.length / 2}`,
      'SIGNATURE_INVALID',
    );
  }
  const message = yield* messageOf(scheme, raw);
  const holds = verify(scheme, stamp.publicKey, Buffer.from(stamp.signature, 'hex'), message);
  return typeof holds === 'boolean'
    ? proofOf(stamp, scheme, holds)
    : holds.then((held) => proofOf(stamp, scheme, held));
}

function proofOf(stamp: Stamp, scheme: Scheme, holds: boolean): Proof {
  if (!holds) {
    throw unauthenticated(
      'could not verify api key signature: the stamp does not sign these bytes; sign the body exactly as it is sent',
      'SIGNATURE_INVALID',
    );
  }
  return {
    holder: (tx) => findApiKeyHolder(tx, stamp.publicKey),
    against: (addressed, clock) => ({
      identify: (tx) => identify(tx, addressed, stamp, scheme, clock.now()),
    }),
    unknown: (organizationId) => unknownKey(stamp, organizationId),
  };
}

const unknownKey = ({ publicKey }: Stamp, organizationId?: string): KeyhearthError =>
  unauthenticated(
    `could not find public key ${lookedThrough(organizationId)} publicKey=${publicKey}`,
    'PUBLIC_KEY_NOT_FOUND',
  );

function identify(tx: Reader, addressed: Addressed, stamp: Stamp, scheme: Scheme, now: number): Caller {
  const { publicKey } = stamp;
  const unknown = () => unknownKey(stamp, addressed.organizationId);
  const key = findCredential(tx, addressed, {
    kind: 'public key',
    in: (organizationId) => findApiKey(tx, organizationId, publicKey),
    below: (organizationId) => findApiKeysBelow(tx, organizationId, publicKey),
    // The signature holds for the stamp's public key, for every user who registered that key.
    holds: (row) => row !== undefined,
    unknown,
  });
  if (!scheme.credentialTypes.includes(key.credentialType)) throw unknown();
  if (key.credentialType === recoveryCredential && !addressed.recovering) {
    throw new KeyhearthError(
      'PERMISSION_DENIED',
      'request not authorized: a recovery key reads, and registers a new authenticator with recover_user; it does nothing else',
      { turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED' },
    );
  }
  if (isOver(key, now)) {
    throw unauthenticated(`Unauthenticated desc = expired api key publicKey ${publicKey}`, 'API_KEY_EXPIRED');
  }
  return callerOf(tx, key, stamp);
}
