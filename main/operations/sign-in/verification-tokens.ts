/**
 * Proof of a verified contact: a token of the vault's own, and a signature by the client that received it.
 */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { decodeHex, encodeUtf8 } from '../../crypto/encodings.ts';
import { isP256PublicKey, verifyP256, verifyP256Raw } from '../../crypto/keys/p256.ts';
import { readToken, signToken } from '../../crypto/signed-tokens.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { getServerKey } from '../../storage/tables/server-keys.ts';
import { insertSpentToken, isTokenSpent } from '../../storage/tables/spent-tokens.ts';
import { hasCome } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';
import { channels, type Contact, type OtpType } from '../users/contacts.ts';
import { limits } from '../shared/limits.ts';
import { serverKey } from '../shared/server-keys.ts';

const longestToken = 4096;

/** A token as requests carry one. Its bearer counts as the contact's owner, so an error does not repeat it. */
export const verificationToken = z
  .string()
  .refine(({ length }) => length > 0 && length <= longestToken, {
    error: `Expected a compact JWT of at most ${String(longestToken)} characters`,
    params: { secret: true },
  })
  .meta({ format: 'password' });

/** A client's P-256 public key in hex, compressed: what it signs with. */
export const clientKey = z
  .string()
  .regex(/^0[23][0-9a-fA-F]{64}$/, 'Expected a compressed P-256 public key in hex: 66 characters')
  .refine(isP256PublicKey, 'Expected a point of P-256');

/** A signature by the client that a token is bound to. */
export const clientSignature = z.object({
  publicKey: clientKey,
  scheme: z.literal('CLIENT_SIGNATURE_SCHEME_API_P256'),
  message: z.string().min(1).max(65_536),
  signature: z
    .string()
    .regex(/^([0-9a-fA-F]{2}){8,80}$/, 'Expected a signature in hex: r and s of 32 bytes each, or DER'),
});

/** Claims of a token. */
export interface VerificationClaims {
  readonly id: string;
  readonly contact: Contact;
  /** The key that its holder signs with: lower-case hex, compressed; undefined for one that is bound to none. */
  readonly publicKey: string | undefined;
  /** Milliseconds. */
  readonly expiresAt: number;
}

const claimsSchema = z.object({
  id: z.string(),
  organization_id: z.string(),
  verification_type: z.enum(['OTP_TYPE_EMAIL', 'OTP_TYPE_SMS']),
  contact: z.string(),
  exp: z.string().regex(/^[0-9]{1,16}$/),
  public_key: z.string().optional(),
});

/** @returns the token's text. */
export function issueVerificationToken(
  context: Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'random' | 'now'>,
  { channel, address }: Contact,
  publicKey: string | undefined,
  lifetimeSeconds: number,
): string {
  const [verificationType] = Object.entries(channels).find(([, name]) => name === channel) ?? [];
  return signToken(serverKey(context, 'tlsFetcher').privateKey, {
    id: uuidV4(context.random('verification token id', 16)),
    organization_id: context.organizationId,
    verification_type: verificationType as OtpType,
    contact: address,
    exp: String(context.now + lifetimeSeconds * 1000),
    ...(publicKey === undefined ? {} : { public_key: publicKey.toLowerCase() }),
  } satisfies z.output<typeof claimsSchema>);
}

/**
 * Reads a token that this vault issued, in the organization or in its parent.
 * @param field The token's name in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT for one that does not hold here, or no longer.
 */
export function readVerificationToken(
  tx: Reader,
  organizationId: string,
  now: number,
  field: string,
  token: string,
): VerificationClaims {
  const key = getServerKey(tx, 'tlsFetcher');
  const { data } = claimsSchema.safeParse(key && readToken(key.publicKey, token));
  if (data === undefined) throw invalidToken(field, 'it is none that this vault issued');
  const organizations = [organizationId, getOrganization(tx, organizationId)?.parentId];
  if (!organizations.includes(data.organization_id)) {
    throw invalidToken(field, 'it was issued in another organization');
  }
  if (hasCome(Number(data.exp), now, limits.verificationTokenSeconds * 1000))
    throw invalidToken(field, 'it has expired');
  return {
    id: data.id,
    contact: { channel: channels[data.verification_type], address: data.contact },
    publicKey: data.public_key,
    expiresAt: Number(data.exp),
  };
}

const invalidToken = (field: string, problem: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `invalid verification token in ${field}: ${problem}`);

/**
 * Notes that a token signed a user in.
 * @throws KeyhearthError INVALID_ARGUMENT when it did so in this organization before.
 */
export function spendVerificationToken(
  { tx, organizationId }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId'>,
  field: string,
  { id, expiresAt }: VerificationClaims,
): void {
  if (isTokenSpent(tx, organizationId, id)) {
    throw invalidToken(field, 'it has signed somebody in before: verify the contact again');
  }
  insertSpentToken(tx, { id, organizationId, expiresAt });
}

const signedMessage = z.looseObject({ tokenId: z.string(), type: z.string() });

/**
 * Checks who signed for the use of a token, and for which.
 * @param at The signature's name in the request, for errors.
 * @param signer The key that must have signed: the token's, where it is bound to one.
 * @param usage What the token is used for: `USAGE_TYPE_LOGIN`.
 * @returns the message: what is signed of the request is the caller's to compare.
 * @throws KeyhearthError INVALID_ARGUMENT
 */
export function checkClientSignature(
  { publicKey, message, signature }: z.output<typeof clientSignature>,
  at: string,
  signer: string,
  { id }: VerificationClaims,
  usage: string,
): Readonly<Record<string, unknown>> {
  const given = publicKey.toLowerCase();
  if (given !== signer.toLowerCase()) {
    throw refused(`${at}.publicKey`, `expected the key that the verification token is bound to, ${signer}`);
  }
  const bytes = decodeHex(`${at}.signature`, signature);
  const text = encodeUtf8(`${at}.message`, message);
  const holds = (bytes.length === 64 && verifyP256Raw(given, bytes, text)) || verifyP256(given, bytes, text);
  if (!holds) throw refused(`${at}.signature`, 'it does not sign the message');
  const { data } = signedMessage.safeParse(parseJson(message));
  if (data?.tokenId !== id || data.type !== usage) {
    throw refused(`${at}.message`, `expected JSON with this token's id as "tokenId", and "type" ${usage}`);
  }
  return data;
}

export const refused = (field: string, problem: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `invalid ${field}: ${problem}`);

function parseJson(text: string): unknown {
  try {
    return parsePlainJson(text);
  } catch {
    return undefined;
  }
}
