/** Signing in: what proves who a user is, for an API key that lasts a while. */
import { z } from 'zod';
import { activity } from '../activities/define.ts';
import { encodeUtf8, toHex } from '../crypto/encodings.ts';
import { sha256 } from '../crypto/hashes.ts';
import { findOauthProvider } from '../db/oauth-providers.ts';
import { invalidIdToken, type IdTokenClaims } from '../lib/id-tokens.ts';
import { idToken } from './oauth-provider-registration.ts';
import { spendOneTimeCode } from './one-time-codes.ts';
import { found, id } from './parameters.ts';
import { uuid } from './resources.ts';
import { addSessionKey, makeSessionKey, sessionKeyParams } from './session-keys.ts';

export const oauth = activity({
  path: 'oauth',
  type: 'ACTIVITY_TYPE_OAUTH',
  intent: 'oauthIntent',
  result: 'oauthResult',
  authority: { resource: 'AUTH', action: 'CREATE', fromParent: true },
  params: z.object({ oidcToken: idToken, ...sessionKeyParams.shape }),
  returns: z.object({ userId: uuid, apiKeyId: uuid, credentialBundle: z.string() }),
  async prepare({ params, random, verifyIdToken }) {
    const claims = await verifyIdToken('parameters.oidcToken', params.oidcToken);
    checkBoundTo(params.targetPublicKey, claims);
    return { claims, key: await makeSessionKey(random, params.targetPublicKey) };
  },
  run(context) {
    const { tx, organizationId, params } = context;
    const { claims, key } = context.prepared;
    const { userId } = found(
      findOauthProvider(tx, organizationId, claims),
      `unable to find user: nobody in the organization has an OAuth provider with the issuer, audience and subject of this token (issuer ${JSON.stringify(claims.issuer)}, audience ${JSON.stringify(claims.audience)})`,
    );
    const apiKeyId = addSessionKey(context, 'oauth', userId, key, params);
    return { userId, apiKeyId, credentialBundle: key.credentialBundle };
  },
});

/** A token signs in for the key that it was asked for with, so that whoever else sees it has no use for it. */
function checkBoundTo(targetPublicKey: string, { nonces }: IdTokenClaims): void {
  const expected = toHex(sha256(encodeUtf8('parameters.targetPublicKey', targetPublicKey)));
  if (nonces.includes(expected)) return;
  throw invalidIdToken(
    'parameters.oidcToken',
    `expected its "nonce" to be the SHA-256, in lower-case hex, of the text of parameters.targetPublicKey: ${expected}`,
  );
}

const largestCode = 64;

export const otpAuth = activity({
  path: 'otp_auth',
  type: 'ACTIVITY_TYPE_OTP_AUTH',
  intent: 'otpAuthIntent',
  result: 'otpAuthResult',
  authority: { resource: 'AUTH', action: 'CREATE', fromParent: true },
  params: z.object({
    otpId: id,
    // Of whatever form: what is no code is a wrong one.
    otpCode: z
      .string()
      .refine(({ length }) => length <= largestCode, {
        error: `Expected at most ${largestCode} characters`,
        params: { secret: true },
      })
      .meta({ format: 'password' }),
    ...sessionKeyParams.shape,
  }),
  returns: z.object({ userId: uuid, apiKeyId: uuid.optional(), credentialBundle: z.string().optional() }),
  prepare: ({ params, random }) => makeSessionKey(random, params.targetPublicKey),
  run(context) {
    const { params, prepared } = context;
    const user = spendOneTimeCode(context, params.otpId, params.otpCode);
    const apiKeyId = addSessionKey(context, 'oneTimeCode', user.id, prepared, params);
    return { userId: user.id, apiKeyId, credentialBundle: prepared.credentialBundle };
  },
});
