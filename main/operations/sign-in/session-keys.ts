/** The API keys that a sign-in makes: short-lived, and handed to the client encrypted, or the client's own. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import { decodeHex, encodeBase58Check, toHex } from '../../crypto/encodings.ts';
import { compressP256, generateP256 } from '../../crypto/keys/p256.ts';
import { signToken } from '../../crypto/signed-tokens.ts';
import { deleteApiKey, findApiKey, listApiKeysOfUser } from '../../storage/tables/api-keys.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import { findSessionProfileRow, type SessionProfileRow } from '../../storage/tables/session-profiles.ts';
import type { Random } from '../../lib/random.ts';
import { addApiKey, checkKeyUnclaimed } from '../credentials/api-key-registration.ts';
import { compressedTarget, encryptTo, targetPoint } from '../shared/bundles.ts';
import { limits } from '../shared/limits.ts';
import { composedName, id, orNotFound } from '../shared/parameters.ts';
import { serverKey } from '../shared/server-keys.ts';

/** The ways to sign in, with the credential that each makes and the name that it gives it. */
const sessionKinds = {
  oauth: { credentialType: 'CREDENTIAL_TYPE_OAUTH_KEY_P256', defaultName: 'Oauth' },
  oneTimeCode: { credentialType: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256', defaultName: 'OTP Auth' },
  email: { credentialType: 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256', defaultName: 'Email Auth' },
  readWriteSession: {
    credentialType: 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
    defaultName: 'Read Write Session',
  },
  recovery: { credentialType: 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256', defaultName: 'Recovery' },
  login: { credentialType: 'CREDENTIAL_TYPE_LOGIN', defaultName: 'Login' },
} as const;

export type SessionKind = keyof typeof sessionKinds;

/** The types of the credentials that only sign-ins make. */
export const sessionCredentialTypes: readonly string[] = Object.values(sessionKinds).map(
  ({ credentialType }) => credentialType,
);

const defaultSeconds = 900;

export const sessionSeconds = z
  .string()
  .refine(
    (text) => /^[1-9][0-9]{0,8}$/.test(text) && Number(text) <= limits.sessionKeySeconds,
    `invalid api key expiration: expected a whole number of seconds in digits, from 1 to ${limits.sessionKeySeconds}`,
  );

/** Parameters of the key that a request asks for. */
export const sessionKeyParams = z.object({
  // Checked to the end before anything is executed: a code that signs in is spent only on a key that can be handed out.
  targetPublicKey: targetPoint,
  apiKeyName: composedName.optional(),
  expirationSeconds: sessionSeconds.optional(),
  invalidateExisting: z.boolean().optional(),
});

/** Parameters of a session for a key of the client's own. */
export const loginParams = z.object({
  publicKey: targetPoint,
  expirationSeconds: sessionSeconds.optional(),
  invalidateExisting: z.boolean().optional(),
  /** Some clients write an empty one where they mean none. */
  sessionProfileId: z.union([z.literal(''), id]).optional(),
});

/** Properties of a session. */
export interface SessionWishes {
  readonly apiKeyName?: string | undefined;
  readonly expirationSeconds?: string | undefined;
  readonly invalidateExisting?: boolean | undefined;
}

/** A fresh key: its public half, and the private one for the client. */
export interface SessionKey {
  /** Hex, compressed. */
  readonly publicKey: string;
  /** Base58Check of the encapsulated key, compressed, and the encrypted scalar. */
  readonly credentialBundle: string;
}

/** Makes a key pair and encrypts its private half to the client; nothing of it is kept. */
export async function makeSessionKey(random: Random, target: string): Promise<SessionKey> {
  const pair = generateP256((length) => random('session key', length));
  const { encappedPublic, ciphertext } = await encryptTo(target, pair.privateKey);
  const encapsulated = compressP256(decodeHex('encappedPublic', encappedPublic));
  return {
    publicKey: toHex(pair.publicKey),
    credentialBundle: encodeBase58Check(concatBytes(encapsulated, decodeHex('ciphertext', ciphertext))),
  };
}

/**
 * Registers a key for the user who signs in, in the place of the earlier ones of its kind if that is asked for.
 * @returns its id.
 */
export function addSessionKey(
  context: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'random' | 'now'>,
  kind: SessionKind,
  userId: string,
  { publicKey }: Pick<SessionKey, 'publicKey'>,
  params: SessionWishes,
  sessionProfileId: string | null = null,
): string {
  const { tx, now } = context;
  const { credentialType, defaultName } = sessionKinds[kind];
  if (params.invalidateExisting === true) endSessionKeys(tx, kind, userId);
  return addApiKey(context, userId, {
    name: params.apiKeyName ?? `${defaultName} - ${new Date(now).toISOString()}`,
    credentialType,
    publicKey,
    expirationSeconds: secondsOf(params),
    sessionProfileId,
  });
}

/** Ends the keys of one kind of a user's sign-ins. */
export function endSessionKeys(tx: Writer, kind: SessionKind, userId: string): void {
  const { credentialType } = sessionKinds[kind];
  for (const key of listApiKeysOfUser(tx, userId)) {
    if (key.credentialType === credentialType) deleteApiKey(tx, key.id);
  }
}

const secondsOf = ({ expirationSeconds }: SessionWishes): number =>
  Number(expirationSeconds ?? defaultSeconds);

/** When what is asked for ends, in milliseconds. */
export const sessionEnd = (wishes: SessionWishes, now: number): number => now + secondsOf(wishes) * 1000;

/**
 * Registers a client's own key for the user who signs in. A key that signed the user in before is renewed.
 * @returns the text of a `session`: what the client may know of it, signed. It proves nothing to the vault.
 * @throws KeyhearthError ALREADY_EXISTS for a key that is registered otherwise.
 */
export function addLoginKey(
  context: Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'caller' | 'random' | 'now'>,
  userId: string,
  params: z.output<typeof loginParams>,
): string {
  const { tx, organizationId, now } = context;
  const publicKey = toHex(compressedTarget(params.publicKey, 'parameters.publicKey'));
  const known = findApiKey(tx, organizationId, publicKey);
  if (known?.userId === userId && known.credentialType === sessionKinds.login.credentialType) {
    deleteApiKey(tx, known.id);
  }
  checkKeyUnclaimed(context, publicKey, 'parameters.publicKey');
  const { sessionProfileId = '' } = params;
  const profile =
    sessionProfileId === '' ? undefined : requireSessionProfile(tx, organizationId, sessionProfileId);
  const wishes = { ...params, expirationSeconds: shorter(params.expirationSeconds, profile) };
  addSessionKey(context, 'login', userId, { publicKey }, wishes, profile?.id);
  return sessionToken(context, {
    exp: Math.floor(sessionEnd(wishes, now) / 1000),
    public_key: publicKey,
    session_type: profile?.name ?? 'SESSION_TYPE_READ_WRITE',
    user_id: userId,
    organization_id: organizationId,
    ...(profile && { session_profile_id: profile.id, scope: profile.scope }),
  });
}

/** @throws KeyhearthError NOT_FOUND for a profile of another organization than this one and its parent, too. */
export const requireSessionProfile = (
  tx: Reader,
  organizationId: string,
  sessionProfileId: string,
): SessionProfileRow =>
  orNotFound(
    findSessionProfileRow(tx, organizationId, sessionProfileId),
    `unable to find session profile ${sessionProfileId}`,
  );

/** @returns the shorter of two lives in seconds, the wanted one and the profile's longest; undefined where neither is given. */
function shorter(wanted: string | undefined, profile: SessionProfileRow | undefined): string | undefined {
  const most = profile?.expirationSeconds ?? null;
  if (most === null) return wanted;
  return String(Math.min(Number(wanted ?? most), most));
}

/** Signed as the clients check it: over the digest of the text. */
export const sessionToken = (
  context: Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId'>,
  claims: object,
): string => signToken(serverKey(context, 'notarizer').privateKey, claims, 'digest');
