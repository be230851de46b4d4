/** Parameters of an OAuth provider, and adding one to a user. */
import { z } from 'zod';
import type { ActivityContext, PrepareContext } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import {
  findOauthProvider,
  insertOauthProvider,
  listOauthProvidersOfUser,
} from '../../storage/tables/oauth-providers.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, name } from '../shared/parameters.ts';

const largestToken = 16_384;
const largestClaim = 255;

/** An ID token as requests carry one. It is a credential: an error does not repeat it. */
export const idToken = z
  .string()
  .refine(({ length }) => length > 0 && length <= largestToken, {
    error: `Expected a compact JWT of at most ${largestToken} characters`,
    params: { secret: true },
  })
  .meta({ format: 'password' });

/** An OAuth provider as requests first named one: by a token that proves it. */
export const provenOauthProviderParams = z.object({ providerName: name, oidcToken: idToken });

const claim = z
  .string()
  .min(1)
  .max(largestClaim)
  .regex(/^[^\p{C}]+$/u, 'Expected no control characters');

/** An OAuth provider as requests name one: by a token, or by the claims that tokens will have. */
export const oauthProviderParams = z
  .object({
    providerName: name,
    oidcToken: idToken.optional(),
    oidcClaims: z.object({ iss: claim, sub: claim, aud: claim }).optional(),
  })
  .refine(({ oidcToken, oidcClaims }) => (oidcToken === undefined) !== (oidcClaims === undefined), {
    error: 'Expected either oidcToken or oidcClaims',
    params: { secret: true },
  });

export type OauthProviderParams = z.output<typeof oauthProviderParams>;

/** The user's identity, as the provider states it. */
export interface VerifiedOauthProvider {
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
}

/**
 * Checks the tokens of a request. They need not be bound to a key: that is what signing in asks for.
 * @param at The name of `providers` in the request, for errors.
 */
export async function verifyOauthProviders(
  { verifyIdToken }: Pick<PrepareContext<unknown>, 'verifyIdToken'>,
  providers: readonly OauthProviderParams[],
  at: string,
): Promise<readonly VerifiedOauthProvider[]> {
  const verified: VerifiedOauthProvider[] = [];
  // One after another, so that the first that fails is the one that is named.
  for (const [index, { providerName, oidcToken, oidcClaims }] of providers.entries()) {
    if (oidcToken !== undefined) {
      const { issuer, audience, subject } = await verifyIdToken(`${at}[${index}].oidcToken`, oidcToken);
      verified.push({ name: providerName, issuer, audience, subject });
    } else if (oidcClaims !== undefined) {
      const { iss, aud, sub } = oidcClaims;
      verified.push({ name: providerName, issuer: iss, audience: aud, subject: sub });
    }
  }
  return verified;
}

/**
 * Adds providers to a user.
 * @param at The name of `providers` in the request, for errors.
 * @returns the ids of the new providers, in order.
 * @throws KeyhearthError ALREADY_EXISTS when another user of the organization has the same claims.
 */
export function addOauthProviders(
  {
    tx,
    organizationId,
    random,
    now,
  }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'random' | 'now'>,
  userId: string,
  providers: readonly VerifiedOauthProvider[],
  at: string,
): string[] {
  const present = listOauthProvidersOfUser(tx, userId).length;
  checkLimit(tx, 'OAuth providers', present, providers.length, limits.oauthProvidersPerUser);
  return providers.map((provider, index) => {
    if (findOauthProvider(tx, organizationId, provider)) {
      throw new KeyhearthError(
        'ALREADY_EXISTS',
        `invalid ${at}[${index}]: a user of the organization has an OAuth provider with this issuer, audience and subject already`,
        { turnkeyErrorCode: 'OAUTH_PROVIDER_ALREADY_EXISTS' },
      );
    }
    const id = uuidV4(random('oauth provider', 16));
    insertOauthProvider(tx, { ...provider, id, organizationId, userId, createdAt: now, updatedAt: now });
    return id;
  });
}
