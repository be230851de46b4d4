/**
 * The one error that a caller may see. Its code decides status, gRPC code and whether a failed activity is kept;
 * its message is public and names the field, what was seen and what is allowed. The cause is private: it reaches the
 * log, never an answer.
 */

import { isStoredObject, storedJson } from './text/stored-json.ts';
import { visibleJson } from './text/visible-text.ts';
import { upTo } from './text/up-to.ts';

interface ErrorCode {
  readonly http: number;
  /** Code of google.rpc.Code, as the real API sends it. */
  readonly grpc: number;
  /** True if the refusal is lasting, so that the request's activity is kept as FAILED. */
  readonly recorded: boolean;
}

export const errorCodes = {
  INVALID_ARGUMENT: { http: 400, grpc: 3, recorded: true },
  /** The secret opens neither vault nor backup. */
  WRONG_SECRET: { http: 400, grpc: 3, recorded: false },
  VAULT_LOCKED: { http: 400, grpc: 9, recorded: false },
  VAULT_FROZEN: { http: 400, grpc: 9, recorded: false },
  VAULT_MISSING: { http: 400, grpc: 9, recorded: false },
  VAULT_TAMPERED: { http: 400, grpc: 9, recorded: false },
  VAULT_ROLLED_BACK: { http: 400, grpc: 9, recorded: false },
  BACKUP_UNREADABLE: { http: 400, grpc: 3, recorded: false },
  FAILED_PRECONDITION: { http: 400, grpc: 9, recorded: false },
  UNAUTHENTICATED: { http: 401, grpc: 16, recorded: false },
  PERMISSION_DENIED: { http: 403, grpc: 7, recorded: false },
  NOT_FOUND: { http: 404, grpc: 5, recorded: true },
  METHOD_NOT_ALLOWED: { http: 405, grpc: 12, recorded: false },
  ALREADY_EXISTS: { http: 409, grpc: 6, recorded: true },
  PAYLOAD_TOO_LARGE: { http: 413, grpc: 3, recorded: false },
  UNSUPPORTED_MEDIA_TYPE: { http: 415, grpc: 3, recorded: false },
  RESOURCE_EXHAUSTED: { http: 429, grpc: 8, recorded: true },
  /** No rate: to wait and to send it again does not help. The real API has the same status and code for both. */
  LIMIT_REACHED: { http: 429, grpc: 8, recorded: true },
  INTERNAL: { http: 500, grpc: 13, recorded: false },
  UNIMPLEMENTED: { http: 501, grpc: 12, recorded: false },
  UNAVAILABLE: { http: 503, grpc: 14, recorded: false },
  /** The disk with the vault is full, can only be read, or fails. */
  STORAGE_UNAVAILABLE: { http: 503, grpc: 14, recorded: false },
} as const satisfies Record<string, ErrorCode>;

export type ErrorCodeName = keyof typeof errorCodes;

/** A detail of an error body, in the form of google.protobuf.Any. */
export type ErrorDetail = { readonly '@type': string } & Readonly<Record<string, unknown>>;

export interface ErrorOptions {
  /** The real API's machine-readable code, for example `SIGNATURE_INVALID`. */
  readonly turnkeyErrorCode?: string;
  readonly details?: readonly ErrorDetail[];
  /** For the log only. */
  readonly cause?: unknown;
  /**
   * Writes what is to last although the refusal undoes all else that its operation wrote: that a try was counted.
   * Called once, in the same transaction.
   */
  readonly lasting?: () => void;
}

/** An error whose message this project wrote for people. Messages from elsewhere are never shown: see `reasonOf`. */
export class ExplainedError extends Error {
  declare protected readonly brand: 'ExplainedError';
}

export class KeyhearthError extends ExplainedError {
  override readonly name = 'KeyhearthError';
  readonly code: ErrorCodeName;
  readonly turnkeyErrorCode: string;
  readonly details: readonly ErrorDetail[];
  readonly lasting: (() => void) | undefined;

