/** Reads an activity's request: its envelope, and its parameters by the schema of the type that it names. */
import { z } from 'zod';
import { isUuid } from '../../crypto/uuid.ts';
import type { Clock } from '../../lib/clock.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import type { ActivityOperation, ActivityVersion, VoteOperation } from '../define.ts';
import { parse } from '../../lib/parse.ts';

/** The organization that a request is about, as it is kept: ids are taken in either case. */
export const organizationId = z.string().transform((text) => (isUuid(text) ? text.toLowerCase() : text));

const envelope = z.object({
  type: z.string(),
  timestampMs: z.string().regex(/^[0-9]{1,15}$/, 'expected milliseconds since the epoch, in digits'),
  organizationId,
  parameters: z.looseObject({}),
});

/** True for a body in the envelope of an activity, of any type: one that the log may have with its stamp. */
export const isRequestOfActivity = (body: unknown): boolean => envelope.safeParse(body).success;

export interface ParsedRequest {
  readonly type: string;
  readonly timestampMs: string;
  readonly organizationId: string;
  /** The parameters as the type names them, and as the newest version does. */
  readonly intent: unknown;
  readonly params: unknown;
}

/**
 * Parses the request of an identified caller. Callers who are not identified never see these errors.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field.
 */
export function parseRequest(operation: ActivityOperation | VoteOperation, body: unknown): ParsedRequest {
  const { parameters, ...rest } = parse(envelope, body);
  const version = versionNamed(operation, rest.type);
  const intent: unknown = parse(version.params, parameters, 'parameters');
  return { ...rest, intent, params: version.upgrade(intent) };
}

/** @throws KeyhearthError INVALID_ARGUMENT that lists the types that the operation accepts. */
export function versionNamed(operation: ActivityOperation | VoteOperation, type: string): ActivityVersion {
  const version = operation.versions.find((candidate) => candidate.type === type);
  if (version) return version;
  const allowed = operation.versions.map((candidate) => candidate.type).join(', ');
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid activity type: ${operation.path} expects ${allowed}, got ${quoted(type)}`,
  );
}

const minutes = 60_000;
const oldestMs = 60 * minutes;
const farthestAheadMs = 5 * minutes;

/** True if a request is recent enough to be executed, by the machine's own clock. */
export function isLive(timestampMs: string, clock: Clock): boolean {
  const age = clock.wall() - Number(timestampMs);
  return age < oldestMs && age >= -farthestAheadMs;
}

/** @throws KeyhearthError INVALID_ARGUMENT for a request that is not live. */
export function checkLive(timestampMs: string, clock: Clock): void {
  if (isLive(timestampMs, clock)) return;
  const age = clock.wall() - Number(timestampMs);
  const seenAs =
    age < 0 ? `${String(Math.ceil(-age / 1000))} s ahead` : `${String(Math.floor(age / 1000))} s old`;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid timestampMs: expected a request less than 1 hour old and at most 5 minutes ahead of this clock, got one ${seenAs}`,
    { turnkeyErrorCode: 'INVALID_TIME' },
  );
}
