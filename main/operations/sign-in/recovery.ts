/** Recovery: a mail that lets a user who has lost every credential register a new passkey. */
import { z } from 'zod';
import { activity, older } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { deleteApiKey, findApiKey, type ApiKeyRow } from '../../storage/tables/api-keys.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import type { Caller } from '../../lib/caller.ts';
import {
  addAuthenticators,
  authenticatorParams,
  relyingParty,
  verifyAuthenticators,
} from '../credentials/authenticator-registration.ts';
import { forAnother, ownCredentials, thatUser } from '../credentials/authority.ts';
import { emailAddress } from '../users/contacts.ts';
import { mailedUsers, mailKey, makeMailedKey } from './mailed-keys.ts';
import {
  appName,
  emailCustomization,
  namedEmailCustomization,
  senderParams,
  type MessageWishes,
} from './message-texts.ts';
import { orNotFound, id } from '../shared/parameters.ts';
import { uuid, uuids } from '../shared/resources.ts';
import { sessionKeyParams } from './session-keys.ts';
import { checkGate } from './sign-in-gates.ts';

const recoveryParams = z.object({
  email: emailAddress,
  ...sessionKeyParams.pick({ targetPublicKey: true, expirationSeconds: true }).shape,
  ...senderParams.shape,
});

type InitRecovery = z.output<typeof recoveryParams> & Pick<MessageWishes, 'emailCustomization'>;

export const initUserEmailRecovery = activity({
  path: 'init_user_email_recovery',
  summary: 'Mails a user a key, encrypted to the client, that can register a passkey and no more.',
  title: 'Start email recovery of a user',
  type: 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2',
  intent: 'initUserEmailRecoveryIntentV2',
  result: 'initUserEmailRecoveryResult',
  params: recoveryParams
    .extend({ emailCustomization: emailCustomization.extend({ appName }) })
    .transform((params): InitRecovery => params),
  returns: z.object({ userId: uuid }),
  accepts: {
    ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: older({
      intent: 'initUserEmailRecoveryIntent',
      params: recoveryParams.extend({ emailCustomization: namedEmailCustomization.optional() }),
      upgrade: (params) => params,
    }),
  },
  authority: {
    resource: 'RECOVERY',
    action: 'CREATE',
    fromParent: true,
    concerns: mailedUsers,
  },
  stepUp: { for: 'wayIn' },
  prepare: makeMailedKey,
  run(context) {
    const { userId } = mailKey(context, 'recovery');
    return { userId };
  },
});

export const recoverUser = activity({
  path: 'recover_user',
  summary: 'Registers a new passkey for a user who is recovering.',
  title: 'Recover a user',
  type: 'ACTIVITY_TYPE_RECOVER_USER',
  intent: 'recoverUserIntent',
  result: 'recoverUserResult',
  params: z.object({ authenticator: authenticatorParams, userId: id }),
  returns: z.object({ authenticatorId: uuids }),
  authority: {
    resource: 'RECOVERY',
    action: 'CREATE',
    ownCredentials,
    concerns: thatUser,
    byRecoveryKey: true,
    refuses(context) {
      if (recoveryKeyOf(context) !== undefined) forAnother(context);
    },
  },
  stepUp: { for: 'wayIn' },
  gather: relyingParty,
  prepare: ({ gathered, params }) =>
    verifyAuthenticators(gathered, [params.authenticator], 'parameters.authenticator'),
  run(context) {
    const { tx, organizationId, params, prepared } = context;
    const user = orNotFound(
      getUserRow(tx, organizationId, params.userId),
      `unable to find user ${params.userId}`,
    );
    const key = recoveryKeyOf(context);
    // It may have been switched off since the mail.
    if (key !== undefined) checkGate(tx, organizationId, 'recovery', 'email');
    const authenticatorId = addAuthenticators(context, user.id, prepared, 'parameters.authenticator');
    // A recovery key recovers once.
    if (key !== undefined) deleteApiKey(tx, key.id);
    return { authenticatorId };
  },
});

/** @returns the mailed key that the caller proved; undefined for a caller with another credential. */
function recoveryKeyOf({
  tx,
  organizationId,
  caller,
}: {
  readonly tx: Reader;
  readonly organizationId: string;
  readonly caller: Caller;
}): ApiKeyRow | undefined {
  const key = findApiKey(tx, organizationId, caller.stamp.publicKey);
  return key?.credentialType === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256' ? key : undefined;
}
