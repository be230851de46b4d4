/**
 * Reads JSON in which some members are secrets, and answers those as the bytes of their UTF-8: what `JSON.parse` makes of a
 * text is strings, which stay in memory until the engine has need of the place.
 */
import { randomUUID } from 'node:crypto';
import { ownBytes } from '../../crypto/secret-text.ts';

/** The members whose texts are secrets, and all texts within them. */
const secretMembers: ReadonlySet<string> = new Set(['password', 'phrase', 'shares', 'word']);

export interface ReadJson {
  readonly value: unknown;
  /** Erases the secrets in it. */
  readonly erase: () => void;
}

/** @throws SyntaxError for invalid JSON. Its message quotes nothing. */
export function parseWithSecrets(raw: Uint8Array): ReadJson {
  const secrets: Uint8Array[] = [];
  const erase = (): void => {
    for (const secret of secrets) secret.fill(0);
  };
  try {
    // No text of the caller's can be one of these.
    const mark = randomUUID();
    const without: Uint8Array[] = [];
    let from = 0;
    for (const [start, end] of secretTexts(raw)) {
      without.push(raw.subarray(from, start), Buffer.from(`${mark} ${String(secrets.length)}`));
      secrets.push(unescaped(raw.subarray(start, end)));
      from = end;
    }
    without.push(raw.subarray(from));
    const value: unknown = JSON.parse(Buffer.concat(without).toString('utf8'), (_key, member: unknown) =>
      typeof member === 'string' && member.startsWith(mark)
        ? secrets[Number(member.slice(mark.length))]
        : member,
    );
    return { value, erase };
  } catch {
    erase();
    throw new SyntaxError('no JSON');
  }
}

interface Container {
  readonly isObject: boolean;
  readonly isSecret: boolean;
}

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const openBrace = code('{');
const closeBrace = code('}');
const openBracket = code('[');
const closeBracket = code(']');

/** Finds the secret texts, without their quotes. What is not JSON is left for the parser to find. */
function* secretTexts(raw: Uint8Array): Generator<readonly [start: number, end: number], void, undefined> {
  const containers: Container[] = [];
  let isName = false;
  let isSecret = false;
  for (let at = 0; at < raw.length; at += 1) {
    const inside = containers.at(-1);
    switch (raw[at]) {
      case openBrace:
      case openBracket:
        isName = raw[at] === openBrace;
        containers.push({ isObject: isName, isSecret });
        break;
      case closeBrace:
      case closeBracket:
        containers.pop();
        break;
      case comma:
        isName = inside?.isObject === true;
        isSecret = inside?.isSecret === true;
        break;
      case quote: {
        const end = endOfText(raw, at + 1);
        if (isName) {
          isName = false;
          isSecret = inside?.isSecret === true || isSecretName(raw.subarray(at, end + 1));
        } else if (isSecret) yield [at + 1, end];
        at = end;
        break;
      }
      default:
    }
  }
}

const isSecretName = (quoted: Uint8Array): boolean =>
  secretMembers.has(String(JSON.parse(Buffer.from(quoted).toString('utf8'))));

/** @returns where its closing quote is. */
function endOfText(raw: Uint8Array, start: number): number {
  for (let at = start; at < raw.length; at += 1) {
    if (raw[at] === quote) return at;
    if (raw[at] === backslash) at += 1;
  }
  throw new SyntaxError('no end of a text');
}

const escapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([escaped, meant]) => [code(escaped), code(meant)],
  ),
);

/** @param text What is between the quotes of a JSON text. @returns UTF-8, but for lone surrogates, which it cannot carry. */
function unescaped(text: Uint8Array): Uint8Array {
  // No escape is shorter than what it stands for.
  const bytes = ownBytes(text.length);
  let length = 0;
  for (let at = 0; at < text.length;) {
    const byte = text[at] ?? 0;
    if (byte < 0x20) throw new SyntaxError('a control character in a text');
    if (byte !== backslash) {
      bytes[length++] = byte;
      at += 1;
      continue;
    }
    const escape = text[at + 1] ?? 0;
    if (escape !== code('u')) {
      const meant = escapes.get(escape);
      if (meant === undefined) throw new SyntaxError('an unknown escape');
      bytes[length++] = meant;
      at += 2;
      continue;
    }
    let point = codeUnit(text, at);
    at += 6;
    if (isHighSurrogate(point) && text[at] === backslash && text[at + 1] === code('u')) {
      const low = codeUnit(text, at);
      if (isLowSurrogate(low)) {
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
      }
    }
    length += writeUtf8(bytes, length, point);
  }
  const exact = ownBytes(length);
  exact.set(bytes.subarray(0, length));
  bytes.fill(0);
  return exact;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** Reads `\uXXXX`. */
function codeUnit(text: Uint8Array, at: number): number {
  let unit = 0;
  for (let digit = at + 2; digit < at + 6; digit += 1) {
    const value = hexDigits.indexOf((text[digit] ?? 0) | 0x20);
    if (value === -1) throw new SyntaxError('no code unit');
    unit = unit * 16 + value;
  }
  return unit;
}

const hexDigits = Buffer.from('0123456789abcdef');

function writeUtf8(bytes: Uint8Array, at: number, point: number): number {
  if (point < 0x80) {
    bytes[at] = point;
    return 1;
  }
  const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const first = [0, 0xc0, 0xe0, 0xf0][more] ?? 0;
  bytes[at] = first | (point >> (6 * more));
  for (let left = more - 1; left >= 0; left -= 1)
    bytes[at + more - left] = 0x80 | ((point >> (6 * left)) & 0x3f);
  return more + 1;
}
