/** From a request's raw bytes and headers to what they prove. */
import type { IncomingHttpHeaders } from 'node:http';
import { isPaced, type Paced } from '../lib/concurrency/paced.ts';
import { apiKeyProof } from './api-key.ts';
import { unauthenticated, type Proof } from './proof.ts';
import { readOnlySessionProof } from './read-only-session.ts';
import type { Verify } from './verifications.ts';
import { passkeyProof } from './webauthn.ts';

/** The credential of queries without a stamp. */
const sessionHeader = 'x-session';

/** A header that says who sends a request. */
interface Kind {
  readonly header: string;
  /** @throws KeyhearthError UNAUTHENTICATED when the header does not hold. */
  readonly prove: (raw: Uint8Array, header: string, ways: Ways) => Proof | Paced<Proof | Promise<Proof>>;
}

interface Ways {
  /** The relying party of passkeys. */
  readonly rpId: string;
  readonly verify: Verify;
}

const kinds: readonly Kind[] = [
  { header: 'X-Stamp', prove: apiKeyProof },
  { header: 'X-Stamp-Webauthn', prove: (raw, header, { rpId }) => passkeyProof(raw, header, rpId) },
  { header: 'X-Stamp-Attested', prove: refuseAttested },
];

/** Of these headers a request has one at most. */
export const stampHeaders: readonly string[] = kinds.map(({ header }) => header);

/** The real API's third stamp, by a key that a verification token or an ID token names. */
function refuseAttested(): never {
  throw unauthenticated(
    'Keyhearth has no attested stamps (X-Stamp-Attested header): sign in with otp_login or oauth_login, then stamp with X-Stamp',
    'SIGNATURE_INVALID',
  );
}

/**
 * Reads the proof of a request and checks all that needs no database. A large body is hashed in steps.
 * @param kind Only queries accept a read-only session.
 * @throws KeyhearthError UNAUTHENTICATED when there is no proof, more than one, or an invalid one.
 */
export function* authenticate(
  raw: Uint8Array,
  headers: IncomingHttpHeaders,
  kind: 'activity' | 'query',
  ways: Ways,
): Paced<Proof | Promise<Proof>> {
  const [given, ...others] = kinds.flatMap(({ header: name, prove }) => {
    const header = headers[name.toLowerCase()];
    return typeof header === 'string' ? [{ name, prove, header }] : [];
  });
  if (given === undefined) {
    const session = headers[sessionHeader];
    if (kind === 'query' && typeof session === 'string') return readOnlySessionProof(session);
    throw unauthenticated(
      'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)',
      'SIGNATURE_MISSING',
    );
  }
  if (others.length > 0) {
    const names = [given, ...others].map(({ name }) => name).join(' and ');
    throw unauthenticated(
      `malformed activity stamp: expected one of X-Stamp and X-Stamp-Webauthn, got ${names}`,
      'SIGNATURE_INVALID',
    );
  }
  const proof = given.prove(raw, given.header, ways);
  return isPaced(proof) ? yield* proof : proof;
}
