/** Nested values and long lists, shown to their end or counted. */
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { cut, line, mostParts, type Line, type Writer } from '../description.ts';

/** Values in calls and typed data. */
type Nested = string | boolean | bigint | null | readonly Nested[] | { readonly [member: string]: Nested };

/** Every leaf of a value under its path, and what holds nothing as well: no two values of a type are shown alike. */
export function leavesOf(value: Nested, path: string, writer: Writer): Line[] {
  if (typeof value !== 'object' || value === null) return [line(path, leaf(value, writer))];
  if (Array.isArray(value)) {
    const elements = value as readonly Nested[];
    return elements.length === 0
      ? [line(path, 'No elements')]
      : elements.flatMap((each, index) => leavesOf(each, `${path}[${String(index)}]`, writer));
  }
  const members = Object.entries(value as Readonly<Record<string, Nested>>);
  return members.length === 0
    ? [line(path === '' ? 'Members' : path, 'No members')]
    : members.flatMap(([name, each]) =>
        leavesOf(each, `${path === '' ? '' : `${path}.`}${writer.text(name)}`, writer),
      );
}

/** Number of lines that `leavesOf` gives. */
export function countLeaves(value: Nested): number {
  if (typeof value !== 'object' || value === null) return 1;
  const parts = Object.values(value) as readonly Nested[];
  return parts.reduce<number>((count, each) => count + countLeaves(each), parts.length === 0 ? 1 : 0);
}

const leaf = (value: string | boolean | bigint | null, writer: Writer): string =>
  typeof value === 'string' && !/^0x[0-9a-f]*$/i.test(value) ? writer.text(value) : cut(String(value));

/**
 * The first of what is listed, where there is more than people read.
 * @returns what is shown, and of the rest how much there is and its SHA-256.
 */
export function firstOf<T>(
  listed: readonly T[],
  what: string,
  writer: Writer,
): { readonly shown: readonly T[]; readonly rest: readonly Line[] } {
  const rest = listed.slice(mostParts);
  if (rest.length === 0) return { shown: listed, rest: [] };
  writer.warn(`There are ${String(listed.length)} ${what}. Only the first ${String(mostParts)} are shown.`);
  const digest = toHex(sha256(Buffer.from(JSON.stringify(rest), 'utf8')));
  return {
    shown: listed.slice(0, mostParts),
    rest: [line('Not shown', `${String(rest.length)} more ${what}, SHA-256 ${digest}`)],
  };
}
