/** Ethereum's recursive length prefix. A value has exactly one encoding; any other is refused. */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { bigEndian, Cursor, unreadable } from '../reading.ts';

export type Item = Uint8Array | readonly Item[];

/** Far deeper than any transaction goes (access lists are three lists deep), and far less than the stack. */
const deepest = 64;

/** @throws Unreadable if the bytes are not the one canonical encoding of one item. */
export function decodeRlp(bytes: Uint8Array, what: string): Item {
  const cursor = new Cursor(bytes, what);
  const item = readItem(cursor, what, 0);
  cursor.end();
  return item;
}

function readItem(cursor: Cursor, what: string, depth: number): Item {
  if (depth > deepest) unreadable(`${what} nests deeper than ${String(deepest)} lists`);
  const head = cursor.byte();
  if (head < 0x80) return Uint8Array.of(head);
  if (head < 0xc0) {
    const length = readLength(cursor, what, head - 0x80);
    const content = cursor.take(length);
    if (length === 1 && (content[0] ?? 0) < 0x80)
      unreadable(`${what} writes a byte with a prefix that it must not have`);
    return content;
  }
  const inner = new Cursor(cursor.take(readLength(cursor, what, head - 0xc0)), what);
  const items: Item[] = [];
  while (inner.left > 0) items.push(readItem(inner, what, depth + 1));
  return items;
}

/** A length up to 55 stands in the head itself; a longer one follows it. */
function readLength(cursor: Cursor, what: string, head: number): number {
  if (head <= 55) return head;
  const bytes = cursor.take(head - 55);
  const length = bigEndian(bytes);
  if (bytes[0] === 0 || length <= 55n || length > BigInt(cursor.left)) {
    unreadable(
      `${what} has a length that is ${length > BigInt(cursor.left) ? 'more than there is' : 'not written in the shortest way'}`,
    );
  }
  return Number(length);
}

export function encodeRlp(item: Item): Uint8Array {
  if (item instanceof Uint8Array) {
    return item.length === 1 && (item[0] ?? 0) < 0x80 ? item : concatBytes(head(0x80, item.length), item);
  }
  const content = joinBytes(item.map(encodeRlp));
  return concatBytes(head(0xc0, content.length), content);
}

function head(base: number, length: number): Uint8Array {
  if (length <= 55) return Uint8Array.of(base + length);
  const bytes = minimalBytes(BigInt(length));
  return concatBytes(Uint8Array.of(base + 55 + bytes.length), bytes);
}

/** A whole number without leading zeros: no byte at all for 0. */
export function minimalBytes(number: bigint): Uint8Array {
  if (number === 0n) return new Uint8Array();
  const digits = number.toString(16);
  return Uint8Array.from(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'));
}
