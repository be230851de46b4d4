/** Checks of byte arguments, and the few operations on bytes that the platform lacks. Messages never hold the bytes. */

/** @throws TypeError naming the argument when it is not a Uint8Array of that length. */
export function checkBytes(name: string, value: unknown, length?: number): asserts value is Uint8Array {
  const expected = length === undefined ? 'a Uint8Array' : `a Uint8Array of ${String(length)} bytes`;
  if (!(value instanceof Uint8Array))
    throw new TypeError(`${name}: expected ${expected}, got ${typeof value}`);
  if (length !== undefined && value.length !== length) {
    throw new TypeError(`${name}: expected ${expected}, got ${String(value.length)} bytes`);
  }
}

/** The same memory without Buffer's own `slice`, which shares where Uint8Array's copies. */
export const asUint8Array = (buffer: Uint8Array): Uint8Array =>
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);

export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => joinBytes(parts);

/** As `concatBytes`, for more parts than one call takes parameters. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  // Of memory of its own, however short: what is joined may be erased, and the engine moves what it keeps among its objects.
  const joined = new Uint8Array(new ArrayBuffer(parts.reduce((length, part) => length + part.length, 0)));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
