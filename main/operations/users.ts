/** Users. */
import { z } from 'zod';
import { activity, older, query, type ActivityContext } from '../activities/define.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import type { Reader } from '../db/connection.ts';
import { detachAllTags } from '../db/tags.ts';
import {
  countUsers,
  deleteUser,
  findUserByName,
  getUserRow,
  insertUser,
  listUserRows,
  toUser,
  updateUserRow,
  type UserRow,
} from '../db/users.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { addApiKeys, apiKeyParams, p256ApiKeyParams, withP256 } from './api-key-registration.ts';
import {
  addAuthenticators,
  authenticatorParams,
  fromBrowser,
  browserAuthenticatorParams,
  specifiedAuthenticator,
  verifyAuthenticators,
  type AuthenticatorParams,
} from './authenticator-registration.ts';
import { userShown } from './authority.ts';
import { limits } from './limits.ts';
import {
  addOauthProviders,
  oauthProviderParams,
  provenOauthProviderParams,
  verifyOauthProviders,
} from './oauth-provider-registration.ts';
import { checkDistinct, checkLimit, found, id, ids, name } from './parameters.ts';
import { tagHolder } from './tag-holders.ts';
import { shownUser, uuid, uuids } from './resources.ts';

const email = z.email('Expected an email address').max(254);
const phoneNumber = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, 'Expected a phone number in E.164 form, like +15551234567');

/** Contact fields may come empty from clients that always send them: empty means none. */
const optionalContact = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([z.literal('').transform(() => undefined), schema]).optional();

/** Where an empty text removes what is there. */
const removableContact = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([z.literal(''), schema]);

const apiKeys = z.array(apiKeyParams).max(limits.longLivedApiKeysPerUser + limits.expiringApiKeysPerUser);
const p256ApiKeys = z.array(p256ApiKeyParams).max(limits.longLivedApiKeysPerUser);
const authenticators = z.array(authenticatorParams).max(limits.authenticatorsPerUser);
const providersOf = <Schema extends z.ZodType>(provider: Schema) =>
  z.array(provider).max(limits.oauthProvidersPerUser);

const userParams = z.object({
  userName: name,
  userEmail: optionalContact(email),
  userPhoneNumber: optionalContact(phoneNumber),
  apiKeys,
  authenticators,
  oauthProviders: providersOf(oauthProviderParams),
  userTags: ids,
});

/** Whose it will be has no id yet, whatever the request says. */
const newUsersAuthenticator = browserAuthenticatorParams.extend({ userId: z.string().max(64).optional() });

/** As clients sent users before each of the newer credentials was there. */
const earlierUsers = {
  V3: userParams.extend({ oauthProviders: providersOf(provenOauthProviderParams).default([]) }),
  V2: userParams.omit({ userPhoneNumber: true, oauthProviders: true }).extend({ apiKeys: p256ApiKeys }),
  V1: userParams.omit({ userPhoneNumber: true, oauthProviders: true }).extend({
    accessType: z.enum(['ACCESS_TYPE_WEB', 'ACCESS_TYPE_API', 'ACCESS_TYPE_ALL']),
    apiKeys: p256ApiKeys,
    authenticators: z.array(newUsersAuthenticator).max(limits.authenticatorsPerUser),
  }),
} as const;

const usersOf = <Schema extends z.ZodType>(user: Schema) =>
  z.object({ users: z.array(user).min(1).max(limits.usersPerOrganization) });

interface SpecifiedUser {
  readonly userName: string;
  readonly userEmail?: string | undefined;
  readonly apiKeys: readonly z.output<typeof p256ApiKeyParams>[];
  readonly authenticators: readonly AuthenticatorParams[];
  readonly userTags: readonly string[];
}

/** The specification's intent, which is that of the activity's first version. */
const specified = {
  intent: 'createUsersIntent',
  describe: (
    { users }: { readonly users: readonly SpecifiedUser[] },
    result: Readonly<Record<string, unknown>> | undefined,
  ) => ({
    users: users.map((user, index) => ({
      userName: user.userName,
      ...(user.userEmail === undefined ? {} : { userEmail: user.userEmail }),
      accessType:
        user.authenticators.length === 0
          ? 'ACCESS_TYPE_API'
          : user.apiKeys.length === 0
            ? 'ACCESS_TYPE_WEB'
            : 'ACCESS_TYPE_ALL',
      apiKeys: user.apiKeys.map(({ apiKeyName, publicKey, expirationSeconds }) => ({
        apiKeyName,
        publicKey,
        ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
      })),
      authenticators: user.authenticators.map((authenticator) =>
        specifiedAuthenticator(
          authenticator,
          (result?.['userIds'] as readonly string[] | undefined)?.[index],
        ),
      ),
      userTags: user.userTags,
    })),
  }),
};

