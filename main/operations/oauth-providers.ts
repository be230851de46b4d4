/** OAuth providers. */
import { z } from 'zod';
import { query } from '../activities/define.ts';
import { listOauthProviderRows, listOauthProvidersOfUser, toOauthProvider } from '../db/oauth-providers.ts';
import { getUserRow } from '../db/users.ts';
import { found, id } from './parameters.ts';
import { shownOauthProvider } from './resources.ts';

export const getOauthProviders = query({
  path: 'get_oauth_providers',
  params: z.object({ userId: id.optional() }),
  returns: z.object({ oauthProviders: z.array(shownOauthProvider) }),
  run({ tx, organizationId, params: { userId } }) {
    if (userId === undefined) {
      return { oauthProviders: listOauthProviderRows(tx, organizationId).map(toOauthProvider) };
    }
    found(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    return { oauthProviders: listOauthProvidersOfUser(tx, userId).map(toOauthProvider) };
  },
});
