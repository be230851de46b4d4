/** ID tokens (OpenID Connect Core 1.0, section 3.1.3.7): JWTs in which an issuer states a user's identity. */
import { decodeJwt, errors, jwtVerify, type JWSAlgorithm, type JWTPayload } from 'jose';
import { ExplainedError, KeyhearthError, quoted } from '../lib/errors.ts';
import { invalidIdToken, type IdTokenClaims, type VerifyIdToken } from '../lib/web/id-tokens.ts';
import { isThisMachine } from '../lib/network.ts';
import { IssuerKeys, KeysUnavailable, type IssuerKeysOptions } from './issuer-keys.ts';

export interface IdTokenOptions extends IssuerKeysOptions {
  /** The only issuers that are contacted, exactly as their `iss` spells them. */
  readonly issuers: readonly string[];
  /** Allows an issuer on this machine, without TLS. */
  readonly allowLoopback: boolean;
}

/** Signatures that only the holder of a private key can make: not `none`, and none by a shared secret. */
const algorithms: JWSAlgorithm[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Tolerated difference between an issuer's clock and this one, in seconds. */
const skew = 30;

const largestClaim = 255;

/** @throws KeyhearthError INVALID_ARGUMENT for an issuer that could never be believed: the service does not start with one. */
export function idTokenVerifier(options: IdTokenOptions): VerifyIdToken {
  for (const issuer of options.issuers) checkSafe(issuer, options.allowLoopback);
  const keys = new IssuerKeys(options);
  return async (field, token) => {
    try {
      const compact = unwrap(token);
      const issuer = allowedIssuer(decodeJwt(compact).iss, options.issuers);
      const { payload, protectedHeader } = await jwtVerify(compact, keys.of(issuer), {
        algorithms,
        issuer,
        requiredClaims: ['aud', 'sub', 'exp', 'iat'],
        clockTolerance: skew,
        currentDate: new Date(options.clock.wall()),
      });
      checkType(protectedHeader.typ);
      return claimsOf(payload, options.clock.wall() / 1000);
    } catch (error) {
      if (error instanceof KeysUnavailable) {
        throw invalidIdToken(field, `the keys of its issuer cannot be had: ${error.message}`, 'UNAVAILABLE');
      }
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      // jose's own errors carry the token's claims: none is passed on as a cause.
      throw invalidIdToken(field, problem);
    }
  };
}

/** Refuses an issuer without TLS, which anyone on the network path could impersonate. */
function checkSafe(issuer: string, allowLoopback: boolean): void {
  const url = new URL(issuer);
  if (url.protocol === 'https:' || (allowLoopback && isThisMachine(url.hostname))) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid --oidc-issuer ${JSON.stringify(issuer)}: expected an address that starts with https`,
  );
}

/** A fault of a token. */
class Problem extends ExplainedError {
  override readonly name = 'Problem';
}

/** A JWT has dots, and base64 has none. */
function unwrap(token: string): string {
  const compact = token.includes('.') ? token : Buffer.from(token, 'base64').toString('latin1').trim();
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(compact)) return compact;
  throw new Problem('expected a compact JWT (three parts of base64url with dots between), or base64 of one');
}

/** Read before the signature is checked, to know whose keys check it. */
function allowedIssuer(issuer: unknown, allowed: readonly string[]): string {
  if (typeof issuer !== 'string' || issuer === '') throw new Problem('expected the claim "iss", its issuer');
  if (allowed.includes(issuer)) return issuer;
  const known = allowed.length === 0 ? 'none is allowed yet' : `allowed: ${allowed.join(', ')}`;
  throw new Problem(
    `its issuer ${quoted(issuer)} is not allowed here (${known}); allow it with --oidc-issuer, to the letter`,
  );
}

/** Access tokens and others are signed by the same keys, and name themselves (RFC 8725, section 3.11). */
function checkType(type: string | undefined): void {
  if (type === undefined || type.toLowerCase() === 'jwt') return;
  throw new Problem('it is a token of another kind: expected no "typ" in its header, or "JWT"');
}

function claimsOf(payload: JWTPayload, now: number): IdTokenClaims {
  const { iss, sub, aud, iat } = payload;
  if (iat === undefined || iat > now + skew) throw new Problem('it is from the future: see its "iat"');
  return {
    issuer: text('iss', iss),
    audience: Array.isArray(aud) ? audienceOf(aud, payload['azp']) : text('aud', aud),
    subject: text('sub', sub),
    nonces: [payload['nonce'], payload['tknonce']].filter((nonce) => typeof nonce === 'string'),
  };
}

/** Of several audiences only the party that asked for the token counts: the others were not the user's choice. */
function audienceOf(audiences: readonly string[], party: unknown): string {
  if (audiences.length === 1) return text('aud', audiences[0]);
  if (typeof party === 'string' && audiences.includes(party)) return text('azp', party);
  throw new Problem('it has several audiences: expected the claim "azp" to name one of them');
}

function text(claim: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= largestClaim) return value;
  throw new Problem(`expected the claim "${claim}" to be a text of 1 to ${largestClaim} characters`);
}

function problemOf(error: unknown): string | undefined {
  if (error instanceof Problem) return error.message;
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' && error.reason === 'check_failed'
      ? 'it is not valid yet: see its "nbf"'
      : `its claim "${error.claim}" is missing, or is not as expected`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return `its algorithm is not allowed: expected one of ${algorithms.join(', ')}`;
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature does not hold';
  if (error instanceof errors.JWKSNoMatchingKey) return "it is signed with none of its issuer's keys";
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return `it does not say with which of its issuer's keys it is signed: expected a "kid" in its header`;
  }
  if (error instanceof errors.JOSEError) return 'it is not a signed JWT that can be read';
  // The platform's errors for an issuer's key that is malformed, or too short to be safe.
  if (error instanceof TypeError || error instanceof DOMException) return "its issuer's key cannot be used";
  return undefined;
}
