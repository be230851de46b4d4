/** `keyhearth users`: the users of the running vault, and new ones. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { count, when } from '../backup/backup.ts';
import { agreeToDelete } from '../requests/agree.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { listings, type TagItem, type UserItem } from '../shared/named.ts';
import { print } from '../shared/output.ts';
import { fields, table, type Table } from '../shared/table.ts';

export interface CreateUserOptions extends ApiOptions {
  readonly name: string;
  readonly email?: string;
  readonly phone?: string;
  /** Ids or names of tags. */
  readonly tag: readonly string[];
}

export const createUsersActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
  result: z.object({ userIds: z.array(z.string()) }),
  options: {
    'parameters.users[0].userName': '--name',
    'parameters.users[0].userEmail': '--email',
    'parameters.users[0].userPhoneNumber': '--phone',
    'parameters.users[0].userTags': '--tag',
  },
  isOfUseLater: true,
});

const renameActivity = activityKind({
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  result: z.object({ userId: z.string() }),
  options: { 'parameters.userName': '<name>' },
  isOfUseLater: true,
});

export const deleteUsersActivity = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_USERS',
  result: z.object({ userIds: z.array(z.string()) }),
  isOfUseLater: true,
});

/** Parameters of `create_users` for a user that cannot sign in yet. */
export const userWithoutKey = (userName: string) => ({
  userName,
  apiKeys: [],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
});

export async function listUsers(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const users = await listings.user.all(api);
  print(
    json,
    { users },
    table(
      ['ID', 'Name', 'Sign-in'],
      users.map((user) => [user.userId, user.userName, signInOf(user)]),
    ),
  );
}

/** With what a user signs in. */
function signInOf({ apiKeys, authenticators, oauthProviders, userEmail, userPhoneNumber }: UserItem): string {
  const ways = [
    ...(apiKeys.length > 0 ? [count(apiKeys.length, 'API key')] : []),
    ...(authenticators.length > 0 ? [count(authenticators.length, 'passkey')] : []),
    ...(oauthProviders.length > 0 ? [count(oauthProviders.length, 'identity provider')] : []),
    ...(userEmail === undefined ? [] : ['email']),
    ...(userPhoneNumber === undefined ? [] : ['phone']),
  ];
  return ways.join(', ') || 'none';
}

/** @param wanted The user's id, how it begins, or the name. */
export async function showUser(config: Config, wanted: string, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const user = await listings.user.find(api, wanted);
  const userTags = await listings.tag.all(api);
  const tags = userTags.filter(({ tagId }) => user.userTags.includes(tagId));
  print(json, { ...user, tags }, userFields(user, tags));
}

const userFields = (user: UserItem, tags: readonly TagItem[]): Table =>
  fields([
    ['User', user.userName],
    ['ID', user.userId],
    ['Created', when(Number(user.createdAt.seconds) * 1000)],
    ['Email', user.userEmail ?? ''],
    ['Phone', user.userPhoneNumber ?? ''],
    ...tags.map(({ tagId, tagName }) => ['Tag', `${tagName} (${tagId})`] as const),
    ...user.apiKeys.map(
      ({ apiKeyName, credential }) => ['API key', `${apiKeyName} (${credential.publicKey})`] as const,
    ),
    ...user.authenticators.map(({ authenticatorName }) => ['Passkey', authenticatorName] as const),
    ...user.oauthProviders.map(({ providerName }) => ['Identity provider', providerName] as const),
  ]);

export async function createUser(config: Config, options: CreateUserOptions): Promise<void> {
  const api = await VaultApi.connect(config, options.apiKey);
  const tags = await listings.tag.findEach(api, options.tag);
  const user = {
    ...userWithoutKey(options.name),
    ...defined({ userEmail: options.email, userPhoneNumber: options.phone }),
    userTags: tags.map(({ tagId }) => tagId),
  };
  const {
    userIds: [userId = ''],
  } = await api.submit(createUsersActivity, { users: [user] });
  print(
    options.json,
    { userId, userName: options.name },
    `Created user ${JSON.stringify(options.name)}: ${userId}\nNext: keyhearth keygen --name NAME --user ${userId}\nThen: keyhearth policies create FILE`,
  );
}

export async function renameUser(
  config: Config,
  wanted: string,
  userName: string,
  { apiKey, json }: ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { userId } = await listings.user.find(api, wanted);
  await api.submit(renameActivity, { userId, userName });
  print(json, { userId, userName }, `Renamed user ${userId} to ${JSON.stringify(userName)}.`);
}

export async function deleteUsers(
  config: Config,
  wanted: readonly string[],
  { apiKey, json, yes }: ApiOptions & { readonly yes?: boolean },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const deleted = await listings.user.findEach(api, wanted);
  await agreeToDelete(deleted.map(({ userName }) => JSON.stringify(userName)).join(', '), yes);
  const userIds = deleted.map(({ userId }) => userId);
  await api.submit(deleteUsersActivity, { userIds });
  print(json, { userIds }, `Deleted ${count(userIds.length, 'user')}.`);
}
