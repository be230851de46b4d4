/** Users. */
import { z } from 'zod';
import { activity, older, query } from '../activities/define.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import { countUsers, findUserByName, getUserRow, insertUser, listUserRows, toUser } from '../db/users.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { addApiKeys, apiKeyParams, p256ApiKeyParams, withP256 } from './api-keys.ts';
import { limits } from './limits.ts';
import { checkDistinct, checkLimit, found, id, ids, name } from './parameters.ts';

const email = z.email('Expected an email address').max(254);
const phoneNumber = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, 'Expected a phone number in E.164 form, like +15551234567');

/** Contact fields may come empty from clients that always send them: empty means none. */
const optionalContact = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([z.literal('').transform(() => undefined), schema]).optional();

const noneYet = (what: string) =>
  z.array(z.unknown()).max(0, `Expected none: ${what} cannot be registered yet`);

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
      if (findUserByName(tx, organizationId, user.userName)) {
        throw new LatchkeyError(
          'ALREADY_EXISTS',
          `invalid ${at}.userName: user name must be unique, ${JSON.stringify(user.userName)} is taken`,
        );
      }
      if (user.userTags[0] !== undefined) {
        throw new LatchkeyError(
          'NOT_FOUND',
          `invalid ${at}.userTags[0]: there is no user tag ${user.userTags[0]}`,
        );
      }
      const userId = uuidV4(random('user', 16));
      insertUser(
        tx,
        {
          id: userId,
          organizationId,
          name: user.userName,
          email: user.userEmail ?? null,
          phoneNumber: user.userPhoneNumber ?? null,
          root: 0,
          createdAt: now,
          updatedAt: now,
        },
        user.userTags,
      );
      addApiKeys(context, userId, user.apiKeys, `${at}.apiKeys`);
      return userId;
    });
    return { userIds };
  },
});

export const listUsers = query({
  path: 'list_users',
  params: z.object({}),
  run: ({ tx, organizationId }) => ({
    users: listUserRows(tx, organizationId).map((row) => toUser(tx, row)),
  }),
});

export const getUser = query({
  path: 'get_user',
  params: z.object({ userId: id }),
  run: ({ tx, organizationId, params }) => ({
    user: toUser(
      tx,
      found(getUserRow(tx, organizationId, params.userId), `unable to find user ${params.userId}`),
    ),
  }),
});
