/** One-time codes: drawn for a user, and good for one sign-in within a few minutes. */
import { timingSafeEqual } from 'node:crypto';
import type { ActivityContext } from '../activities/define.ts';
import { encodeUtf8 } from '../crypto/encodings.ts';
import { sha256 } from '../crypto/hashes.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import {
  countWrongTry,
  deleteExpiredOneTimeCodes,
  deleteOneTimeCode,
  getOneTimeCode,
  insertOneTimeCode,
  oneTimeCodesTable,
  type OneTimeCodeRow,
} from '../db/one-time-codes.ts';
import { getUserRow, type UserRow } from '../db/users.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { limits } from './limits.ts';

type CodeContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'now'>;

const defaults = { characters: 9, lifetimeSeconds: 300 };

const digits = '0123456789';
/** Crockford's base 32: no letters that are taken for digits, or that make words. */
const symbols = `${digits}ABCDEFGHJKMNPQRSTVWXYZ`;

export interface CodeRequest {
  readonly userId: string;
  /** The user's email address or phone number, as the user has it. The code dies when the user has it no more. */
  readonly contact: string;
  /** 6 to 9; 9 unless given. */
  readonly characters?: number;
  /** Letters beside digits; so it is unless false is given. */
  readonly alphanumeric?: boolean;
  /** 300 unless given. */
  readonly lifetimeSeconds?: number;
}

/** Draws a code for a user. The code is on its way to the user, and nowhere else: only its sealed hash is kept. */
export function issueOneTimeCode(
  { tx, keys, organizationId, random, now }: CodeContext & { readonly random: Random },
  { userId, contact, ...options }: CodeRequest,
): { readonly otpId: string; readonly otpCode: string } {
  deleteExpiredOneTimeCodes(tx, now);
  const id = uuidV4(random('one-time code id', 16));
  const otpCode = drawCode(
    random,
    options.alphanumeric === false ? digits : symbols,
    options.characters ?? defaults.characters,
  );
  insertOneTimeCode(tx, {
    id,
    organizationId,
    userId,
    contact,
    sealed: keys.seal(placeOf(id, organizationId), hashOf(otpCode)),
    wrongTries: 0,
    expiresAt: now + (options.lifetimeSeconds ?? defaults.lifetimeSeconds) * 1000,
    createdAt: now,
  });
  return { otpId: id, otpCode };
}

/**
 * Takes a code, once.
 * @returns the user whom it was sent to.
 * @throws LatchkeyError INVALID_ARGUMENT, in the same words whatever is wrong; a wrong code is counted, and the last
 * that is allowed ends the right one too.
 */
export function spendOneTimeCode(
  { tx, keys, organizationId, now }: CodeContext,
  otpId: string,
  otpCode: string,
): UserRow {
  const row = getOneTimeCode(tx, organizationId, otpId);
  if (row === undefined || row.expiresAt <= now || row.wrongTries >= limits.wrongTriesPerOneTimeCode) {
    throw invalidCode();
  }
  const expected = keys.open(placeOf(row.id, organizationId), row.sealed);
  if (!timingSafeEqual(expected, hashOf(otpCode))) {
    throw invalidCode(() => {
      countWrongTry(tx, row.id);
    });
  }
  const user = holderOf(row, getUserRow(tx, organizationId, row.userId));
  deleteOneTimeCode(tx, row.id);
  return user;
}

/** A code that went to an address proves nothing about a user who has another by now. */
function holderOf({ contact }: OneTimeCodeRow, user: UserRow | undefined): UserRow {
  if (user !== undefined && (user.email === contact || user.phoneNumber === contact)) return user;
  throw invalidCode();
}

/** Text that SDKs look for. */
const invalidCode = (lasting?: () => void): LatchkeyError =>
  new LatchkeyError('INVALID_ARGUMENT', 'Invalid OTP code', lasting ? { lasting } : {});

/** People type letters in either case. */
const hashOf = (code: string): Uint8Array => sha256(encodeUtf8('otpCode', code.toUpperCase()));

const placeOf = (rowId: string, organizationId: string) => ({
  table: oneTimeCodesTable,
  rowId,
  organizationId,
});

/** Each symbol is as likely as any other: bytes beyond the last whole run through the alphabet are drawn again. */
function drawCode(random: Random, alphabet: string, characters: number): string {
  const usable = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < characters) {
    const [byte = usable] = random('one-time code', 1);
    if (byte < usable) code += alphabet.charAt(byte % alphabet.length);
  }
  return code;
}
