/**
 * Bodies of requests: foreign bytes, and JSON once it is known that parsing takes no longer than a turn may.
 */
import { isUtf8 } from 'node:buffer';
import { isRequestOfActivity } from '../activities/request/parse-request.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { countValues, parsePlainJson } from '../lib/plain-json.ts';
import { requestLimits } from '../lib/published-limits.ts';

/**
 * @throws KeyhearthError INVALID_ARGUMENT for bytes that are not JSON, PAYLOAD_TOO_LARGE for too many values.
 */
export function parseJson(raw: Uint8Array): unknown {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  // The log keeps the signed bytes as text: it must be able to give them back.
  if (!isUtf8(bytes)) throw badBody('it is not UTF-8');
  if (bytes.length === 0) throw badBody('it is empty');
  checkValues(bytes);
  try {
    return parsePlainJson(bytes.toString('utf8'));
  } catch {
    throw badBody('it is not JSON');
  }
}

/**
 * Parses the body of a request that only asks. Those of activities are refused: a reader of the log has them with their stamps.
 * Such a stamp would ask in the name of its user for as long as the key lives.
 * @throws KeyhearthError as `parseJson`.
 */
export function parseQuestion(raw: Uint8Array): unknown {
  const body = parseJson(raw);
  if (isRequestOfActivity(body)) throw badBody('it is the request of an activity', 'a query');
  return body;
}

const badBody = (problem: string, expected = 'a JSON object'): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `bad request body: expected ${expected}, but ${problem}`);

function checkValues(bytes: Uint8Array): void {
  const { values: most } = requestLimits;
  if (countValues(bytes) <= most) return;
  throw new KeyhearthError(
    'PAYLOAD_TOO_LARGE',
    `request body has too many values: at most ${most.toLocaleString('en')}, those in lists and objects counted each`,
  );
}
