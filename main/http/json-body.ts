/**
 * Bodies of requests: foreign bytes, and JSON once it is known that parsing takes no longer than a turn may.
 */
import { isUtf8 } from 'node:buffer';
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

const badBody = (problem: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `bad request body: expected a JSON object, but ${problem}`);

function checkValues(bytes: Uint8Array): void {
  const { values: most } = requestLimits;
  if (countValues(bytes) <= most) return;
  throw new KeyhearthError(
    'PAYLOAD_TOO_LARGE',
    `request body has too many values: at most ${most.toLocaleString('en')}, those in lists and objects counted each`,
  );
}
