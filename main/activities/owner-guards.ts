/**
 * Which requests of the owner's window are carried out only for somebody who has just shown a secret of the owner's: what
 * takes a secret out of the vault, and what leaves somebody a way in, or makes one wider. Requests that are stamped by
 * other keys do not come here: they are for policies to decide.
 *
 * Policies, tags and sub-organizations are not among them. A policy lets somebody do more whose way in was vouched for, and
 * stays to be seen and taken back by the window; a sub-organization begins empty, and its users reach nothing beside it.
 */
import { findActivityByFingerprint } from '../db/activities.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { Engine } from './engine.ts';
import { operationOf } from './stored.ts';
import { understand } from './understand.ts';

type Guarded = 'export' | 'wayIn';

interface Guard {
  readonly as: Guarded;
  /** Of the newest version's parameters; it is guarded whatever they are without. */
  readonly when?: (params: never) => boolean;
}

interface User {
  readonly userEmail?: string | undefined;
  readonly userPhoneNumber?: string | undefined;
}

interface NewUser extends User {
  readonly apiKeys: readonly unknown[];
  readonly authenticators: readonly unknown[];
  readonly oauthProviders: readonly unknown[];
}

/** By a contact one signs in with a code; an empty one is none, or takes it away. */
const hasContact = ({ userEmail = '', userPhoneNumber = '' }: User): boolean =>
  userEmail !== '' || userPhoneNumber !== '';

const hasWayIn = (user: NewUser): boolean =>
  hasContact(user) ||
  [user.apiKeys, user.authenticators, user.oauthProviders].some((credentials) => credentials.length > 0);

/** Where passkeys may be used; without it, on every page of the relying party. */
const passkeyPages = 'FEATURE_NAME_WEBAUTHN_ORIGINS';

const exported: Guard = { as: 'export' };
const wayIn: Guard = { as: 'wayIn' };

/** By the last part of an operation's path. */
export const ownerGuards: Readonly<Record<string, Guard>> = {
  export_private_key: exported,
  export_wallet: exported,
  export_wallet_account: exported,

  create_api_keys: wayIn,
  create_authenticators: wayIn,
  create_oauth_providers: wayIn,
  create_users: { as: 'wayIn', when: ({ users }: { users: readonly NewUser[] }) => users.some(hasWayIn) },
  update_user: { as: 'wayIn', when: hasContact },
  update_user_email: { as: 'wayIn', when: hasContact },
  update_user_phone_number: { as: 'wayIn', when: hasContact },

  // Each leaves a credential behind, if for a while.
  create_read_only_session: wayIn,
  create_read_write_session: wayIn,
  email_auth: wayIn,
  init_user_email_recovery: wayIn,
  oauth: wayIn,
  oauth_login: wayIn,
  otp_auth: wayIn,
  otp_login: wayIn,
  recover_user: wayIn,
  stamp_login: wayIn,

  // Who is the organization itself, and by which ways its people sign in.
  update_root_quorum: wayIn,
  set_organization_feature: {
    as: 'wayIn',
    when: ({ name }: { name: string }) => name !== 'FEATURE_NAME_WEBHOOK',
  },
  remove_organization_feature: {
    as: 'wayIn',
    when: ({ name }: { name: string }) => name === passkeyPages,
  },
};

/**
 * What of the owner's a request needs. An approval needs what the activity needs that it is about: with it the owner does
 * what somebody else asked for.
 * @param path What follows `/public/v1/`.
 * @returns undefined where it needs nothing, and for a request that is refused for itself.
 */
export function guardOf(
  { operations, units }: Pick<Engine, 'operations' | 'units'>,
  path: string,
  body: unknown,
): Guarded | undefined {
  const operation = operations.get(path);
  if (operation === undefined || operation.kind === 'query') return undefined;
  if (operation.vote === undefined && !(operation.path in ownerGuards)) return undefined;
  if (operation.vote === 'VOTE_SELECTION_REJECTED') return undefined;
  let understood: ReturnType<typeof understand>;
  try {
    understood = understand(operation, body);
  } catch (error) {
    if (error instanceof LatchkeyError) return undefined;
    throw error;
  }
  if (operation.vote === undefined) return needed(operation.path, understood.params);
  const { fingerprint } = understood.params as { readonly fingerprint: string };
  const target = units.read((tx) => findActivityByFingerprint(tx, understood.organizationId, fingerprint));
  if (target === undefined) return undefined;
  const waiting = operationOf(operations, target);
  return needed(waiting.operation.path, waiting.activity.params);
}

function needed(path: string, params: unknown): Guarded | undefined {
  const guard = ownerGuards[path];
  // The operation's schema has checked what `when` is given.
  const isMet = guard?.when as ((params: unknown) => boolean) | undefined;
  return isMet === undefined || isMet(params) ? guard?.as : undefined;
}