export const createUsers = activity({
  path: 'create_users',
  type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
  intent: 'createUsersIntentV4',
  result: 'createUsersResult',
  authority: { resource: 'USER', action: 'CREATE' },
  params: usersOf(userParams),
  specified,
  returns: z.object({ userIds: uuids }),
  accepts: {
    ACTIVITY_TYPE_CREATE_USERS_V3: older({
      intent: 'createUsersIntentV3',
      params: usersOf(earlierUsers.V3),
      upgrade: (params) => params,
      specified,
    }),
    ACTIVITY_TYPE_CREATE_USERS_V2: older({
      intent: 'createUsersIntentV2',
      params: usersOf(earlierUsers.V2),
      upgrade: ({ users }) => ({
        users: users.map((user) => ({ ...user, apiKeys: user.apiKeys.map(withP256), oauthProviders: [] })),
      }),
      specified,
    }),
    ACTIVITY_TYPE_CREATE_USERS: older({
      intent: 'createUsersIntent',
      params: usersOf(earlierUsers.V1),
      upgrade: ({ users }) => ({
        users: users.map(({ accessType: _derived, ...user }) => ({
          ...user,
          apiKeys: user.apiKeys.map(withP256),
          authenticators: user.authenticators.map(fromBrowser),
          oauthProviders: [],
        })),
      }),
    }),
  },
  prepare: async (context) => {
    const prepared = [];
    // One after another, so that the first that fails is the one that is named.
    for (const [index, user] of context.params.users.entries()) {
      const at = `parameters.users[${index}]`;
      prepared.push({
        authenticators: await verifyAuthenticators(context, user.authenticators, `${at}.authenticators`),
        oauthProviders: await verifyOauthProviders(context, user.oauthProviders, `${at}.oauthProviders`),
      });
    }
    return prepared;
  },
  run(context) {
    const { tx, organizationId, params, prepared, random, now } = context;
    const names = params.users.map(({ userName }) => userName);
    checkDistinct('parameters.users', names);
    checkLimit('users', countUsers(tx, organizationId), names.length, limits.usersPerOrganization);
    const userIds = params.users.map((user, index) => {
      const at = `parameters.users[${String(index)}]`;
      checkNameFree(tx, organizationId, user.userName, `${at}.userName`);
      const userId = uuidV4(random('user', 16));
      insertUser(tx, {
        id: userId,
        organizationId,
        name: user.userName,
        email: user.userEmail ?? null,
        phoneNumber: user.userPhoneNumber ?? null,
        root: 0,
        createdAt: now,
        updatedAt: now,
      });
      tagHolder(context, 'TAG_TYPE_USER', userId, user.userTags, `${at}.userTags`);
      addApiKeys(context, userId, user.apiKeys, `${at}.apiKeys`);
      const { authenticators, oauthProviders } = prepared[index] ?? {
        authenticators: [],
        oauthProviders: [],
      };
      addAuthenticators(context, userId, authenticators, `${at}.authenticators`);
      addOauthProviders(context, userId, oauthProviders, `${at}.oauthProviders`);
      return userId;
    });
    return { userIds };
  },
});

const userIdOnly = z.object({ userId: id });

export const updateUser = activity({
  path: 'update_user',
  type: 'ACTIVITY_TYPE_UPDATE_USER',
  intent: 'updateUserIntent',
  result: 'updateUserResult',
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown },
  params: userIdOnly.extend({
    userName: name.optional(),
    userEmail: removableContact(email).optional(),
    userTagIds: ids.optional(),
    userPhoneNumber: removableContact(phoneNumber).optional(),
  }),
  returns: z.object({ userId: uuid }),
  run(context) {
    const { userId, userTagIds, ...change } = context.params;
    changeUser(context, userId, change);
    if (userTagIds !== undefined) {
      detachAllTags(context.tx, 'TAG_TYPE_USER', userId);
      tagHolder(context, 'TAG_TYPE_USER', userId, userTagIds, 'parameters.userTagIds');
    }
    return { userId };
  },
});

