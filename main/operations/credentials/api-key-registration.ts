/** Parameters of an API key, and adding one to a user. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import { verifyingKeys } from '../../crypto/keys/verifying-keys.ts';
import {
  deleteApiKey,
  findApiKey,
  findApiKeysBelow,
  insertApiKey,
  listApiKeysOfUser,
  type ApiKeyRow,
} from '../../storage/tables/api-keys.ts';
import type { Writer } from '../../storage/connection.ts';
import { limitsOf } from '../../storage/tables/settings.ts';
import { isOver } from '../../lib/clock.ts';
import { checkUnclaimed } from './credential-claims.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, composedName, seconds } from '../shared/parameters.ts';

/** The curve of an API key, with the credential it becomes. */
const credentialTypes = {
  API_KEY_CURVE_P256: 'CREDENTIAL_TYPE_API_KEY_P256',
  API_KEY_CURVE_SECP256K1: 'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  API_KEY_CURVE_ED25519: 'CREDENTIAL_TYPE_API_KEY_ED25519',
} as const;

type ApiKeyCurve = keyof typeof credentialTypes;

const apiKeyCurves = Object.keys(credentialTypes) as [ApiKeyCurve, ...ApiKeyCurve[]];

const publicKey = z
  .string()
  .regex(/^[0-9a-fA-F]{64,66}$/, 'Expected a compressed public key in hex (66 characters; 64 for Ed25519)');

/** An API key as requests name one. */
export const apiKeyParams = z.object({
  apiKeyName: composedName,
  publicKey,
  curveType: z.enum(apiKeyCurves),
  expirationSeconds: seconds.optional(),
});

/** As before curves could be chosen: P-256 it was. */
export const p256ApiKeyParams = apiKeyParams.omit({ curveType: true });

export type ApiKeyParams = z.output<typeof apiKeyParams>;

export const withP256 = (key: z.output<typeof p256ApiKeyParams>): ApiKeyParams => ({
  ...key,
  curveType: 'API_KEY_CURVE_P256',
});

type Registering = Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'caller' | 'random' | 'now'>;

/** A key that is checked: what is registered of it. */
type NewApiKey = Pick<ApiKeyRow, 'name' | 'credentialType' | 'publicKey' | 'expirationSeconds'> &
  Partial<Pick<ApiKeyRow, 'sessionProfileId'>>;

/**
 * Registers a key for a user and makes room among the expiring ones: an expired one goes first, else the oldest.
 * @returns the id of the new key.
 */
export function addApiKey(
  { tx, organizationId, random, now }: Omit<Registering, 'caller'>,
  userId: string,
  key: NewApiKey,
): string {
  const { expirationSeconds } = key;
  makeRoom(tx, userId, expirationSeconds !== null, now);
  const id = uuidV4(random('api key', 16));
  insertApiKey(tx, {
    sessionProfileId: null,
    ...key,
    id,
    organizationId,
    userId,
    expiresAt: expirationSeconds === null ? null : now + expirationSeconds * 1000,
    createdAt: now,
    updatedAt: now,
  });
  return id;
}

/**
 * Registers the keys that a request names for a user.
 * @param at The name of `keys` in the request, for errors.
 * @returns the ids of the new keys, in order.
 */
export function addApiKeys(
  context: Registering,
  userId: string,
  keys: readonly ApiKeyParams[],
  at: string,
): string[] {
  return keys.map((key, index) => {
    const field = `${at}[${String(index)}]`;
    const normalized = key.publicKey.toLowerCase();
    verifyingKeys[key.curveType].check(`${field}.publicKey`, normalized);
    checkKeyUnclaimed(context, normalized, `${field}.publicKey`);
    return addApiKey(context, userId, {
      name: key.apiKeyName,
      credentialType: credentialTypes[key.curveType],
      publicKey: normalized,
      expirationSeconds: key.expirationSeconds === undefined ? null : Number(key.expirationSeconds),
    });
  });
}

/** @throws KeyhearthError ALREADY_EXISTS where another user has the key. */
export const checkKeyUnclaimed = (
  context: Omit<Registering, 'random' | 'now'>,
  normalized: string,
  at: string,
): void => {
  const { tx } = context;
  checkUnclaimed(
    context,
    {
      in: (organizationId) => findApiKey(tx, organizationId, normalized),
      below: (organizationId) => findApiKeysBelow(tx, organizationId, normalized),
    },
    at,
  );
};

function makeRoom(tx: Writer, userId: string, expiring: boolean, now: number): void {
  const present = listApiKeysOfUser(tx, userId).filter(({ expiresAt }) => (expiresAt !== null) === expiring);
  if (!expiring) {
    checkLimit(tx, 'long-lived api keys', present.length, 1, limits.longLivedApiKeysPerUser);
    return;
  }
  if (present.length < limits.expiringApiKeysPerUser * limitsOf(tx)) return;
  const goes = present.find((key) => isOver(key, now)) ?? present[0];
  if (goes) deleteApiKey(tx, goes.id);
}
