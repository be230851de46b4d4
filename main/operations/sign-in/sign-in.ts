/** Signing in: what proves who a user is, for an API key that lasts a while. */
import { z } from 'zod';
import { activity, older } from '../../activities/define.ts';
import { encodeUtf8, toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { findOauthProvider, type OauthProviderRow } from '../../storage/tables/oauth-providers.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { invalidIdToken, type IdTokenClaims } from '../../lib/web/id-tokens.ts';
import type { Reader } from '../../storage/connection.ts';
import { emailAddress, hasContact, holderOf, markVerified } from '../users/contacts.ts';
import {
  appName,
  emailCustomization,
  namedEmailCustomization,
  senderParams,
  type MessageWishes,
} from './message-texts.ts';
import { mailedUsers, mailKey, makeMailedKey } from './mailed-keys.ts';
import { idToken } from '../credentials/oauth-provider-registration.ts';
import { invalidCode, otpCode, spendOneTimeCode } from './one-time-codes.ts';
import { orNotFound, id } from '../shared/parameters.ts';
import { uuid } from '../shared/resources.ts';
import { addLoginKey, addSessionKey, loginParams, makeSessionKey, sessionKeyParams } from './session-keys.ts';
import { checkGate } from './sign-in-gates.ts';
import {
  checkClientSignature,
  clientSignature,
  readVerificationToken,
  refused,
  spendVerificationToken,
  verificationToken,
} from './verification-tokens.ts';

const authority = { resource: 'AUTH', action: 'CREATE', fromParent: true } as const;

/** `activity.params` of a login: an empty text where it names no profile. */
const shownLogin = ({ sessionProfileId = '' }: { readonly sessionProfileId?: string | undefined }) => ({
  session_profile_id: sessionProfileId,
});

export const oauth = activity({
  path: 'oauth',
  summary:
    'Signs a user in by an OpenID Connect token, with an API key encrypted to the client (beta). The token’s `nonce` (or `tknonce`) is the SHA-256, in lower-case hex, of the text of `targetPublicKey`.',
  title: 'Sign in with an ID token',
  type: 'ACTIVITY_TYPE_OAUTH',
  intent: 'oauthIntent',
  result: 'oauthResult',
  params: z.object({ oidcToken: idToken, ...sessionKeyParams.shape }),
  returns: z.object({ userId: uuid, apiKeyId: uuid, credentialBundle: z.string() }),
  authority,
  stepUp: { for: 'wayIn' },
  async prepare({ params, random, verifyIdToken }) {
    const claims = await verifyIdToken('parameters.oidcToken', params.oidcToken);
    checkBoundTo('targetPublicKey', params.targetPublicKey, claims);
    return { claims, key: await makeSessionKey(random, params.targetPublicKey) };
  },
  run(context) {
    const { tx, organizationId, params } = context;
    const { claims, key } = context.prepared;
    const { userId } = providerOf(tx, organizationId, claims);
    const apiKeyId = addSessionKey(context, 'oauth', userId, key, params);
    return { userId, apiKeyId, credentialBundle: key.credentialBundle };
  },
});

export const oauthLogin = activity({
  path: 'oauth_login',
  summary:
    'Signs a user in by an OpenID Connect token, with a key of the client’s own. The token’s `nonce` (or `tknonce`) is the SHA-256, in lower-case hex, of the text of `publicKey`.',
  title: 'Start a session with an ID token',
  type: 'ACTIVITY_TYPE_OAUTH_LOGIN',
  intent: 'oauthLoginIntent',
  result: 'oauthLoginResult',
  params: z.object({ oidcToken: idToken, ...loginParams.shape }),
  returns: z.object({ session: z.string() }),
  authority: { ...authority, shows: shownLogin },
  stepUp: { for: 'wayIn' },
  async prepare({ params, verifyIdToken }) {
    const claims = await verifyIdToken('parameters.oidcToken', params.oidcToken);
    checkBoundTo('publicKey', params.publicKey, claims);
    return claims;
  },
  run(context) {
    const { userId } = providerOf(context.tx, context.organizationId, context.prepared);
    return { session: addLoginKey(context, userId, context.params) };
  },
});

const providerOf = (tx: Reader, organizationId: string, claims: IdTokenClaims): OauthProviderRow =>
  orNotFound(
    findOauthProvider(tx, organizationId, claims),
    `unable to find user: nobody in the organization has an OAuth provider with the issuer, audience and subject of this token (issuer ${JSON.stringify(claims.issuer)}, audience ${JSON.stringify(claims.audience)})`,
  );

/** Checks that the token was requested for this key, so that a stolen token is useless. */
function checkBoundTo(field: string, publicKey: string, { nonces }: IdTokenClaims): void {
  const expected = toHex(sha256(encodeUtf8(`parameters.${field}`, publicKey)));
  if (nonces.includes(expected)) return;
  throw invalidIdToken(
    'parameters.oidcToken',
    `expected its "nonce" to be the SHA-256, in lower-case hex, of the text of parameters.${field}: ${expected}`,
  );
}

export const otpAuth = activity({
  path: 'otp_auth',
  summary: 'Signs a user in by a one-time code, with an API key encrypted to the client.',
  title: 'Sign in with a one-time code',
  type: 'ACTIVITY_TYPE_OTP_AUTH',
  intent: 'otpAuthIntent',
  result: 'otpAuthResult',
  params: z.object({ otpId: id, otpCode, ...sessionKeyParams.shape }),
  returns: z.object({ userId: uuid, apiKeyId: uuid.optional(), credentialBundle: z.string().optional() }),
  authority,
  stepUp: { for: 'wayIn' },
  prepare: ({ params, random }) => makeSessionKey(random, params.targetPublicKey),
  run(context) {
    const { tx, organizationId, params, prepared, now } = context;
    const { userId, channel, contact } = spendOneTimeCode(context, 'sign in', params.otpId, params.otpCode);
    const user = userId === null ? undefined : getUserRow(tx, organizationId, userId);
    // A code that went to an address proves nothing about a user who has another by now.
    if (user === undefined || !hasContact(user, { channel, address: contact })) throw invalidCode();
    checkGate(tx, organizationId, 'code', channel);
    markVerified(tx, user, { channel, address: contact }, now);
    const apiKeyId = addSessionKey(context, 'oneTimeCode', user.id, prepared, params);
    return { userId: user.id, apiKeyId, credentialBundle: prepared.credentialBundle };
  },
});

const otpLoginParams = z.object({ verificationToken, ...loginParams.shape });

/** The signature was not always asked for. */
type OtpLogin = z.output<typeof otpLoginParams> & {
  readonly clientSignature?: z.output<typeof clientSignature> | undefined;
};

const usage = 'USAGE_TYPE_LOGIN';
const signedLogin = z.looseObject({ login: z.looseObject({ publicKey: z.string() }) });

export const otpLogin = activity({
  path: 'otp_login',
  summary: 'Signs the user in whose contact was verified, with a key of the client’s own.',
  title: 'Start a session with a one-time code',
  type: 'ACTIVITY_TYPE_OTP_LOGIN_V2',
  intent: 'otpLoginIntentV2',
  result: 'otpLoginResult',
  params: otpLoginParams.extend({ clientSignature }).transform((params): OtpLogin => params),
  returns: z.object({ session: z.string() }),
  accepts: {
    ACTIVITY_TYPE_OTP_LOGIN: older({
      intent: 'otpLoginIntent',
      params: otpLoginParams.extend({ clientSignature: clientSignature.optional() }),
      upgrade: (params) => params,
    }),
  },
  authority: { ...authority, shows: shownLogin },
  stepUp: { for: 'wayIn' },
  run(context) {
    const { tx, organizationId, params, now } = context;
    const field = 'parameters.verificationToken';
    const claims = readVerificationToken(tx, organizationId, now, field, params.verificationToken);
    const at = 'parameters.clientSignature';
    if (params.clientSignature !== undefined) {
      const signer = claims.publicKey ?? params.publicKey;
      const message = checkClientSignature(params.clientSignature, at, signer, claims, usage);
      const { data } = signedLogin.safeParse(message);
      if (data?.login.publicKey.toLowerCase() !== params.publicKey.toLowerCase()) {
        throw refused(`${at}.message`, 'expected "login" with parameters.publicKey as its "publicKey"');
      }
    } else if (claims.publicKey !== undefined) {
      throw refused(at, 'the verification token is bound to a key: expected a signature by it');
    }
    checkGate(tx, organizationId, 'code', claims.contact.channel);
    const user = holderOf(tx, organizationId, claims.contact);
    spendVerificationToken(context, field, claims);
    markVerified(tx, user, claims.contact, now);
    return { session: addLoginKey(context, user.id, params) };
  },
});

export const stampLogin = activity({
  path: 'stamp_login',
  summary: 'Registers another key of the client’s own for a while, for whoever stamped the request.',
  title: 'Start a session with a stamp',
  type: 'ACTIVITY_TYPE_STAMP_LOGIN',
  intent: 'stampLoginIntent',
  result: 'stampLoginResult',
  params: loginParams,
  returns: z.object({ session: z.string() }),
  authority: {
    resource: 'AUTH',
    action: 'CREATE',
    ownCredentials: () => true,
    inCallersOrganization: true,
    shows: shownLogin,
  },
  stepUp: { for: 'wayIn' },
  run: (context) => ({ session: addLoginKey(context, context.caller.userId, context.params) }),
});

const mailParams = z.object({ email: emailAddress, ...sessionKeyParams.shape, ...senderParams.shape });

type EmailAuth = z.output<typeof mailParams> & Pick<MessageWishes, 'emailCustomization'>;

const earlierEmailAuth = mailParams.extend({ emailCustomization: namedEmailCustomization.optional() });

export const emailAuth = activity({
  path: 'email_auth',
  summary: 'Mails a user an API key that is encrypted to the client.',
  title: 'Send a credential by email',
  type: 'ACTIVITY_TYPE_EMAIL_AUTH_V3',
  intent: 'emailAuthIntentV3',
  result: 'emailAuthResult',
  params: mailParams
    .extend({ emailCustomization: emailCustomization.extend({ appName }) })
    .transform((params): EmailAuth => params),
  returns: z.object({ userId: uuid, apiKeyId: uuid }),
  accepts: {
    ACTIVITY_TYPE_EMAIL_AUTH_V2: older({
      intent: 'emailAuthIntentV2',
      params: earlierEmailAuth,
      upgrade: (params) => params,
    }),
    ACTIVITY_TYPE_EMAIL_AUTH: older({
      intent: 'emailAuthIntent',
      params: earlierEmailAuth,
      upgrade: (params) => params,
    }),
  },
  authority: {
    ...authority,
    concerns: mailedUsers,
  },
  stepUp: { for: 'wayIn' },
  prepare: makeMailedKey,
  run: (context) => mailKey(context, 'signIn'),
});
