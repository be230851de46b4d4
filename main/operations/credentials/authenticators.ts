/** Authenticators: passkeys and security keys. */
import { z } from 'zod';
import { activity, older, query } from '../../activities/define.ts';
import {
  deleteAuthenticator,
  getAuthenticatorRow,
  listAuthenticatorsOfUser,
  toAuthenticator,
} from '../../storage/tables/authenticators.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import {
  addAuthenticators,
  authenticatorParams,
  browserAuthenticatorParams,
  fromBrowser,
  specifiedAuthenticator,
  relyingParty,
  verifyAuthenticators,
} from './authenticator-registration.ts';
import { ownCredentials, thatUser, userShown } from './authority.ts';
import { checkCredentialLeft } from './credentials.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, orNotFound, id, ids } from '../shared/parameters.ts';
import { shownAuthenticator, uuids } from '../shared/resources.ts';

const several = <Schema extends z.ZodType>(authenticator: Schema) =>
  z.array(authenticator).min(1).max(limits.authenticatorsPerUser);

export const createAuthenticators = activity({
  path: 'create_authenticators',
  summary: 'Registers passkeys for a user, each with the attestation of its making.',
  title: 'Register passkeys',
  type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
  intent: 'createAuthenticatorsIntentV2',
  result: 'createAuthenticatorsResult',
  authority: {
    resource: 'CREDENTIAL',
    action: 'CREATE',
    shows: userShown,
    ownCredentials,
    concerns: thatUser,
  },
  stepUp: { for: 'wayIn' },
  params: z.object({ authenticators: several(authenticatorParams), userId: id }),
  specified: {
    intent: 'createAuthenticatorsIntent',
    describe: ({ authenticators, userId }) => ({
      authenticators: authenticators.map((authenticator) => specifiedAuthenticator(authenticator, userId)),
      userId,
    }),
  },
  returns: z.object({ authenticatorIds: uuids }),
  accepts: {
    ACTIVITY_TYPE_CREATE_AUTHENTICATORS: older({
      intent: 'createAuthenticatorsIntent',
      params: z
        .object({ authenticators: several(browserAuthenticatorParams), userId: id })
        .superRefine(({ authenticators, userId }, context) => {
          for (const [index, authenticator] of authenticators.entries()) {
            if (authenticator.userId === userId) continue;
            const path = ['authenticators', index, 'userId'];
            context.addIssue({
              code: 'custom',
              path,
              message: `Expected that of parameters.userId, ${userId}`,
            });
          }
        }),
      upgrade: ({ authenticators, userId }) => ({ authenticators: authenticators.map(fromBrowser), userId }),
    }),
  },
  gather: relyingParty,
  prepare: ({ gathered, params }) =>
    verifyAuthenticators(gathered, params.authenticators, 'parameters.authenticators'),
  run(context) {
    const { tx, organizationId, params, prepared } = context;
    const user = orNotFound(
      getUserRow(tx, organizationId, params.userId),
      `unable to find user ${params.userId}`,
    );
    return { authenticatorIds: addAuthenticators(context, user.id, prepared, 'parameters.authenticators') };
  },
});

export const deleteAuthenticators = activity({
  path: 'delete_authenticators',
  summary: 'Deletes passkeys of a user, who keeps at least one way in.',
  title: 'Delete passkeys',
  type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
  intent: 'deleteAuthenticatorsIntent',
  result: 'deleteAuthenticatorsResult',
  authority: {
    resource: 'CREDENTIAL',
    action: 'DELETE',
    shows: userShown,
    ownCredentials,
    concerns: thatUser,
  },
  params: z.object({ userId: id, authenticatorIds: ids.min(1) }),
  returns: z.object({ authenticatorIds: uuids }),
  run({ tx, organizationId, params, now }) {
    const { userId, authenticatorIds } = params;
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    checkDistinct('parameters.authenticatorIds', authenticatorIds);
    const present = listAuthenticatorsOfUser(tx, userId).map((row) => row.id);
    for (const authenticatorId of authenticatorIds) {
      orNotFound(
        present.find((candidate) => candidate === authenticatorId),
        `webauthn authenticator not found: user ${userId} has no ${authenticatorId}`,
      );
      deleteAuthenticator(tx, authenticatorId);
    }
    checkCredentialLeft(tx, organizationId, userId, now);
    return { authenticatorIds };
  },
});

export const getAuthenticator = query({
  path: 'get_authenticator',
  summary: 'Shows one passkey.',
  params: z.object({ authenticatorId: id }),
  returns: z.object({ authenticator: shownAuthenticator }),
  run: ({ tx, organizationId, params: { authenticatorId } }) => ({
    authenticator: toAuthenticator(
      orNotFound(
        getAuthenticatorRow(tx, organizationId, authenticatorId),
        `webauthn authenticator not found in organization: ${authenticatorId}`,
      ),
    ),
  }),
});

export const getAuthenticators = query({
  path: 'get_authenticators',
  summary: 'Lists the passkeys of a user.',
  params: z.object({ userId: id }),
  returns: z.object({ authenticators: z.array(shownAuthenticator) }),
  run({ tx, organizationId, params: { userId } }) {
    orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    return { authenticators: listAuthenticatorsOfUser(tx, userId).map(toAuthenticator) };
  },
});
