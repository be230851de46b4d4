/** The API keys that a sign-in makes: short-lived, and handed to the client encrypted. */
import { z } from 'zod';
import type { ActivityContext } from '../activities/define.ts';
import { concatBytes } from '../crypto/bytes.ts';
import { decodeHex, encodeBase58Check, toHex } from '../crypto/encodings.ts';
import { compressP256, generateP256, isP256PublicKey } from '../crypto/p256.ts';
import { deleteApiKey, listApiKeysOfUser } from '../db/api-keys.ts';
import type { Random } from '../lib/random.ts';
import { addApiKey } from './api-key-registration.ts';
import { encryptTo, targetPublicKey } from './bundles.ts';
import { limits } from './limits.ts';
import { name } from './parameters.ts';

/** The ways to sign in, with the credential that each makes and the name that it gives it. */
const sessionKinds = {
  oauth: { credentialType: 'CREDENTIAL_TYPE_OAUTH_KEY_P256', defaultName: 'Oauth' },
  oneTimeCode: { credentialType: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256', defaultName: 'OTP Auth' },
} as const;

const defaultSeconds = 900;

/** What requests say of the key that they ask for. */
export const sessionKeyParams = z.object({
  // Checked to the end before anything is carried out: a code that signs in is spent only on a key that can be handed out.
  targetPublicKey: targetPublicKey.refine(isP256PublicKey, 'Expected a point of P-256'),
  apiKeyName: name.optional(),
  expirationSeconds: z
    .string()
    .refine(
      (text) => /^[1-9][0-9]{0,8}$/.test(text) && Number(text) <= limits.sessionKeySeconds,
      `invalid api key expiration: expected a whole number of seconds in digits, from 1 to ${limits.sessionKeySeconds}`,
    )
    .optional(),
  invalidateExisting: z.boolean().optional(),
});

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
  kind: keyof typeof sessionKinds,
  userId: string,
  { publicKey }: SessionKey,
  params: z.output<typeof sessionKeyParams>,
): string {
  const { tx, now } = context;
  const { credentialType, defaultName } = sessionKinds[kind];
  if (params.invalidateExisting === true) {
    for (const key of listApiKeysOfUser(tx, userId)) {
      if (key.credentialType === credentialType) deleteApiKey(tx, key.id);
    }
  }
  return addApiKey(context, userId, {
    name: params.apiKeyName ?? `${defaultName} - ${new Date(now).toISOString()}`,
    credentialType,
    publicKey,
    expirationSeconds: Number(params.expirationSeconds ?? defaultSeconds),
  });
}
