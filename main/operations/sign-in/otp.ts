/** One-time codes: asked for, and turned into a token that says whose contact was verified. */
import { z } from 'zod';
import { activity, older, type ActivityContext } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { codeTarget, encryptedBundleText, openBundle } from '../shared/bundles.ts';
import {
  contactOf,
  contactParams,
  contactProblem,
  countContact,
  holderOf,
  holdersOf,
  isContact,
  isSandboxContact,
  sandboxCode,
  tooManyCodes,
  type Contact,
} from '../users/contacts.ts';
import { limits } from '../shared/limits.ts';
import {
  appName,
  emailCustomization,
  namedEmailCustomization,
  oneTimeCodeMessage,
  senderParams,
  smsCustomization,
  type MessageWishes,
} from './message-texts.ts';
import { invalidCode, issueOneTimeCode, otpCode, spendOneTimeCode, targetKeyOf } from './one-time-codes.ts';
import { id } from '../shared/parameters.ts';
import { secretToken, uuid } from '../shared/resources.ts';
import { checkGate } from './sign-in-gates.ts';
import { clientKey, issueVerificationToken, refused } from './verification-tokens.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';

/** A period in digits, up to a limit. */
const secondsUpTo = (most: number) =>
  z
    .string()
    .refine(
      (text) => /^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= most,
      `Expected a whole number of seconds in digits, from 1 to ${String(most)}`,
    );

const wishes = {
  smsCustomization: smsCustomization.optional(),
  userIdentifier: z.string().max(256).optional(),
  ...senderParams.shape,
};
const codeForm = { otpLength: z.int().min(6).max(9).optional(), alphanumeric: z.boolean().optional() };
const codeLife = { expirationSeconds: secondsUpTo(limits.oneTimeCodeSeconds).optional() };
const named = { appName, emailCustomization: emailCustomization.optional() };
const namedInside = { emailCustomization: namedEmailCustomization.optional() };

const ofContact = { ...contactParams, ...wishes };

/** Holds the contact and its type together. */
const request = <Schema extends z.ZodType<Parameters<typeof isContact>[0]>>(schema: Schema): Schema =>
  schema.refine(isContact, contactProblem);

/** The application was named in the customization of mails before, or nowhere. */
const unnamed = { appName: '' };

/** The parameters about the code itself. */
interface CodeRequest extends MessageWishes {
  readonly otpLength?: number | undefined;
  readonly alphanumeric?: boolean | undefined;
  readonly expirationSeconds?: string | undefined;
  readonly userIdentifier?: string | undefined;
}

/** The message may have words and a link of the caller's own: a code that a root user passes on signs another in as root. */
const holdersNamed = ({
  tx,
  organizationId,
  params,
}: {
  readonly tx: Reader;
  readonly organizationId: string;
  readonly params: Parameters<typeof contactOf>[0];
}): readonly string[] => holdersOf(tx, organizationId, contactOf(params));

/** Generates a code and has it sent. */
function sendCode(
  context: ActivityContext<CodeRequest>,
  contact: Contact,
  of: Pick<Parameters<typeof issueOneTimeCode>[1], 'purpose' | 'userId' | 'targetKey'>,
): string {
  const { tx, organizationId, params, now, post } = context;
  checkGate(tx, organizationId, 'code', contact.channel);
  const isSandbox =
    context.sandbox &&
    isSandboxContact(contact) &&
    params.alphanumeric === false &&
    params.otpLength === sandboxCode.length;
  if (!isSandbox) countContact(context, contact, params.userIdentifier, tooManyCodes);
  const { otpId, otpCode, expiresAt } = issueOneTimeCode(context, {
    ...of,
    contact,
    characters: params.otpLength,
    alphanumeric: params.alphanumeric,
    lifetimeSeconds: params.expirationSeconds === undefined ? undefined : Number(params.expirationSeconds),
    fixedCode: isSandbox ? sandboxCode : undefined,
  });
  if (isSandbox) return otpId;
  post(
    oneTimeCodeMessage({
      channel: contact.channel,
      to: contact.address,
      code: otpCode,
      organizationName: getOrganization(tx, organizationId)?.name ?? '',
      now,
      expiresAt,
      wishes: params,
    }),
  );
  return otpId;
}

export const initOtp = activity({
  path: 'init_otp',
  summary: 'Sends a one-time code to an email address or a phone number, whoever has it.',
  title: 'Send a one-time code',
  type: 'ACTIVITY_TYPE_INIT_OTP_V3',
  intent: 'initOtpIntentV3',
  result: 'initOtpResultV2',
  params: request(z.object({ ...ofContact, ...named, ...codeForm, ...codeLife })),
  returns: z.object({ otpId: uuid, otpEncryptionTargetBundle: z.string() }),
  accepts: {
    ACTIVITY_TYPE_INIT_OTP_V2: older({
      intent: 'initOtpIntentV2',
      result: 'initOtpResult',
      params: request(z.object({ ...ofContact, ...named, ...codeForm, ...codeLife })),
      upgrade: (params) => params,
    }),
    ACTIVITY_TYPE_INIT_OTP: older({
      intent: 'initOtpIntent',
      result: 'initOtpResult',
      params: request(z.object({ ...ofContact, ...namedInside, ...codeForm, ...codeLife })),
      upgrade: (params) => ({ ...params, ...unnamed }),
    }),
  },
  authority: { resource: 'OTP', action: 'CREATE', fromParent: true, concerns: holdersNamed },
  // The answer does not depend on a user having the contact, which is not looked up.
  run(context) {
    const target = codeTarget(context);
    const otpId = sendCode(context, contactOf(context.params), {
      purpose: 'verification',
      targetKey: target.privateKey,
    });
    return { otpId, otpEncryptionTargetBundle: target.bundle };
  },
});

