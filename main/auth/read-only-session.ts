/** Read-only sessions: the `X-Session` header, a token of the vault's own that lasts an hour and asks queries alone. */
import { z } from 'zod';
import { readToken } from '../crypto/signed-tokens.ts';
import type { Reader } from '../storage/connection.ts';
import { getReadOnlySession, getReadOnlySessionHolder } from '../storage/tables/read-only-sessions.ts';
import { getServerKey } from '../storage/tables/server-keys.ts';
import type { Caller } from '../lib/caller.ts';
import { isOver } from '../lib/clock.ts';
import { callerOf, findCredential, unauthenticated, type Addressed, type Proof } from './proof.ts';

const claimsSchema = z.object({ jti: z.string(), session_type: z.literal('SESSION_TYPE_READ_ONLY') });

/** The database says whether it is valid: it may have been ended before its time. */
export function readOnlySessionProof(header: string): Proof {
  return {
    holder: (tx) => {
      const claims = claimsOf(tx, header);
      return claims && getReadOnlySessionHolder(tx, claims.jti);
    },
    against: (addressed, clock) => ({ identify: (tx) => identify(tx, addressed, header, clock.now()) }),
    unknown,
  };
}

const unknown = () =>
  unauthenticated(
    'could not verify read-only session: X-Session is none that this vault gave out, or it was ended',
    'SIGNATURE_INVALID',
  );

/** @returns undefined for a text that is not a session token of this vault. */
function claimsOf(tx: Reader, token: string): z.output<typeof claimsSchema> | undefined {
  const key = getServerKey(tx, 'notarizer');
  return claimsSchema.safeParse(key && readToken(key.publicKey, token, 'digest')).data;
}

function identify(tx: Reader, addressed: Addressed, token: string, now: number): Caller {
  const data = claimsOf(tx, token);
  const session = findCredential(tx, addressed, {
    kind: 'session',
    in: (organizationId) => data && getReadOnlySession(tx, organizationId, data.jti),
    below: () => [],
    // The token names it, and is the vault's own.
    holds: () => true,
    unknown,
  });
  if (isOver(session, now)) {
    throw unauthenticated('could not verify read-only session: it has expired', 'SIGNATURE_INVALID');
  }
  return callerOf(tx, session, { publicKey: '', scheme: 'X-Session', signature: '' });
}
