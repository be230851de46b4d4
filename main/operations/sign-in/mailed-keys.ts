/** Keys that are mailed to a user, encrypted to the client. */
import type { ActivityContext, Authority, PrepareContext } from '../../activities/define.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { countContact, holderOf, holdersOf, tooManyRequests } from '../users/contacts.ts';
import { credentialMessage, type MessageWishes } from './message-texts.ts';
import {
  addSessionKey,
  makeSessionKey,
  sessionEnd,
  type SessionKey,
  type SessionWishes,
} from './session-keys.ts';
import { checkGate } from './sign-in-gates.ts';

interface MailedKeyParams extends SessionWishes, MessageWishes {
  readonly email: string;
  readonly targetPublicKey: string;
}

/** By what the mail is for: the switch that allows it, and the kind of the key. */
const purposes = {
  signIn: { gate: 'credential', kind: 'email', wishes: {} },
  // The mail before this one no longer recovers anything.
  recovery: { gate: 'recovery', kind: 'recovery', wishes: { invalidateExisting: true } },
} as const;

/** As `concerns`: the users of the address. */
export const mailedUsers: NonNullable<Authority<MailedKeyParams>['concerns']> = ({
  tx,
  organizationId,
  params: { email },
}) => holdersOf(tx, organizationId, { channel: 'email', address: email });

/** As `prepare`. */
export const makeMailedKey = ({ params, random }: PrepareContext<MailedKeyParams>): Promise<SessionKey> =>
  makeSessionKey(random, params.targetPublicKey);

/**
 * Registers the key for the user of the address, and mails it.
 * @throws KeyhearthError where the organization allows no such mail, no user has the address, or it had too many.
 */
export function mailKey(
  context: ActivityContext<MailedKeyParams, SessionKey>,
  purpose: keyof typeof purposes,
): { readonly userId: string; readonly apiKeyId: string } {
  const { tx, organizationId, params, prepared, now, post } = context;
  const { gate, kind, wishes } = purposes[purpose];
  const contact = { channel: 'email', address: params.email } as const;
  checkGate(tx, organizationId, gate, 'email');
  const { id: userId } = holderOf(tx, organizationId, contact);
  countContact(context, contact, undefined, tooManyRequests);
  const apiKeyId = addSessionKey(context, kind, userId, prepared, { ...params, ...wishes });
  post(
    credentialMessage({
      purpose,
      bundle: prepared.credentialBundle,
      to: params.email,
      organizationName: getOrganization(tx, organizationId)?.name ?? '',
      now,
      expiresAt: sessionEnd(params, now),
      wishes: params,
    }),
  );
  return { userId, apiKeyId };
}
