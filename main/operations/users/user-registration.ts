/** Parameters of a new user, and adding one to an organization with credentials. */
import { z } from 'zod';
import type { ActivityContext, PrepareContext } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import { countUsers, findUserByName, insertUser, listUserRows } from '../../storage/tables/users.ts';
import { requestLimits } from '../../lib/published-limits.ts';
import { addApiKeys, apiKeyParams, p256ApiKeyParams } from '../credentials/api-key-registration.ts';
import {
  addAuthenticators,
  authenticatorParams,
  verifyAuthenticators,
  type VerifiedAuthenticator,
} from '../credentials/authenticator-registration.ts';
import type { RelyingParty } from '../credentials/attestations.ts';
import { optionalContact, phoneNumber } from './contact-fields.ts';
import { emailAddress } from './contacts.ts';
import { limits } from '../shared/limits.ts';
import {
  addOauthProviders,
  oauthProviderParams,
  provenOauthProviderParams,
  verifyOauthProviders,
  type VerifiedOauthProvider,
} from '../credentials/oauth-provider-registration.ts';
import {
  checkDistinct,
  checkLimit,
  checkRequest,
  checkUnmistakable,
  composedName,
  nameTaken,
} from '../shared/parameters.ts';

const apiKeys = z.array(apiKeyParams).max(limits.longLivedApiKeysPerUser + limits.expiringApiKeysPerUser);
const providersOf = <Schema extends z.ZodType>(provider: Schema) =>
  z.array(provider).max(limits.oauthProvidersPerUser);

/** API keys of a new user, as before curves could be chosen. */
export const p256ApiKeys = z.array(p256ApiKeyParams).max(limits.longLivedApiKeysPerUser);
/** OAuth providers of a new user, as before they could be named by claims. */
export const provenOauthProviders = providersOf(provenOauthProviderParams);

export const newUserParams = z.object({
  userName: composedName,
  userEmail: optionalContact(emailAddress),
  userPhoneNumber: optionalContact(phoneNumber),
  apiKeys,
  authenticators: z.array(authenticatorParams).max(limits.authenticatorsPerUser),
  oauthProviders: providersOf(oauthProviderParams),
});

export type NewUserParams = z.output<typeof newUserParams>;

/** A new user's credentials that had to be checked beforehand. */
export interface VerifiedCredentials {
  readonly authenticators: readonly VerifiedAuthenticator[];
  readonly oauthProviders: readonly VerifiedOauthProvider[];
}

/** @throws KeyhearthError INVALID_ARGUMENT for more credentials of new users than one request may have. */
export function checkCredentials(
  users: readonly (Pick<NewUserParams, 'apiKeys'> &
    Partial<Pick<NewUserParams, 'authenticators' | 'oauthProviders'>>)[],
  at: string,
): void {
  const credentials = users.flatMap(({ apiKeys: keys, authenticators = [], oauthProviders = [] }) => [
    ...keys,
    ...authenticators,
    ...oauthProviders,
  ]);
  checkRequest(at, 'credentials', credentials.length, requestLimits.credentials);
}

/**
 * Checks attestations and tokens of new users, before the transaction that adds them.
 * @param at The name of `users` in the request, for errors.
 */
export async function verifyNewUsers(
  { gathered, verifyIdToken }: Pick<PrepareContext<unknown, RelyingParty>, 'gathered' | 'verifyIdToken'>,
  users: readonly Pick<NewUserParams, 'apiKeys' | 'authenticators' | 'oauthProviders'>[],
  at: string,
): Promise<readonly VerifiedCredentials[]> {
  checkCredentials(users, at);
  const verified: VerifiedCredentials[] = [];
  // One after another, so that the first that fails is the one that is named.
  for (const [index, user] of users.entries()) {
    const field = `${at}[${index}]`;
    verified.push({
      authenticators: await verifyAuthenticators(gathered, user.authenticators, `${field}.authenticators`),
      oauthProviders: await verifyOauthProviders(
        { verifyIdToken },
        user.oauthProviders,
        `${field}.oauthProviders`,
      ),
    });
  }
  return verified;
}

/**
 * Adds users to an organization, with their credentials.
 * @param verified What `verifyNewUsers` found of them, in the same order.
 * @param at The name of `users` in the request, for errors.
 * @param root Whether they are members of the root quorum.
 * @returns the ids of the new users, in order.
 */
export function addUsers(
  context: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'caller' | 'random' | 'now'>,
  users: readonly Omit<NewUserParams, 'authenticators' | 'oauthProviders'>[],
  verified: readonly VerifiedCredentials[],
  at: string,
  root = false,
): string[] {
  const { tx, organizationId, random, now } = context;
  const names = users.map(({ userName }) => userName);
  checkDistinct(at, names);
  checkLimit(tx, 'users', countUsers(tx, organizationId), names.length, limits.usersPerOrganization);
  return users.map((user, index) => {
    const field = `${at}[${index}]`;
    checkUserNameFree(tx, organizationId, user.userName, `${field}.userName`);
    const userId = uuidV4(random('user', 16));
    insertUser(tx, {
      id: userId,
      organizationId,
      name: user.userName,
      email: user.userEmail ?? null,
      phoneNumber: user.userPhoneNumber ?? null,
      emailVerifiedAt: null,
      phoneNumberVerifiedAt: null,
      root: root ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    });
    addApiKeys(context, userId, user.apiKeys, `${field}.apiKeys`);
    const { authenticators = [], oauthProviders = [] } = verified[index] ?? {};
    addAuthenticators(context, userId, authenticators, `${field}.authenticators`);
    addOauthProviders(context, userId, oauthProviders, `${field}.oauthProviders`);
    return userId;
  });
}

/** @throws KeyhearthError INVALID_ARGUMENT */
export function checkUserNameFree(tx: Reader, organizationId: string, userName: string, at: string): void {
  if (findUserByName(tx, organizationId, userName) !== undefined) throw nameTaken(at, 'user name', userName);
  checkUnmistakable(at, 'user name', userName, () => listUserRows(tx, organizationId));
}