  constructor(code: ErrorCodeName, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.turnkeyErrorCode = options.turnkeyErrorCode ?? defaultTurnkeyCode(code);
    this.details = options.details ?? [];
    this.lasting = options.lasting;
  }
}

/** @returns the message of an error, or a thrown value of another type as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** True for an error of the disk that holds the vault. */
export const isOfStorage = (error: unknown): error is KeyhearthError =>
  error instanceof KeyhearthError && error.code === 'STORAGE_UNAVAILABLE';

/** The stored part of a failed activity's error, enough to answer it again. */
export interface Failure {
  readonly code: ErrorCodeName;
  readonly message: string;
  readonly turnkeyErrorCode: string;
  readonly details: readonly ErrorDetail[];
}

export const toFailure = ({ code, message, turnkeyErrorCode, details }: KeyhearthError): Failure => ({
  code,
  message,
  turnkeyErrorCode,
  details,
});

/** @param text JSON of the log. A row of another version may have a failure that this one cannot read, and shows it as a text. */
export function readFailure(text: string): Failure {
  const failure = storedJson(text);
  if (isFailure(failure)) return failure;
  return toFailure(
    new KeyhearthError('FAILED_PRECONDITION', `this failure cannot be read: ${upTo(text, longestUnread)}`),
  );
}

const longestUnread = 2_000;

const isFailure = (value: unknown): value is Failure =>
  isStoredObject(value) &&
  typeof value['code'] === 'string' &&
  Object.hasOwn(errorCodes, value['code']) &&
  typeof value['message'] === 'string' &&
  typeof value['turnkeyErrorCode'] === 'string' &&
  Array.isArray(value['details']);

export const fromFailure = ({ code, message, ...options }: Failure): KeyhearthError =>
  new KeyhearthError(code, message, options);

/** The body of an error answer: `{code, message, details, turnkeyErrorCode}`. */
export function errorBody(error: KeyhearthError | Failure) {
  return {
    code: errorCodes[error.code].grpc,
    message: error.message,
    details: [
      ...error.details,
      {
        '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail',
        turnkeyErrorCode: error.turnkeyErrorCode,
      },
    ],
    turnkeyErrorCode: error.turnkeyErrorCode,
  };
}

/**
 * Quotes what a caller sent, bounded, on one line and all of it visible, for an error message. It does not go through all
 * of it: that may be megabytes, or nested deeper than a stack goes.
 */
export function quoted(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(beginning(value, quotedCharacters));
  return visibleJson(text.length <= 80 ? text : `${upTo(text, 77)}...`);
}

/** More than is shown: what is cut here is not missed there. */
const quotedCharacters = 100;

/** As much of a value as its first characters in JSON may come from. */
function beginning(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return upTo(value, quotedCharacters);
  // JSON cannot write it; it is a number that a caller wrote.
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) {
    return value.slice(0, quotedCharacters).map((element) => beginning(element, depth - 1));
  }
  const members = Object.entries(value).slice(0, quotedCharacters);
  return Object.fromEntries(members.map(([key, member]) => [key, beginning(member, depth - 1)]));
}

/** The compiler's proof that a switch covers every case. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${String(value)}`);
}

function defaultTurnkeyCode(code: ErrorCodeName): string {
  switch (code) {
    case 'UNAUTHENTICATED':
      return 'UNAUTHENTICATED';
    case 'PERMISSION_DENIED':
      return 'FORBIDDEN';
    case 'RESOURCE_EXHAUSTED':
      return 'RATE_LIMIT_EXCEEDED';
    case 'INTERNAL':
      return 'INTERNAL';
    case 'WRONG_SECRET':
    case 'VAULT_LOCKED':
    case 'VAULT_FROZEN':
    case 'VAULT_MISSING':
    case 'VAULT_TAMPERED':
    case 'VAULT_ROLLED_BACK':
    case 'BACKUP_UNREADABLE':
    case 'LIMIT_REACHED':
    case 'STORAGE_UNAVAILABLE':
      return code;
    default:
      return 'REQUEST_INVALID';
  }
}
