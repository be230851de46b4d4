/** OAuth providers. */
import { z } from 'zod';
import { activity, older, query } from '../../activities/define.ts';
import {
  deleteOauthProvider,
  listOauthProviderRows,
  listOauthProvidersOfUser,
  toOauthProvider,
} from '../../storage/tables/oauth-providers.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { ownCredentials, thatUser } from './authority.ts';
import { checkCredentialLeft } from './credentials.ts';
import { limits } from '../shared/limits.ts';
import {
  addOauthProviders,
  oauthProviderParams,
  provenOauthProviderParams,
  verifyOauthProviders,
} from './oauth-provider-registration.ts';
import { checkDistinct, orNotFound, id, ids } from '../shared/parameters.ts';
import { shownOauthProvider, uuids } from '../shared/resources.ts';

const providersOf = <Schema extends z.ZodType>(provider: Schema) =>
  z.object({ userId: id, oauthProviders: z.array(provider).min(1).max(limits.oauthProvidersPerUser) });

export const createOauthProviders = activity({
  path: 'create_oauth_providers',
  summary: 'Adds OpenID Connect identities to a user, proven by tokens or named by claims.',
  title: 'Add OAuth providers',
  type: 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2',
  intent: 'createOauthProvidersIntentV2',
  result: 'createOauthProvidersResultV2',
  params: providersOf(oauthProviderParams),
  returns: z.object({ providerIds: uuids }),
  accepts: {
    ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: older({
      intent: 'createOauthProvidersIntent',
      result: 'createOauthProvidersResult',
      params: providersOf(provenOauthProviderParams),
      upgrade: (params) => params,
    }),
  },
  authority: { resource: 'CREDENTIAL', action: 'CREATE', ownCredentials, concerns: thatUser },
  stepUp: { for: 'wayIn' },
  prepare: (context) =>
    verifyOauthProviders(context, context.params.oauthProviders, 'parameters.oauthProviders'),
  run(context) {
    const { tx, organizationId, params, prepared } = context;
    const user = orNotFound(
      getUserRow(tx, organizationId, params.userId),
      `unable to find user ${params.userId}`,
    );
    return { providerIds: addOauthProviders(context, user.id, prepared, 'parameters.oauthProviders') };
  },
});

export const deleteOauthProviders = activity({
  path: 'delete_oauth_providers',
  summary: 'Deletes OpenID Connect identities of a user, who keeps at least one way in.',
  title: 'Delete OAuth providers',
  type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
  intent: 'deleteOauthProvidersIntent',
  result: 'deleteOauthProvidersResult',
  params: z.object({ userId: id, providerIds: ids.min(1) }),
  returns: z.object({ providerIds: uuids }),
  authority: { resource: 'CREDENTIAL', action: 'DELETE', ownCredentials, concerns: thatUser },
  run({ tx, organizationId, params: { userId, providerIds }, now }) {
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    checkDistinct('parameters.providerIds', providerIds);
    const present = new Set(listOauthProvidersOfUser(tx, userId).map((provider) => provider.id));
    for (const providerId of providerIds) {
      orNotFound(
        present.has(providerId) ? providerId : undefined,
        `unable to find OAuth provider ${providerId} of user ${userId}`,
      );
      deleteOauthProvider(tx, providerId);
    }
    checkCredentialLeft(tx, organizationId, userId, now);
    return { providerIds };
  },
});

export const getOauthProviders = query({
  path: 'get_oauth_providers',
  summary: 'Lists the OpenID Connect identities of a user.',
  params: z.object({ userId: id.optional() }),
  returns: z.object({ oauthProviders: z.array(shownOauthProvider) }),
  run({ tx, organizationId, params: { userId } }) {
    if (userId === undefined) {
      return { oauthProviders: listOauthProviderRows(tx, organizationId).map(toOauthProvider) };
    }
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    return { oauthProviders: listOauthProvidersOfUser(tx, userId).map(toOauthProvider) };
  },
});
