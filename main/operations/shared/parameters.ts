/** The parts that the schemas of several operations share. */
import { z } from 'zod';
import { addressFormats } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import type { Reader } from '../../storage/connection.ts';
import type { Page } from '../../storage/page.ts';
import { limitsOf } from '../../storage/tables/settings.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { isVisibleName, mistakenFor } from '../../lib/text/names.ts';
import { limits } from './limits.ts';

/** Names are shown to people: nothing in or around them that cannot be seen. */
const nameUpTo = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine(isVisibleName, 'Expected no control characters or others that cannot be seen')
    .refine((text) => text.trim() === text, 'Expected no white space at either end');

export const name = nameUpTo(limits.nameCharacters);
/** Of users and API keys: SDKs compose theirs of email addresses and public keys. */
export const composedName = nameUpTo(limits.composedNameCharacters);
export const policyName = nameUpTo(limits.policyNameCharacters);

export const id = z.uuid('Expected a UUID').transform((text) => text.toLowerCase());
export const ids = z.array(id).max(limits.batch);

export const curve = z.enum(Object.keys(curves) as [Curve, ...Curve[]]);
export const addressFormat = z.enum(addressFormats);

/** A whole number in a string, as the API writes 64-bit integers. */
export const seconds = z
  .string()
  .regex(/^[1-9][0-9]{0,9}$/, 'Expected a positive whole number of seconds, in digits');

/** Number of votes that a root quorum needs. */
export const quorumThreshold = z
  .int()
  .max(limits.usersPerOrganization)
  .refine((votes) => votes >= 1, 'Quorum threshold must be non-zero integer')
  .meta({ minimum: 1 });

const cursor = z.union([z.literal(''), id]).optional();

/** Some clients always write all three, empty where they mean none. */
export const pagination = z
  .object({
    limit: z
      .string()
      .regex(/^[0-9]{0,4}$/, 'Expected a whole number in digits')
      .refine(
        (text) => text === '' || (Number(text) >= 1 && Number(text) <= limits.pageSize),
        `Expected 1 to ${String(limits.pageSize)}`,
      )
      .optional(),
    after: cursor,
    before: cursor,
  })
  .optional();

export const page = (options: z.output<typeof pagination>): Page => ({
  limit: isGiven(options?.limit) ? Number(options.limit) : limits.defaultPageSize,
  ...(isGiven(options?.after) ? { after: options.after } : {}),
  ...(isGiven(options?.before) ? { before: options.before } : {}),
});

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

/** @throws KeyhearthError INVALID_ARGUMENT when two of a request's names are the same. */
export function checkDistinct(field: string, names: readonly string[]): void {
  const twice = names.find((text, index) => names.indexOf(text) !== index);
  if (twice !== undefined) {
    throw new KeyhearthError('INVALID_ARGUMENT', `invalid ${field}: ${JSON.stringify(twice)} is given twice`);
  }
}

/**
 * As in the real API, a name that is taken is an invalid argument. ALREADY_EXISTS is for resources that
 * differ by more than their name.
 * @param label The field in words, such as `wallet name`.
 */
export const nameTaken = (at: string, label: string, wanted: string): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid ${at}: ${label} must be unique, ${JSON.stringify(wanted)} is taken`,
  );

/** @throws KeyhearthError INVALID_ARGUMENT for a name that a person would take for one of the others. */
export function checkUnmistakable(
  at: string,
  label: string,
  wanted: string,
  others: () => readonly { readonly name: string }[],
): void {
  const other = mistakenFor(wanted, () => others().map(({ name: taken }) => taken));
  if (other === undefined) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid ${at}: ${label} ${JSON.stringify(wanted)} looks like ${JSON.stringify(other)}, which is there already`,
  );
}

/**
 * @param usual The limit unless the settings raise it.
 * @throws KeyhearthError LIMIT_REACHED when adding would exceed a limit.
 */
export function checkLimit(tx: Reader, what: string, present: number, adding: number, usual: number): void {
  const limit = usual * limitsOf(tx);
  if (present + adding <= limit) return;
  throw new KeyhearthError(
    'LIMIT_REACHED',
    `maximum number of ${what} reached: ${String(limit)} are allowed, there are ${String(present)} and ${String(adding)} would be added`,
    {
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ subject: what, description: 'keyhearth settings set limits raises it' }],
        },
      ],
    },
  );
}

/** @throws KeyhearthError INVALID_ARGUMENT for more of something than one request may have, whatever the settings say. */
export function checkRequest(at: string, what: string, asked: number, most: number): void {
  if (asked <= most) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid ${at}: expected at most ${String(most)} ${what} in one request, got ${String(asked)}: make several requests`,
  );
}

/** @throws KeyhearthError NOT_FOUND when there is nothing. */
export function orNotFound<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new KeyhearthError('NOT_FOUND', message);
  return value;
}

/** Refuses to delete a secret of which no copy was exported. */
export const notExported = (what: string, itsId: string): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    `${what} has not been exported: ${itsId} would be lost for good; export it first, or set parameters.deleteWithoutExport`,
    { turnkeyErrorCode: 'WALLET_ACCOUNT_NOT_EXPORTED' },
  );