export const updateUserName = activity({
  path: 'update_user_name',
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  intent: 'updateUserNameIntent',
  result: 'updateUserNameResult',
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown },
  params: userIdOnly.extend({ userName: name }),
  returns: z.object({ userId: uuid }),
  run(context) {
    const { userId, ...change } = context.params;
    changeUser(context, userId, change);
    return { userId };
  },
});

export const updateUserEmail = activity({
  path: 'update_user_email',
  type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
  intent: 'updateUserEmailIntent',
  result: 'updateUserEmailResult',
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown },
  params: userIdOnly.extend({ userEmail: removableContact(email) }),
  returns: z.object({ userId: uuid }),
  run(context) {
    const { userId, ...change } = context.params;
    changeUser(context, userId, change);
    return { userId };
  },
});

export const updateUserPhoneNumber = activity({
  path: 'update_user_phone_number',
  type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
  intent: 'updateUserPhoneNumberIntent',
  result: 'updateUserPhoneNumberResult',
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown },
  params: userIdOnly.extend({ userPhoneNumber: removableContact(phoneNumber) }),
  returns: z.object({ userId: uuid }),
  run(context) {
    const { userId, ...change } = context.params;
    changeUser(context, userId, change);
    return { userId };
  },
});

export const deleteUsers = activity({
  path: 'delete_users',
  type: 'ACTIVITY_TYPE_DELETE_USERS',
  intent: 'deleteUsersIntent',
  result: 'deleteUsersResult',
  authority: { resource: 'USER', action: 'DELETE', shows: ({ userIds }) => ({ user_ids: userIds }) },
  params: z.object({ userIds: ids.min(1) }),
  returns: z.object({ userIds: uuids }),
  run({ tx, organizationId, params }) {
    checkDistinct('parameters.userIds', params.userIds);
    for (const userId of params.userIds) {
      const user = findUser(tx, organizationId, userId);
      if (user.root === 1) {
        throw new LatchkeyError(
          'INVALID_ARGUMENT',
          `quorum users missing: ${userId} is a member of the root quorum and cannot be deleted`,
        );
      }
      deleteUser(tx, user.id);
    }
    return { userIds: params.userIds };
  },
});

interface UserChange {
  readonly userName?: string | undefined;
  readonly userEmail?: string | undefined;
  readonly userPhoneNumber?: string | undefined;
}

/** Changes what is given; an empty contact field removes it. */
function changeUser(
  { tx, organizationId, now }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'now'>,
  userId: string,
  { userName, userEmail, userPhoneNumber }: UserChange,
): void {
  const user = findUser(tx, organizationId, userId);
  if (userName !== undefined && userName !== user.name) {
    checkNameFree(tx, organizationId, userName, 'parameters.userName');
  }
  updateUserRow(tx, {
    ...user,
    name: userName ?? user.name,
    email: changed(userEmail, user.email),
    phoneNumber: changed(userPhoneNumber, user.phoneNumber),
    updatedAt: now,
  });
}

const changed = (given: string | undefined, present: string | null): string | null =>
  given === undefined ? present : given === '' ? null : given;

function checkNameFree(tx: Reader, organizationId: string, userName: string, at: string): void {
  if (findUserByName(tx, organizationId, userName) === undefined) return;
  throw new LatchkeyError(
    'ALREADY_EXISTS',
    `invalid ${at}: user name must be unique, ${JSON.stringify(userName)} is taken`,
  );
}

function findUser(tx: Reader, organizationId: string, userId: string): UserRow {
  return found(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
}

export const listUsers = query({
  path: 'list_users',
  params: z.object({}),
  returns: z.object({ users: z.array(shownUser) }),
  run: ({ tx, organizationId }) => ({
    users: listUserRows(tx, organizationId).map((row) => toUser(tx, row)),
  }),
});

export const getUser = query({
  path: 'get_user',
  params: userIdOnly,
  returns: z.object({ user: shownUser }),
  run: ({ tx, organizationId, params }) => ({
    user: toUser(tx, findUser(tx, organizationId, params.userId)),
  }),
});
