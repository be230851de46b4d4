/** Requests that policies did not allow, noted apart from the log. */
import { uuidV7 } from '../../crypto/uuid.ts';
import type { Writer } from '../../storage/connection.ts';
import { insertRefusal } from '../../storage/tables/refusals.ts';
import { keepUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { ActivityOperation } from '../define.ts';
import type { Engine, SubmitRequest } from '../request/engine.ts';
import { parseRequest, versionNamed } from '../request/parse-request.ts';
import { redactSecrets } from './redact.ts';

/** Of each organization; and no larger than this, in characters. */
const kept = 1_000;
const longestIntent = 16_384;

/**
 * Notes a request that was not allowed, with the reason; what was refused otherwise, or in a locked vault, is not noted.
 * @param error What the submit was refused with.
 */
export async function noteRefusal(
  { units, keys, random, clock }: Engine,
  operation: ActivityOperation,
  request: SubmitRequest,
  error: unknown,
): Promise<void> {
  const reason = reasonOf(error);
  if (reason === undefined || !keys.unlocked) return;
  const { type, organizationId, intent } = parseRequest(operation, request.body);
  const { params } = versionNamed(operation, type);
  const text = JSON.stringify(redactSecrets(params, intent));
  if (text.length > longestIntent) return;
  const now = clock.now();
  const { meter } = request;
  const note = (tx: Writer): void => {
    const caller = request.identify(tx);
    // A caller from the parent organization is not among the users that these policies decide about.
    if (caller.organizationId !== organizationId) return;
    insertRefusal(
      tx,
      {
        id: uuidV7(now, random('refusal', 10)),
        organizationId,
        userId: caller.userId,
        snapshot: keepUserSnapshot(tx, organizationId, caller.userId),
        publicKey: caller.stamp.publicKey,
        type,
        intent: text,
        reason,
        createdAt: now,
      },
      kept,
    );
  };
  await units.write(note, { meter });
}

function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof KeyhearthError)) return undefined;
  const detail = error.details.find((each) => each['@type'].endsWith('PolicyEnginePermissionError'));
  const message = detail?.['message'];
  return typeof message === 'string' ? message : undefined;
}
