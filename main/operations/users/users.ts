/** Users. */
import { z } from 'zod';
import { activity, older, query, type ActivityContext } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { detachAllTags } from '../../storage/tables/tags.ts';
import {
  deleteUser,
  getUserRow,
  listUserRows,
  toUser,
  updateUserRow,
  type UserRow,
} from '../../storage/tables/users.ts';
import { defined } from '../../lib/defined.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { withP256, type p256ApiKeyParams } from '../credentials/api-key-registration.ts';
import {
  browserAuthenticatorParams,
  fromBrowser,
  specifiedAuthenticator,
  type AuthenticatorParams,
  relyingParty,
} from '../credentials/authenticator-registration.ts';
import { thatUser, userShown } from '../credentials/authority.ts';
import { checkCredentialLeft } from '../credentials/credentials.ts';
import { phoneNumber, removableContact } from './contact-fields.ts';
import { emailAddress, hasContact, verifiedAtOf } from './contacts.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, composedName, orNotFound, id, ids } from '../shared/parameters.ts';
import { shownUser, uuid, uuids } from '../shared/resources.ts';
import { tagHolder } from '../tags/tag-holders.ts';
import {
  addUsers,
  checkCredentials,
  checkUserNameFree,
  newUserParams,
  p256ApiKeys,
  provenOauthProviders,
  verifyNewUsers,
} from './user-registration.ts';
import { endSessionKeys } from '../sign-in/session-keys.ts';
import { hasContactThatSignsIn } from '../sign-in/sign-in-gates.ts';
import { readVerificationToken, refused, verificationToken } from '../sign-in/verification-tokens.ts';

interface Contacts {
  readonly userEmail?: string | undefined;
  readonly userPhoneNumber?: string | undefined;
}

const userParams = newUserParams.extend({ userTags: ids });

/** The user has no id yet, whatever the request says. */
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

/** By a contact one signs in with a code; an empty one is none, or takes it away. */
const givesContact = ({ userEmail = '', userPhoneNumber = '' }: Contacts): boolean =>
  userEmail !== '' || userPhoneNumber !== '';

const hasWayIn = (user: z.output<typeof userParams>): boolean =>
  givesContact(user) ||
  [user.apiKeys, user.authenticators, user.oauthProviders].some((credentials) => credentials.length > 0);

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
      ...defined({ userEmail: user.userEmail }),
      accessType:
        user.authenticators.length === 0
          ? 'ACCESS_TYPE_API'
          : user.apiKeys.length === 0
            ? 'ACCESS_TYPE_WEB'
            : 'ACCESS_TYPE_ALL',
      apiKeys: user.apiKeys.map(({ apiKeyName, publicKey, expirationSeconds }) => ({
        apiKeyName,
        publicKey,
        ...defined({ expirationSeconds }),
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
  summary: 'Makes users, with the credentials that they sign in with.',
  title: 'Create users',
  type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
  intent: 'createUsersIntentV4',
  result: 'createUsersResult',
  authority: {
    resource: 'USER',
    action: 'CREATE',
    changesRights: ({ users }) => users.some(({ userTags }) => userTags.length > 0),
    shows: ({ users }) => ({ user_tags: users.flatMap(({ userTags }) => userTags) }),
  },
  stepUp: { for: 'wayIn', when: ({ users }) => users.some(hasWayIn) },
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
    return { userIds: addTaggedUsers(context, params.users, prepared, 'parameters.users') };
  },
});

function addTaggedUsers(
  context: Parameters<typeof addUsers>[0],
  users: readonly (Parameters<typeof addUsers>[1][number] & { readonly userTags: readonly string[] })[],
  verified: Parameters<typeof addUsers>[2],
  at: string,
): string[] {
  const userIds = addUsers(context, users, verified, at);
  userIds.forEach((userId, index) => {
    const { userTags = [] } = users[index] ?? {};
    tagHolder(context, 'TAG_TYPE_USER', userId, userTags, `${at}[${index}].userTags`);
  });
  return userIds;
}

/** Users of programs: they have API keys, and neither passkeys nor other ways to sign in. */
export const createApiOnlyUsers = activity({
  path: 'create_api_only_users',
  summary: 'Makes users who sign in with API keys alone.',
  title: 'Create users with API keys',
  type: 'ACTIVITY_TYPE_CREATE_API_ONLY_USERS',
  intent: 'createApiOnlyUsersIntent',
  result: 'createApiOnlyUsersResult',
  authority: {
    resource: 'USER',
    action: 'CREATE',
    changesRights: ({ apiOnlyUsers }) => apiOnlyUsers.some(({ userTags }) => userTags.length > 0),
    shows: ({ apiOnlyUsers }) => ({ user_tags: apiOnlyUsers.flatMap(({ userTags }) => userTags) }),
  },
  stepUp: {
    for: 'wayIn',
    when: ({ apiOnlyUsers }) => apiOnlyUsers.some((user) => givesContact(user) || user.apiKeys.length > 0),
  },
  params: z.object({
    apiOnlyUsers: z
      .array(
        userParams.pick({ userName: true, userEmail: true, userTags: true }).extend({ apiKeys: p256ApiKeys }),
      )
      .min(1)
      .max(limits.usersPerOrganization),
  }),
  returns: z.object({ userIds: uuids }),
  run(context) {
    const at = 'parameters.apiOnlyUsers';
    const users = context.params.apiOnlyUsers.map((user) => ({
      ...user,
      apiKeys: user.apiKeys.map(withP256),
    }));
    checkCredentials(users, at);
    return { userIds: addTaggedUsers(context, users, [], at) };
  },
});

