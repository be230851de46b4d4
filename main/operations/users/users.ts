/** Users. */
import { z } from 'zod';
import { activity, older, query, type ActivityContext } from '../activities/define.ts';
import type { Reader } from '../db/connection.ts';
import { detachAllTags } from '../db/tags.ts';
import { deleteUser, getUserRow, listUserRows, toUser, updateUserRow, type UserRow } from '../db/users.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { withP256, type p256ApiKeyParams } from './api-key-registration.ts';
import {
  browserAuthenticatorParams,
  fromBrowser,
  specifiedAuthenticator,
  type AuthenticatorParams,
  relyingParty,
} from './authenticator-registration.ts';
import { thatUser, userShown } from './authority.ts';
import { phoneNumber, removableContact } from './contact-fields.ts';
import { emailAddress, hasContact, verifiedAtOf } from './contacts.ts';
import { limits } from './limits.ts';
import { checkDistinct, found, id, ids, name } from './parameters.ts';
import { shownUser, uuid, uuids } from './resources.ts';
import { tagHolder } from './tag-holders.ts';
import {
  addUsers,
  checkUserNameFree,
  newUserParams,
  p256ApiKeys,
  provenOauthProviders,
  verifyNewUsers,
} from './user-registration.ts';
import { readVerificationToken, refused, verificationToken } from './verification-tokens.ts';

const userParams = newUserParams.extend({ userTags: ids });

/** Whose it will be has no id yet, whatever the request says. */
const newUsersAuthenticator = browserAuthenticatorParams.extend({ userId: z.string().max(64).optional() });

/** As clients sent users before each of the newer credentials was there. */
const earlierUsers = {
  V3: userParams.extend({ oauthProviders: provenOauthProviders.default([]) }),
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
  authority: {
    resource: 'USER',
    action: 'CREATE',
    shows: ({ users }) => ({ user_tags: users.flatMap(({ userTags }) => userTags) }),
  },
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
  gather: relyingParty,
  prepare: (context) => verifyNewUsers(context, context.params.users, 'parameters.users'),
  run(context) {
    const { params, prepared } = context;
    const userIds = addUsers(context, params.users, prepared, 'parameters.users');
    userIds.forEach((userId, index) => {
      const { userTags = [] } = params.users[index] ?? {};
      tagHolder(context, 'TAG_TYPE_USER', userId, userTags, `parameters.users[${index}].userTags`);
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
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown, concerns: thatUser },
  params: userIdOnly.extend({
    userName: name.optional(),
    userEmail: removableContact(emailAddress).optional(),
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
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown, concerns: thatUser },
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
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown, concerns: thatUser },
  params: userIdOnly.extend({
    userEmail: removableContact(emailAddress),
    verificationToken: verificationToken.optional(),
  }),
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
  authority: { resource: 'USER', action: 'UPDATE', shows: userShown, concerns: thatUser },
  params: userIdOnly.extend({
    userPhoneNumber: removableContact(phoneNumber),
    verificationToken: verificationToken.optional(),
  }),
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
  authority: {
    resource: 'USER',
    action: 'DELETE',
    shows: ({ userIds }) => ({ user_ids: userIds }),
    concerns: ({ params: { userIds } }) => userIds,
  },
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
  /** Proves the contact that is given. */
  readonly verificationToken?: string | undefined;
}

/** Changes what is given; an empty contact field removes it. A contact that is given is proven by its token, or not. */
function changeUser(
  context: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'now'>,
  userId: string,
  change: UserChange,
): void {
  const { tx, organizationId, now } = context;
  const { userName, userEmail, userPhoneNumber } = change;
  const user = findUser(tx, organizationId, userId);
  if (userName !== undefined && userName !== user.name) {
    checkUserNameFree(tx, organizationId, userName, 'parameters.userName');
  }
  const email = changed(userEmail, user.email);
  const phone = changed(userPhoneNumber, user.phoneNumber);
  const next: UserRow = {
    ...user,
    name: userName ?? user.name,
    email,
    emailVerifiedAt: email === user.email ? user.emailVerifiedAt : null,
    phoneNumber: phone,
    phoneNumberVerifiedAt: phone === user.phoneNumber ? user.phoneNumberVerifiedAt : null,
    updatedAt: now,
  };
  updateUserRow(tx, { ...next, ...proven(context, change) });
}

/** @throws LatchkeyError INVALID_ARGUMENT for a token that does not hold, or is about another contact. */
function proven(
  { tx, organizationId, now }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'now'>,
  { verificationToken: token, userEmail, userPhoneNumber }: UserChange,
): Partial<Pick<UserRow, 'emailVerifiedAt' | 'phoneNumberVerifiedAt'>> {
  if (token === undefined) return {};
  const at = 'parameters.verificationToken';
  const { contact } = readVerificationToken(tx, organizationId, now, at, token);
  if (hasContact({ email: userEmail, phoneNumber: userPhoneNumber }, contact)) {
    return { [verifiedAtOf(contact)]: now };
  }
  throw refused(at, 'the verification token is about another contact than the one that is set');
}

const changed = (given: string | undefined, present: string | null): string | null =>
  given === undefined ? present : given === '' ? null : given;

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
