/** JSON of others for schemas: what is parsed holds data, and no member that JavaScript itself reads of an object. */

/**
 * Members that JavaScript, or a library, reads of an object that it takes for another thing: to compare it, to write it as
 * a text, to measure it, to await it. Not one is a function when it comes from JSON, so that reading it may throw; and none
 * is a field of the API.
 */
export const readByTheLanguage = [
  '__proto__',
  'constructor',
  'length',
  'then',
  'toJSON',
  'toString',
  'valueOf',
] as const;

/**
 * Reads JSON, and leaves out these members as it would any other that no schema knows.
 * @throws SyntaxError
 */
export function parsePlainJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // A list and no recursion: it may be nested deeper than a stack goes.
  const unread: unknown[] = [value];
  while (unread.length > 0) {
    const next = unread.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) {
      for (const name of readByTheLanguage) {
        if (Object.hasOwn(next, name)) Reflect.deleteProperty(next, name);
      }
    }
    for (const member of Object.values(next) as unknown[]) {
      if (typeof member === 'object' && member !== null) unread.push(member);
    }
  }
  return value;
}

const code = (character: string): number => character.charCodeAt(0);
const [quote, backslash, comma, bracket, brace] = [code('"'), code('\\'), code(','), code('['), code('{')];
const [closingBracket, closingBrace, colon, space] = [code(']'), code('}'), code(':'), code(' ')];

/**
 * True if an object of a JSON text has a name twice. `JSON.parse` takes the last member, and other readers the first.
 * @param text Of JSON that parses.
 */
export function repeatsName(text: string): boolean {
  /** The names of each object that is open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === brace) open.push(new Set());
    else if (character === bracket) open.push(undefined);
    else if (character === closingBrace || character === closingBracket) open.pop();
    else if (character === quote) {
      const start = at;
      at = endOfText(text, at);
      if (!isName(text, at)) continue;
      // Letters may be written as escapes.
      const name = JSON.parse(text.slice(start, at + 1)) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return true;
      names?.add(name);
    }
  }
  return false;
}

/**
 * Counts the values of a JSON text without parsing it, which takes a hundred times as long where they are many. Each value
 * but the outermost has a comma or a bracket before it; an empty list counts as one more.
 * @param bytes UTF-8.
 */
export function countValues(bytes: Uint8Array): number {
  let values = 1;
  let inText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) inText = !inText;
    else if (inText) {
      if (byte === backslash) at += 1;
    } else if (byte === comma || byte === bracket || byte === brace) values += 1;
  }
  return values;
}

/** @returns the place of the quotation mark that ends a text. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

/** True if a colon follows the text that ends at a place. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= space) at += 1;
  return text.charCodeAt(at) === colon;
}
