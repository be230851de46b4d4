/** The claims of an OpenID Connect ID token, and the refusal of an invalid one. */
import { KeyhearthError } from '../errors.ts';

/** The claims of an ID token that identify a user, and its audience. */
export interface IdTokenClaims {
  readonly issuer: string;
  /** The client for which the token was issued: `aud`, or `azp` if there are several. */
  readonly audience: string;
  readonly subject: string;
  /** `nonce` and `tknonce`, those that there are. */
  readonly nonces: readonly string[];
}

/**
 * Checks an ID token with its issuer's published keys.
 * @param field The token's name in the request, for errors.
 * @param token The compact JWT, as it is or in base64.
 * @throws KeyhearthError INVALID_ARGUMENT for a token that does not hold, or whose issuer is not allowed here;
 * UNAVAILABLE while the issuer's keys cannot be had.
 */
export type VerifyIdToken = (field: string, token: string) => Promise<IdTokenClaims>;

/** A token is a credential: an error says what is wrong with it, and quotes nothing of it but its issuer. */
export const invalidIdToken = (
  field: string,
  problem: string,
  code: 'INVALID_ARGUMENT' | 'UNAVAILABLE' = 'INVALID_ARGUMENT',
): KeyhearthError =>
  new KeyhearthError(code, `invalid OIDC token in ${field}: ${problem}`, {
    turnkeyErrorCode: 'INVALID_OIDC_TOKEN',
  });
