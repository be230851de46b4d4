/** Reads JSON as the API does: in bounds, so that no message of a program delays others, and each name once. */
import { isUtf8 } from 'node:buffer';
import { parseJson } from '../crypto/json.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { countValues } from '../lib/plain-json.ts';
import { requestLimits } from '../lib/published-limits.ts';

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
