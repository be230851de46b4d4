/** From a request's raw bytes and headers to what they prove. */
import type { IncomingHttpHeaders } from 'node:http';
import { isPaced, type Paced } from '../lib/concurrency/paced.ts';
import { apiKeyProof } from './api-key.ts';
import { unauthenticated, type Proof } from './proof.ts';
import { readOnlySessionProof } from './read-only-session.ts';
import { passkeyProof } from './webauthn.ts';

/** The credential of queries without a stamp. */
const sessionHeader = 'x-session';

/** The headers that can prove who sends a request, as Node writes their names. */
const kinds: Readonly<
  Record<string, (raw: Uint8Array, header: string, rpId: string) => Proof | Paced<Proof>>
> = {
  'x-stamp': apiKeyProof,
  'x-stamp-webauthn': passkeyProof,
};

/**
 * Reads the proof that a request carries and checks of it what the database need not be asked for; of a large body in steps.
 * @param rpId The relying party that passkeys are made for.
 * @param kind Only queries are asked with a read-only session.
 * @throws KeyhearthError UNAUTHENTICATED when there is none, more than one, or it does not hold.
 */
export function* authenticate(
  raw: Uint8Array,
  headers: IncomingHttpHeaders,
  rpId: string,
  kind: 'activity' | 'query',
): Paced<Proof> {
  const [given, another] = Object.entries(kinds).flatMap(([name, prove]) => {
    const header = headers[name];
    return typeof header === 'string' ? [{ prove, header }] : [];
  });
  if (given === undefined) {
    const session = headers[sessionHeader];
    if (kind === 'query' && typeof session === 'string') return readOnlySessionProof(session);
    throw unauthenticated(
      'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)',
      'SIGNATURE_MISSING',
    );
  }
  if (another !== undefined) {
    throw unauthenticated(
      'malformed activity stamp: expected one of X-Stamp and X-Stamp-Webauthn, got both',
      'SIGNATURE_INVALID',
    );
  }
  const proof = given.prove(raw, given.header, rpId);
  return isPaced(proof) ? yield* proof : proof;
}
