/** Email addresses and phone numbers: in requests, of users, and how often they are used. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { encodeUtf8, toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import {
  countContactRequests,
  deleteContactRequests,
  insertContactRequest,
  type ContactRequestRow,
} from '../../storage/tables/contact-requests.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import { listUsersByContact } from '../../storage/tables/contacts.ts';
import { updateUserRow, type UserRow } from '../../storage/tables/users.ts';
import { latest } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { limits } from '../shared/limits.ts';

/** The ways that a message takes, as the API names them. */
export const channels = { OTP_TYPE_EMAIL: 'email', OTP_TYPE_SMS: 'sms' } as const;

export type OtpType = keyof typeof channels;
export type Channel = (typeof channels)[OtpType];

export interface Contact {
  readonly channel: Channel;
  /** An email address, or a phone number in E.164. */
  readonly address: string;
}

const longestAddress = 254;

export const emailAddress = z.email('Expected an email address').max(longestAddress);

/** People write phone numbers with signs between the digits. */
const withoutSeparators = (text: string): string => text.replace(/[\s().-]/g, '');

const forms: Readonly<Record<Channel, (text: string) => boolean>> = {
  email: (text) => emailAddress.safeParse(text).success,
  sms: (text) => /^\+[1-9][0-9]{6,14}$/.test(withoutSeparators(text)),
};

const expected =
  'Expected an email address, or for OTP_TYPE_SMS a phone number in E.164 form, like +15551234567';

const otpTypes = Object.keys(channels) as [OtpType, ...OtpType[]];

/** A contact as requests name one; `isContact` holds the two together. */
export const contactParams = {
  otpType: z.enum(otpTypes),
  contact: z
    .string()
    .max(longestAddress)
    .refine((text) => forms.email(text) || forms.sms(text), expected),
};

interface NamedContact {
  readonly otpType: OtpType;
  readonly contact: string;
}

export const isContact = ({ otpType, contact }: NamedContact): boolean => forms[channels[otpType]](contact);

export const contactProblem = { error: expected, path: ['contact'] };

/** One text for each contact, however it is written. */
export function contactOf({ otpType, contact }: NamedContact): Contact {
  const channel = channels[otpType];
  return { channel, address: channel === 'sms' ? withoutSeparators(contact) : contact };
}

/** The contacts that the real API has for tests: nothing is sent to them, and their code is known. */
const sandboxContacts: Readonly<Record<Channel, string>> = { email: 'user@example.com', sms: '+19999999999' };
export const sandboxCode = '000000';

export const isSandboxContact = ({ channel, address }: Contact): boolean =>
  address.toLowerCase() === sandboxContacts[channel];

/** The column that records the proof of a contact. */
export const verifiedAtOf = ({ channel }: Contact): 'emailVerifiedAt' | 'phoneNumberVerifiedAt' =>
  channel === 'email' ? 'emailVerifiedAt' : 'phoneNumberVerifiedAt';

export const hasContact = (
  { email, phoneNumber }: Partial<Readonly<Record<'email' | 'phoneNumber', string | null | undefined>>>,
  { channel, address }: Contact,
): boolean => (channel === 'email' ? email : phoneNumber)?.toLowerCase() === address.toLowerCase();

/** Lists the ids of all users who have a contact, proven or not. */
export const holdersOf = (tx: Reader, organizationId: string, { channel, address }: Contact): string[] =>
  listUsersByContact(tx, organizationId, channel, address).map(({ id }) => id);

/**
 * Finds the user of a contact. A user who is given the contact of another does not take over its sign-ins: a member of
 * the root quorum comes first, then a user who has proven the contact.
 * @throws KeyhearthError NOT_FOUND, or INVALID_ARGUMENT if several have it with equal claims.
 */
export function holderOf(tx: Reader, organizationId: string, contact: Contact): UserRow {
  const { channel, address } = contact;
  const claim = (user: UserRow): number => 2 * user.root + (user[verifiedAtOf(contact)] === null ? 0 : 1);
  const holders = listUsersByContact(tx, organizationId, channel, address);
  const [user, another] = holders.toSorted((one, other) => claim(other) - claim(one));
  const what = channel === 'email' ? 'email address' : 'phone number';
  if (user === undefined) {
    throw new KeyhearthError('NOT_FOUND', `unable to find user: nobody in the organization has this ${what}`);
  }
  if (another === undefined || claim(user) > claim(another)) return user;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `more than one user of the organization has this ${what}: it does not say who is meant`,
  );
}

/** Notes that a user has shown to have a contact, for as long as it is the user's. */
export function markVerified(tx: Writer, user: UserRow, contact: Contact, now: number): void {
  const field = verifiedAtOf(contact);
  if (user[field] === null) updateUserRow(tx, { ...user, [field]: now });
}

const windowMs = limits.contactWindowSeconds * 1000;

/**
 * Counts a request that has something sent to a contact.
 * @param identifier Whom the client says it asks for: an address of the network, for instance.
 * @param refused The error for too many.
 */
export function countContact(
  { tx, organizationId, now }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'now'>,
  { address }: Contact,
  identifier: string | undefined,
  refused: () => KeyhearthError,
): void {
  deleteContactRequests(tx, now - windowMs);
  const request: ContactRequestRow = {
    organizationId,
    contact: address.toLowerCase(),
    identifier: identifier === undefined ? null : toHex(sha256(encodeUtf8('userIdentifier', identifier))),
    requestedAt: now,
  };
  const { all, toContact, forIdentifier } = countContactRequests(tx, request, {
    after: now - windowMs,
    until: latest(now),
  });
  if (
    all >= limits.messagesPerOrganization ||
    toContact >= limits.messagesPerContact ||
    forIdentifier >= limits.messagesPerContact
  ) {
    throw refused();
  }
  insertContactRequest(tx, request);
}

/** Removes requests that no longer count. */
export const forgetContacts = (tx: ActivityContext<unknown>['tx'], now: number): number =>
  deleteContactRequests(tx, now - windowMs);

/** For mails that bring a credential. */
export const tooManyRequests = (): KeyhearthError =>
  new KeyhearthError(
    'RESOURCE_EXHAUSTED',
    `Too many requests: at most ${String(limits.messagesPerContact)} messages go to a contact, and ${String(limits.messagesPerOrganization)} out of an organization, in ${String(limits.contactWindowSeconds)} seconds`,
  );

/** Text that SDKs look for, with the real API's code. */
export const tooManyCodes = (): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', 'Max number of OTPs have been initiated please wait and try again', {
    turnkeyErrorCode: 'MAX_OTP_INITIATED',
  });
