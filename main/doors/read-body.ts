/** Reads JSON as the API does: in bounds, so that no message of a program delays others, and each name once. Batches of calls too. */
import { isUtf8 } from 'node:buffer';
import { isObject, parseJson } from '../crypto/json.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { countValues } from '../lib/plain-json.ts';
import { requestLimits } from '../lib/published-limits.ts';
import { writeJson } from '../lib/web/json-rpc.ts';

/** @throws KeyhearthError INVALID_ARGUMENT or PAYLOAD_TOO_LARGE */
export function readBody(raw: Uint8Array): unknown {
  if (!isUtf8(raw)) throw new KeyhearthError('INVALID_ARGUMENT', 'the body is not UTF-8');
  if (countValues(raw) > requestLimits.values) {
    throw new KeyhearthError(
      'PAYLOAD_TOO_LARGE',
      `the body has too many values: at most ${String(requestLimits.values)}`,
    );
  }
  return parseJson('body', Buffer.from(raw).toString('utf8'));
}

/** True for a batch of JSON-RPC in which two calls have one id: an answer would fit both, so neither is run. */
export function sharesIds(batch: readonly unknown[]): boolean {
  const ids = batch.flatMap((each) =>
    isObject(each) && each['id'] !== undefined ? [writeJson(each['id'])] : [],
  );
  return new Set(ids).size < ids.length;
}

export const sharedId = 'two calls of the batch have the same id: their answers could not be told apart';