const userIdOnly = z.object({ userId: id });
const ofThatUser = { resource: 'USER', action: 'UPDATE', shows: userShown, concerns: thatUser } as const;

export const updateUser = activity({
  path: 'update_user',
  summary: 'Changes what is given of a user’s name, contact data and tags, and leaves the rest.',
  title: 'Update a user',
  type: 'ACTIVITY_TYPE_UPDATE_USER',
  intent: 'updateUserIntent',
  result: 'updateUserResult',
  authority: { ...ofThatUser, changesRights: true },
  stepUp: { for: 'wayIn', when: givesContact },
  params: userIdOnly.extend({
    userName: composedName.optional(),
    userEmail: removableContact(emailAddress).optional(),
    userTagIds: ids.optional(),
    userPhoneNumber: removableContact(phoneNumber).optional(),
  }),
  returns: z.object({ userId: uuid }),
  run(context) {
    const { userId, userTagIds } = context.params;
    changeThatUser(context);
    if (userTagIds !== undefined) {
      detachAllTags(context.tx, 'TAG_TYPE_USER', userId);
      tagHolder(context, 'TAG_TYPE_USER', userId, userTagIds, 'parameters.userTagIds');
    }
    return { userId };
  },
});

export const updateUserName = activity({
  path: 'update_user_name',
  summary: 'Gives a user another name.',
  title: 'Rename a user',
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  intent: 'updateUserNameIntent',
  result: 'updateUserNameResult',
  authority: { ...ofThatUser, changesRights: true },
  params: userIdOnly.extend({ userName: composedName }),
  returns: z.object({ userId: uuid }),
  run: changeThatUser,
});

export const updateUserEmail = activity({
  path: 'update_user_email',
  summary: 'Sets a user’s email address; an empty one removes it.',
  title: 'Update a user’s email address',
  type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
  intent: 'updateUserEmailIntent',
  result: 'updateUserEmailResult',
  authority: ofThatUser,
  stepUp: { for: 'wayIn', when: givesContact },
  params: userIdOnly.extend({
    userEmail: removableContact(emailAddress),
    verificationToken: verificationToken.optional(),
  }),
  returns: z.object({ userId: uuid }),
  run: changeThatUser,
});

export const updateUserPhoneNumber = activity({
  path: 'update_user_phone_number',
  summary: 'Sets a user’s phone number; an empty one removes it.',
  title: 'Update a user’s phone number',
  type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
  intent: 'updateUserPhoneNumberIntent',
  result: 'updateUserPhoneNumberResult',
  authority: ofThatUser,
  stepUp: { for: 'wayIn', when: givesContact },
  params: userIdOnly.extend({
    userPhoneNumber: removableContact(phoneNumber),
    verificationToken: verificationToken.optional(),
  }),
  returns: z.object({ userId: uuid }),
  run: changeThatUser,
});

export const deleteUsers = activity({
  path: 'delete_users',
  summary: 'Deletes users and their credentials; a member of the root quorum stays.',
  title: 'Delete users',
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
        throw new KeyhearthError(
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
function changeThatUser(
  context: Pick<
    ActivityContext<UserChange & { readonly userId: string }>,
    'tx' | 'organizationId' | 'now' | 'params'
  >,
): { readonly userId: string } {
  const { tx, organizationId, now, params } = context;
  const { userId, userName, userEmail, userPhoneNumber } = params;
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
  const signedIn = hasContactThatSignsIn(tx, user);
  updateUserRow(tx, { ...next, ...proven(context, params) });
  if (signedIn) checkCredentialLeft(tx, organizationId, userId, now);
  // A mail that went to an address recovers no user who has another by now.
  if (email?.toLowerCase() !== user.email?.toLowerCase()) endSessionKeys(tx, 'recovery', userId);
  return { userId };
}

/** @throws KeyhearthError INVALID_ARGUMENT for a token that does not hold, or is about another contact. */
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
  return orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
}

export const listUsers = query({
  path: 'list_users',
  summary: 'Lists all users.',
  params: z.object({}),
  returns: z.object({ users: z.array(shownUser) }),
  run: ({ tx, organizationId }) => ({
    users: listUserRows(tx, organizationId).map((row) => toUser(tx, row)),
  }),
});

export const getUser = query({
  path: 'get_user',
  summary: 'Shows one user.',
  params: userIdOnly,
  returns: z.object({ user: shownUser }),
  run: ({ tx, organizationId, params }) => ({
    user: toUser(tx, findUser(tx, organizationId, params.userId)),
  }),
});
