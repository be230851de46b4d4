/** UUIDs (RFC 9562) from bytes that the caller gives, so that a seeded source makes them reproducible. */
import { hash } from 'node:crypto';
import { checkBytes, concatBytes, asUint8Array } from './bytes.ts';
import { invalid, toHex } from './encodings.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for a UUID of any version, in either case. */
export const isUuid = (text: unknown): text is string => typeof text === 'string' && form.test(text);

/** @param random 16 bytes, of which 122 bits are used. */
export function uuidV4(random: Uint8Array): string {
  checkBytes('random', random, 16);
  return format(new Uint8Array(random), 4);
}

/**
 * A name's own id: the same name in the same namespace always has the same.
 * @param namespace A UUID.
 * @param name Text is taken as UTF-8.
 */
export function uuidV5(namespace: string, name: Uint8Array | string): string {
  if (!isUuid(namespace)) throw invalid('namespace', 'expected a UUID');
  const bytes = typeof name === 'string' ? Buffer.from(name, 'utf8') : name;
  checkBytes('name', bytes);
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  return format(asUint8Array(hash('sha1', concatBytes(space, bytes), 'buffer')).slice(0, 16), 5);
}

/**
 * Ids that sort by time.
 * @param milliseconds Since the epoch.
 * @param random 10 bytes, of which 74 bits are used.
 */
export function uuidV7(milliseconds: number, random: Uint8Array): string {
  if (!Number.isSafeInteger(milliseconds) || milliseconds < 0 || milliseconds >= 2 ** 48) {
    throw new RangeError(
      `milliseconds: expected a whole number from 0 to 2^48-1, got ${String(milliseconds)}`,
    );
  }
  checkBytes('random', random, 10);
  const time = Buffer.alloc(6);
  time.writeUIntBE(milliseconds, 0, 6);
  return format(concatBytes(time, random), 7);
}

function format(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const text = toHex(bytes);
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join(
    '-',
  );
}
