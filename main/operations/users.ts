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
import { limits } from './limits.ts';
import { checkDistinct, checkLimit, found, id, ids, name } from './parameters.ts';
import { tagHolder } from './tag-holders.ts';

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

const noneYet = (what: string) =>
  z
    .array(z.unknown())
    .refine(({ length }) => length === 0, `Expected none: ${what} cannot be registered yet`);

const userParams = z.object({
  userName: name,
  userEmail: optionalContact(email),
  userPhoneNumber: optionalContact(phoneNumber),
  apiKeys: z.array(apiKeyParams).max(limits.longLivedApiKeysPerUser + limits.expiringApiKeysPerUser),
  authenticators: noneYet('authenticators'),
  oauthProviders: noneYet('OAuth providers').default([]),
  userTags: ids,
});

const usersOf = <Schema extends z.ZodType>(user: Schema) =>
  z.object({ users: z.array(user).min(1).max(limits.usersPerOrganization) });

/** The specification's intent, which is that of the activity's first version. */
const specified = {
  intent: 'createUsersIntent',
  describe: ({ users }: { readonly users: readonly SpecifiedUser[] }) => ({
    users: users.map(({ userName, userEmail, apiKeys, authenticators, userTags }) => ({
      userName,
      ...(userEmail === undefined ? {} : { userEmail }),
      accessType:
        authenticators.length === 0
          ? 'ACCESS_TYPE_API'
          : apiKeys.length === 0
            ? 'ACCESS_TYPE_WEB'
            : 'ACCESS_TYPE_ALL',
      apiKeys: apiKeys.map(({ apiKeyName, publicKey, expirationSeconds }) => ({
        apiKeyName,
        publicKey,
        ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
      })),
      authenticators,
      userTags,
    })),
  }),
};

interface SpecifiedUser {
  readonly userName: string;
  readonly userEmail?: string | undefined;
  readonly apiKeys: readonly z.output<typeof p256ApiKeyParams>[];
  readonly authenticators: readonly unknown[];
  readonly userTags: readonly string[];
}

export const createUsers = activity({
  path: 'create_users',
  type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
  intent: 'createUsersIntentV4',
  result: 'createUsersResult',
  params: usersOf(userParams),
  specified,
  accepts: {
    ACTIVITY_TYPE_CREATE_USERS_V3: older({
      intent: 'createUsersIntentV3',
      params: usersOf(userParams),
      upgrade: (params) => params,
      specified,
    }),
    ACTIVITY_TYPE_CREATE_USERS_V2: older({
      intent: 'createUsersIntentV2',
      params: usersOf(
        userParams
          .omit({ userPhoneNumber: true, oauthProviders: true })
          .extend({ apiKeys: z.array(p256ApiKeyParams).max(limits.longLivedApiKeysPerUser) }),
      ),
      upgrade: ({ users }) => ({
        users: users.map((user) => ({ ...user, apiKeys: user.apiKeys.map(withP256), oauthProviders: [] })),
      }),
      specified,
    }),
  },
  run(context) {
    const { tx, organizationId, params, random, now } = context;
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
  params: userIdOnly.extend({
    userName: name.optional(),
    userEmail: removableContact(email).optional(),
    userTagIds: ids.optional(),
    userPhoneNumber: removableContact(phoneNumber).optional(),
  }),
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
  params: userIdOnly.extend({ userName: name }),
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
  params: userIdOnly.extend({ userEmail: removableContact(email) }),
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
  params: userIdOnly.extend({ userPhoneNumber: removableContact(phoneNumber) }),
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
  params: z.object({ userIds: ids.min(1) }),
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
  run: ({ tx, organizationId }) => ({
    users: listUserRows(tx, organizationId).map((row) => toUser(tx, row)),
  }),
});

export const getUser = query({
  path: 'get_user',
  params: userIdOnly,
  run: ({ tx, organizationId, params }) => ({
    user: toUser(tx, findUser(tx, organizationId, params.userId)),
  }),
});
