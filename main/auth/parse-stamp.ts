/** The `X-Stamp` header: base64url of a JSON text that holds a signature over the request's raw body. */
import { KeyhearthError } from '../lib/errors.ts';

export interface Stamp {
  /** Lowercase hex. */
  readonly publicKey: string;
  readonly scheme: string;
  /** Lowercase hex. */
  readonly signature: string;
}

const largestStamp = 4096;

/**
 * @throws KeyhearthError UNAUTHENTICATED when the text is not a stamp; padding and standard base64 are
 * accepted too.
 */
export function parseStamp(text: string): Stamp {
  if (text.length > largestStamp) {
    throw malformed(`expected at most ${String(largestStamp)} characters, got ${String(text.length)}`);
  }
  if (!/^[A-Za-z0-9_\-+/]+={0,2}$/.test(text)) throw malformed('expected base64url without padding');
  let stamp: unknown;
  try {
    stamp = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw malformed('expected base64url of a JSON object');
  }
  if (typeof stamp !== 'object' || stamp === null) throw malformed('expected base64url of a JSON object');
  const { publicKey, scheme, signature } = stamp as Record<string, unknown>;
  if (typeof scheme !== 'string') throw malformed('scheme is missing');
  return { publicKey: hex('publicKey', publicKey), scheme, signature: hex('signature', signature) };
}

function hex(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw malformed(`${field} is missing`);
  if (value.length % 2 !== 0 || !/^[0-9a-fA-F]+$/.test(value)) throw malformed(`${field} is not hex`);
  return value.toLowerCase();
}

const malformed = (problem: string): KeyhearthError =>
  new KeyhearthError('UNAUTHENTICATED', `malformed activity stamp: X-Stamp: ${problem}`, {
    turnkeyErrorCode: 'SIGNATURE_INVALID',
  });
