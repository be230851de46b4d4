/** The refusals of the API, by HTTP status, as OpenAPI describes them. */
import type { Operation } from '../../activities/define.ts';
import { errorCodes, type ErrorCodeName } from '../../lib/errors.ts';
import { answer, object, text, type Json, type Schema } from './schemas.ts';

interface RefusalText {
  readonly text: string;
  readonly of: readonly Operation['kind'][];
}

const every = ['activity', 'query'] as const;

/** The meaning of each error, and the kinds of requests that may meet it. */
export const refusalTexts: Readonly<Record<ErrorCodeName, RefusalText>> = {
  INVALID_ARGUMENT: { text: 'The request is not what it should be; the message names the field.', of: every },
  WRONG_SECRET: { text: 'What was given opens neither vault nor backup.', of: [] },
  VAULT_LOCKED: { text: 'The vault is locked.', of: every },
  VAULT_FROZEN: { text: 'The vault is frozen until its owner unlocks it with a secret.', of: every },
  VAULT_MISSING: { text: 'There is no vault yet.', of: every },
  VAULT_TAMPERED: { text: 'The vault’s file was changed outside Keyhearth, and is not used.', of: every },
  VAULT_ROLLED_BACK: { text: 'The vault’s file is older than one that was used here.', of: [] },
  BACKUP_UNREADABLE: { text: 'A backup is damaged, or no backup.', of: [] },
  FAILED_PRECONDITION: {
    text: 'Something must be set up before; the message says what.',
    of: ['activity'],
  },
  UNAUTHENTICATED: { text: 'The stamp is missing, wrong, or of an unknown key.', of: every },
  PERMISSION_DENIED: { text: 'The caller may not do this, or the page’s origin is not paired.', of: every },
  NOT_FOUND: { text: 'Something that the request names is not there.', of: every },
  METHOD_NOT_ALLOWED: { text: 'The method is not POST.', of: [] },
  ALREADY_EXISTS: {
    text: 'What it would make or bring is there already: a key, a seed, an account.',
    of: ['activity'],
  },
  PAYLOAD_TOO_LARGE: { text: 'The body is too large.', of: every },
  UNSUPPORTED_MEDIA_TYPE: { text: 'The body is not announced as JSON.', of: every },
  RESOURCE_EXHAUSTED: {
    text: 'There were too many requests in a time: later, the same one may pass.',
    of: every,
  },
  LIMIT_REACHED: {
    text: 'The organization or the user has as many of something as they may have (`turnkeyErrorCode` `LIMIT_REACHED`): to send it again does not help.',
    of: ['activity'],
  },
  UNAVAILABLE: { text: 'An issuer of identity tokens cannot be reached now.', of: ['activity'] },
  STORAGE_UNAVAILABLE: {
    text: 'The disk with the vault is full, can only be read, or fails (`turnkeyErrorCode` `STORAGE_UNAVAILABLE`); the message says whether the request may have been executed. The same body, sent again, tells.',
    of: every,
  },
  INTERNAL: {
    text: 'Keyhearth failed. An activity may have been executed: the same body, sent again, tells.',
    of: every,
  },
  UNIMPLEMENTED: { text: 'Keyhearth does not have the operation.', of: [] },
};

/** Of an error: see `errorBody`. */
export const details: Schema = {
  type: 'array',
  items: object({ '@type': text }, { additionalProperties: true }),
};

/** Refusals of a kind of request, by HTTP status. */
export const refusalsOf = (kind: Operation['kind']): Json =>
  Object.fromEntries(
    statuses()
      .filter(([, names]) => names.some((name) => refusalTexts[name].of.includes(kind)))
      .map(([status]) => [status, { $ref: `#/components/responses/Refusal${String(status)}` }]),
  );

/** The HTTP statuses of errors, in order, each with the errors that have it. */
function statuses(): (readonly [number, readonly ErrorCodeName[]])[] {
  const names = Object.keys(errorCodes) as ErrorCodeName[];
  const met = names.filter((name) => refusalTexts[name].of.length > 0);
  return [...Map.groupBy(met, (name) => errorCodes[name].http as number)].sort(([a], [b]) => a - b);
}

/** By the names under which `refusalsOf` refers to them. */
export function refusals(): Json {
  return Object.fromEntries(
    statuses().map(([status, names]) => [
      `Refusal${String(status)}`,
      answer(
        names.map((name) => refusalTexts[name].text).join(' '),
        object({
          code: { type: 'integer', enum: [...new Set(names.map((name) => errorCodes[name].grpc))] },
          message: text,
          details,
          turnkeyErrorCode: text,
        }),
      ),
    ]),
  );
}
