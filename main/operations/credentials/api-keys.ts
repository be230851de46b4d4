/** API keys. */
import { z } from 'zod';
import { activity, older, query } from '../../activities/define.ts';
import {
  deleteApiKey,
  getApiKeyRow,
  listApiKeyRows,
  listApiKeysOfUser,
  toApiKey,
} from '../../storage/tables/api-keys.ts';
import { getServerKey } from '../../storage/tables/server-keys.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { getVault } from '../../storage/tables/vault.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { addApiKeys, apiKeyParams, p256ApiKeyParams, withP256 } from './api-key-registration.ts';
import { ownCredentials, thatUser, userShown } from './authority.ts';
import { checkCredentialLeft } from './credentials.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, orNotFound, id, ids } from '../shared/parameters.ts';
import { shownApiKey, uuids } from '../shared/resources.ts';

export const createApiKeys = activity({
  path: 'create_api_keys',
  summary: 'Registers the public halves of API keys for a user.',
  title: 'Add API keys',
  type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
  intent: 'createApiKeysIntentV2',
  result: 'createApiKeysResult',
  authority: {
    resource: 'CREDENTIAL',
    action: 'CREATE',
    shows: userShown,
    ownCredentials,
    concerns: thatUser,
  },
  stepUp: { for: 'wayIn' },
  params: z.object({ apiKeys: z.array(apiKeyParams).min(1).max(limits.batch), userId: id }),
  returns: z.object({ apiKeyIds: uuids }),
  accepts: {
    ACTIVITY_TYPE_CREATE_API_KEYS: older({
      intent: 'createApiKeysIntent',
      params: z.object({ apiKeys: z.array(p256ApiKeyParams).min(1).max(limits.batch), userId: id }),
      upgrade: ({ userId, apiKeys }) => ({ userId, apiKeys: apiKeys.map(withP256) }),
    }),
  },
  run(context) {
    const { tx, organizationId, params } = context;
    const user = orNotFound(
      getUserRow(tx, organizationId, params.userId),
      `unable to find user ${params.userId}`,
    );
    return { apiKeyIds: addApiKeys(context, user.id, params.apiKeys, 'parameters.apiKeys') };
  },
});

export const deleteApiKeys = activity({
  path: 'delete_api_keys',
  summary: 'Deletes API keys of a user, who keeps at least one way in.',
  title: 'Delete API keys',
  type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
  intent: 'deleteApiKeysIntent',
  result: 'deleteApiKeysResult',
  authority: {
    resource: 'CREDENTIAL',
    action: 'DELETE',
    shows: ({ userId, apiKeyIds }) => ({ user_id: userId, api_key_ids: apiKeyIds }),
    ownCredentials,
    concerns: thatUser,
  },
  params: z.object({ userId: id, apiKeyIds: ids.min(1) }),
  returns: z.object({ apiKeyIds: uuids }),
  run({ tx, organizationId, params, now }) {
    const { userId, apiKeyIds } = params;
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    checkDistinct('parameters.apiKeyIds', apiKeyIds);
    const keys = listApiKeysOfUser(tx, userId);
    const window = getServerKey(tx, 'window');
    const isHome = getVault(tx)?.organizationId === organizationId;
    apiKeyIds.forEach((apiKeyId, index) => {
      const key = orNotFound(
        keys.find((candidate) => candidate.id === apiKeyId),
        `unable to find api key ${apiKeyId} of user ${userId}`,
      );
      // The window needs this key, and could not get another.
      if (isHome && window !== undefined && isCompressionOf(key.publicKey, window.publicKey)) {
        throw new KeyhearthError(
          'INVALID_ARGUMENT',
          `invalid parameters.apiKeyIds[${String(index)}]: ${apiKeyId} is the window's own key, which is not deleted`,
        );
      }
      deleteApiKey(tx, apiKeyId);
    });
    checkCredentialLeft(tx, organizationId, userId, now);
    return { apiKeyIds };
  },
});

export const getApiKey = query({
  path: 'get_api_key',
  summary: 'Shows one API key.',
  params: z.object({ apiKeyId: id }),
  returns: z.object({ apiKey: shownApiKey }),
  run: ({ tx, organizationId, params }) => ({
    apiKey: toApiKey(
      orNotFound(
        getApiKeyRow(tx, organizationId, params.apiKeyId),
        `unable to find api key ${params.apiKeyId}`,
      ),
    ),
  }),
});

export const getApiKeys = query({
  path: 'get_api_keys',
  summary: 'Lists the API keys of a user, or of everybody.',
  params: z.object({ userId: id.optional() }),
  returns: z.object({ apiKeys: z.array(shownApiKey) }),
  run({ tx, organizationId, params: { userId } }) {
    if (userId === undefined) return { apiKeys: listApiKeyRows(tx, organizationId).map(toApiKey) };
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    return { apiKeys: listApiKeysOfUser(tx, userId).map(toApiKey) };
  },
});

/** True if two SEC 1 forms in hex are of one point: the compressed one has x and the parity of y. */
const isCompressionOf = (compressed: string, uncompressed: string): boolean =>
  compressed.slice(2) === uncompressed.slice(2, 66) &&
  Number.parseInt(compressed.slice(0, 2), 16) % 2 === Number.parseInt(uncompressed.slice(-1), 16) % 2;