export const initOtpAuth = activity({
  path: 'init_otp_auth',
  summary: 'Sends a user a one-time code that signs in with `otp_auth`.',
  title: 'Send a one-time code to sign in',
  type: 'ACTIVITY_TYPE_INIT_OTP_AUTH_V3',
  intent: 'initOtpAuthIntentV3',
  result: 'initOtpAuthResultV2',
  params: request(z.object({ ...ofContact, ...named, ...codeForm, ...codeLife })),
  returns: z.object({ otpId: uuid }),
  accepts: {
    ACTIVITY_TYPE_INIT_OTP_AUTH_V2: older({
      intent: 'initOtpAuthIntentV2',
      params: request(z.object({ ...ofContact, ...namedInside, ...codeForm })),
      upgrade: (params) => ({ ...params, ...unnamed }),
    }),
    ACTIVITY_TYPE_INIT_OTP_AUTH: older({
      intent: 'initOtpAuthIntent',
      result: 'initOtpAuthResult',
      params: request(z.object({ ...ofContact, ...namedInside })),
      upgrade: (params) => ({ ...params, ...unnamed }),
    }),
  },
  authority: {
    resource: 'AUTH',
    action: 'CREATE',
    fromParent: true,
    concerns: holdersNamed,
    shows: ({ otpLength }) => (otpLength === undefined ? {} : { otp_length: otpLength }),
  },
  run(context) {
    const contact = contactOf(context.params);
    const { id: userId } = holderOf(context.tx, context.organizationId, contact);
    return { otpId: sendCode(context, contact, { purpose: 'sign in', userId }) };
  },
});

interface VerifyOtp {
  readonly otpId: string;
  readonly encryptedOtpBundle?: string;
  readonly otpCode?: string;
  readonly publicKey?: string | undefined;
  readonly expirationSeconds?: string | undefined;
}

/** The plaintext that a client encrypts, in the client's names. */
const encryptedCode = z.object({ otp_code: otpCode, public_key: clientKey });

const tokenLife = { expirationSeconds: secondsUpTo(limits.verificationTokenSeconds).optional() };
const defaultTokenSeconds = 3600;

const optionalKey = z.union([z.literal(''), clientKey]).optional();

export const verifyOtp = activity({
  path: 'verify_otp',
  summary: 'Takes a one-time code, and gives a token that says which contact was verified.',
  title: 'Verify a one-time code',
  type: 'ACTIVITY_TYPE_VERIFY_OTP_V2',
  intent: 'verifyOtpIntentV2',
  result: 'verifyOtpResult',
  params: z
    .object({ otpId: id, encryptedOtpBundle: encryptedBundleText, ...tokenLife })
    .transform((params): VerifyOtp => params),
  returns: z.object({ verificationToken: secretToken }),
  accepts: {
    ACTIVITY_TYPE_VERIFY_OTP: older({
      intent: 'verifyOtpIntent',
      params: z.object({ otpId: id, otpCode, publicKey: optionalKey, ...tokenLife }),
      upgrade: (params) => params,
    }),
  },
  authority: { resource: 'OTP', action: 'VERIFY', fromParent: true },
  gather: (context) =>
    context.params.encryptedOtpBundle === undefined ? undefined : targetKeyOf(context, context.params.otpId),
  async prepare({ gathered: key, params }) {
    const { encryptedOtpBundle, publicKey } = params;
    if (encryptedOtpBundle === undefined) return { otpCode: params.otpCode ?? '', publicKey };
    // The code does not exist, or is gone.
    if (key === undefined) throw invalidCode();
    try {
      return readEncryptedCode(await openBundle(key, encryptedOtpBundle));
    } finally {
      key.fill(0);
    }
  },
  run(context) {
    const { params, prepared } = context;
    const { channel, contact } = spendOneTimeCode(context, 'verification', params.otpId, prepared.otpCode);
    const verificationToken = issueVerificationToken(
      context,
      { channel, address: contact },
      prepared.publicKey === '' ? undefined : prepared.publicKey,
      Number(params.expirationSeconds ?? defaultTokenSeconds),
    );
    return { verificationToken };
  },
});

function readEncryptedCode(plaintext: Uint8Array | undefined): {
  readonly otpCode: string;
  readonly publicKey: string;
} {
  const at = 'parameters.encryptedOtpBundle';
  if (plaintext === undefined) {
    throw refused(at, 'it does not open: encrypt to the target of the bundle that came with this otpId');
  }
  let value: unknown;
  try {
    value = parsePlainJson(
      Buffer.from(plaintext.buffer, plaintext.byteOffset, plaintext.length).toString('utf8'),
    );
  } catch {
    value = undefined;
  } finally {
    plaintext.fill(0);
  }
  const { data } = encryptedCode.safeParse(value);
  if (data === undefined) {
    throw refused(
      at,
      'expected it to hold JSON of { otp_code, public_key }, the key compressed P-256 in hex',
    );
  }
  return { otpCode: data.otp_code, publicKey: data.public_key };
}
