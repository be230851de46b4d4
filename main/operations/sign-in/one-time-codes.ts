/** One-time codes: random, for one contact, and valid once within a few minutes. */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import { encodeUtf8 } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  countOneTimeCodes,
  countWrongTry,
  deleteExpiredOneTimeCodes,
  deleteOneTimeCode,
  getOneTimeCode,
  insertOneTimeCode,
  oneTimeCodesTable,
  type OneTimeCodeRow,
} from '../../storage/tables/one-time-codes.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { isOver } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { tooManyCodes, type Contact } from '../users/contacts.ts';
import { limits } from '../shared/limits.ts';

type CodeContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'now'>;

const defaults = { characters: 9, lifetimeSeconds: 300 };

const digits = '0123456789';
/** Crockford's base 32: no letters that are taken for digits, or that make words. */
const symbols = `${digits}ABCDEFGHJKMNPQRSTVWXYZ`;

const hashLength = 32;

const largestCode = 64;

/** A code in a request, of any form: a text that cannot be a code is a wrong one. */
export const otpCode = z
  .string()
  .refine(({ length }) => length <= largestCode, {
    error: `Expected at most ${String(largestCode)} characters`,
    params: { secret: true },
  })
  .meta({ format: 'password' });

interface CodeRequest {
  readonly purpose: OneTimeCodeRow['purpose'];
  /** Whom it signs in. */
  readonly userId?: string;
  /** The code expires if the user that it signs in loses this contact. */
  readonly contact: Contact;
  /** 6 to 9; 9 unless given. */
  readonly characters?: number | undefined;
  /** Letters beside digits; so it is unless false is given. */
  readonly alphanumeric?: boolean | undefined;
  /** 300 unless given. */
  readonly lifetimeSeconds?: number | undefined;
  /** Instead of a random one: any number of it may wait. */
  readonly fixedCode?: string | undefined;
  /** The private half of the key that a client encrypts the code to. Erased. */
  readonly targetKey?: Uint8Array;
}

export interface IssuedCode {
  readonly otpId: string;
  readonly otpCode: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/**
 * Generates a code. It is sent to the contact, and stored nowhere: only its sealed hash is kept.
 * @throws KeyhearthError INVALID_ARGUMENT when too many wait for the contact already.
 */
export function issueOneTimeCode(
  { tx, keys, organizationId, random, now }: CodeContext & { readonly random: Random },
  { purpose, userId, contact, targetKey = new Uint8Array(0), ...options }: CodeRequest,
): IssuedCode {
  deleteExpiredOneTimeCodes(tx, now);
  const address = contact.address.toLowerCase();
  const { fixedCode } = options;
  const waiting = countOneTimeCodes(tx, organizationId, address, now);
  if (fixedCode === undefined && waiting >= limits.waitingCodesPerContact) throw tooManyCodes();
  const otpId = uuidV4(random('one-time code id', 16));
  const alphabet = options.alphanumeric === false ? digits : symbols;
  const otpCode = fixedCode ?? generateCode(random, alphabet, options.characters ?? defaults.characters);
  const expiresAt = now + (options.lifetimeSeconds ?? defaults.lifetimeSeconds) * 1000;
  const secret = concatBytes(hashOf(otpCode), targetKey);
  insertOneTimeCode(tx, {
    id: otpId,
    organizationId,
    purpose,
    userId: userId ?? null,
    channel: contact.channel,
    contact: address,
    sealed: keys.seal(contextOf(otpId, organizationId), secret),
    wrongTries: 0,
    expiresAt,
    createdAt: now,
  });
  targetKey.fill(0);
  secret.fill(0);
  return { otpId, otpCode, expiresAt };
}

/**
 * The key that a client encrypts a code to.
 * @returns undefined where there is no such code, or it has none; the taker erases it.
 */
export function targetKeyOf(
  { tx, keys, organizationId }: Pick<CodeContext, 'keys' | 'organizationId'> & { readonly tx: Reader },
  otpId: string,
): Uint8Array | undefined {
  const row = getOneTimeCode(tx, organizationId, otpId);
  if (row === undefined) return undefined;
  const secret = keys.open(contextOf(row.id, organizationId), row.sealed);
  const key = secret.slice(hashLength);
  secret.fill(0);
  return key.length === 0 ? undefined : key;
}

/**
 * Accepts a code, once.
 * @returns the purpose of the code.
 * @throws KeyhearthError INVALID_ARGUMENT, in the same words for every fault. A wrong code is counted, and
 * the last allowed one ends the right code too. So does the right code where another purpose was asked for.
 */
export function spendOneTimeCode(
  { tx, keys, organizationId, now }: CodeContext,
  purpose: OneTimeCodeRow['purpose'],
  otpId: string,
  otpCode: string,
): OneTimeCodeRow {
  const row = getOneTimeCode(tx, organizationId, otpId);
  if (row === undefined || isOver(row, now) || row.wrongTries >= limits.wrongTriesPerOneTimeCode) {
    throw invalidCode();
  }
  const secret = keys.open(contextOf(row.id, organizationId), row.sealed);
  const holds = timingSafeEqual(secret.subarray(0, hashLength), hashOf(otpCode));
  secret.fill(0);
  if (!holds || row.purpose !== purpose) {
    throw invalidCode(() => {
      // The log keeps the failed request, with the code in it, for every reader.
      if (holds) deleteOneTimeCode(tx, row.id);
      else countWrongTry(tx, row.id);
    });
  }
  deleteOneTimeCode(tx, row.id);
  return row;
}

/** Text that SDKs look for. */
export const invalidCode = (lasting?: () => void): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', 'Invalid OTP code', lasting ? { lasting } : {});

/** People type letters in either case. */
const hashOf = (code: string): Uint8Array => sha256(encodeUtf8('otpCode', code.toUpperCase()));

const contextOf = (rowId: string, organizationId: string) => ({
  table: oneTimeCodesTable,
  rowId,
  organizationId,
});

/** Each symbol is as likely as any other: bytes beyond the last whole run through the alphabet are thrown away. */
function generateCode(random: Random, alphabet: string, characters: number): string {
  const usable = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < characters) {
    const [byte = usable] = random('one-time code', 1);
    if (byte < usable) code += alphabet.charAt(byte % alphabet.length);
  }
  return code;
}
