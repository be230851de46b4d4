/** Signing up: a new organization's user who has shown to read what is sent to an email address or phone number. */
import type { z } from 'zod';
import type { Writer } from '../../storage/connection.ts';
import { findUserByName, updateUserRow } from '../../storage/tables/users.ts';
import { hasContact, verifiedAtOf } from '../users/contacts.ts';
import type { NewUserParams } from '../users/user-registration.ts';
import {
  checkClientSignature,
  readVerificationToken,
  refused,
  type clientSignature as clientSignatureParams,
} from '../sign-in/verification-tokens.ts';

interface SignUp {
  readonly rootUsers: readonly NewUserParams[];
  readonly verificationToken?: string | undefined;
  readonly clientSignature?: z.output<typeof clientSignatureParams> | undefined;
}

const tokenAt = 'parameters.verificationToken';
const signatureAt = 'parameters.clientSignature';

/**
 * Marks the contact of a verification token as proven by its user. A token that is bound to a client's key
 * needs that client's signature over the user, so a stolen token cannot sign up.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field that does not fit.
 */
export function proveContact(
  context: {
    readonly tx: Writer;
    /** The organization that issued the token. */
    readonly parentId: string;
    readonly organizationId: string;
    readonly now: number;
  },
  { rootUsers, verificationToken, clientSignature }: SignUp,
): void {
  const { tx, parentId, organizationId, now } = context;
  if (verificationToken === undefined) {
    if (clientSignature === undefined) return;
    throw refused(signatureAt, `expected ${tokenAt} too, which it is about`);
  }
  const token = readVerificationToken(tx, parentId, now, tokenAt, verificationToken);
  const user = rootUsers.find(({ userEmail, userPhoneNumber }) =>
    hasContact({ email: userEmail, phoneNumber: userPhoneNumber }, token.contact),
  );
  if (user === undefined) {
    throw refused(
      tokenAt,
      'none of parameters.rootUsers has the contact that the verification token is about',
    );
  }
  if (token.publicKey === undefined) {
    if (clientSignature !== undefined) {
      throw refused(signatureAt, 'the verification token is bound to no key that could sign');
    }
  } else if (clientSignature === undefined) {
    throw refused(signatureAt, 'the verification token is bound to a key: expected a signature by it');
  } else {
    const usage = 'USAGE_TYPE_SIGNUP';
    const said = checkClientSignature(clientSignature, signatureAt, token.publicKey, token, usage);
    // Earlier clients call it so.
    checkSignedUser(said['signupV2'] ?? said['signup'], user);
  }
  const row = findUserByName(tx, organizationId, user.userName);
  if (row === undefined) throw new Error(`the new organization has no user ${user.userName}`);
  updateUserRow(tx, { ...row, [verifiedAtOf(token.contact)]: now });
}

function checkSignedUser(signed: unknown, user: NewUserParams): void {
  const expected = {
    apiKeys: user.apiKeys,
    authenticators: user.authenticators,
    oauthProviders: user.oauthProviders,
    email: user.userEmail,
    phoneNumber: user.userPhoneNumber,
  };
  if (isRecord(signed) && canonical(signed) === canonical(expected)) return;
  throw refused(
    `${signatureAt}.message`,
    'expected "signupV2" with apiKeys, authenticators, oauthProviders, email and phoneNumber as the root user has them',
  );
}

/** No user is as deep; a stranger's text may be deeper than a stack goes. */
const deepest = 16;

/** One text for what means the same: unset fields left out, members sorted, numbers as text. */
function canonical(value: unknown, depth = deepest): string {
  if (depth === 0) return 'deeper';
  if (Array.isArray(value)) return `[${value.map((element) => canonical(element, depth - 1)).join()}]`;
  if (!isRecord(value)) return JSON.stringify(String(value));
  const members = Object.entries(value)
    .filter(([, member]) => !isUnset(member))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member, depth - 1)}`);
  return `{${members.join()}}`;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isUnset = (member: unknown): boolean =>
  member === undefined || member === null || member === '' || (Array.isArray(member) && member.length === 0);
