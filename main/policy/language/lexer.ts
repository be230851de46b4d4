/** The tokens of an expression. */
import { ExpressionError, maxInt, type Span } from './syntax.ts';

export type Token = Span &
  (
    | { readonly kind: 'name'; readonly text: string }
    | { readonly kind: 'int'; readonly value: bigint }
    | { readonly kind: 'text'; readonly value: string }
    | { readonly kind: 'symbol'; readonly text: string }
    | { readonly kind: 'end' }
  );

const space = /[ \t\r\n]+/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const digits = /[0-9]+/y;
const symbol = /&&|\|\||==|!=|<=|>=|\.\.|[<>!()[\],.-]/y;

/** Frequent mistakes, with the spelling of the language. */
const habits: Readonly<Record<string, readonly [expected: string, hint: string]>> = {
  '"': ["a text in '…'", 'texts stand in single quotes'],
  '’': ["a text in '…'", 'the quote is a plain one'],
  '‘': ["a text in '…'", 'the quote is a plain one'],
  '=': ['"=="', 'there is no assignment'],
  '&': ['"&&"', 'both ampersands'],
  '|': ['"||"', 'both bars'],
  '+': ['a comparison', 'there is no arithmetic'],
  '*': ['a comparison', 'there is no arithmetic'],
  '/': ['a comparison', 'there is no arithmetic'],
};

/**
 * A text ends at the next single quote: nothing escapes one.
 * @throws ExpressionError
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let from = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = from;
    return pattern.exec(source)?.[0];
  };
  while (from < source.length) {
    const blank = match(space);
    if (blank !== undefined) {
      from += blank.length;
      continue;
    }
    const token = next();
    tokens.push(token);
    from = token.to;
  }
  tokens.push({ kind: 'end', from, to: from });
  return tokens;

  function next(): Token {
    const word = match(name);
    if (word !== undefined) return { kind: 'name', text: word, from, to: from + word.length };
    const number = match(digits);
    if (number !== undefined) return int(number);
    if (source[from] === "'") return text();
    const sign = match(symbol);
    if (sign !== undefined) return { kind: 'symbol', text: sign, from, to: from + sign.length };
    const at = { from, to: from + (String.fromCodePoint(source.codePointAt(from) ?? 0).length || 1) };
    const [expected, hint] = habits[source.charAt(from)] ?? [
      'a name, a number, a text in single quotes or an operator',
      undefined,
    ];
    throw new ExpressionError(source, at, expected, hint);
  }

  function int(number: string): Token {
    const to = from + number.length;
    const after = /^(?:[A-Za-z_][A-Za-z0-9_]*|\.[0-9]+)/.exec(source.slice(to, to + 80))?.[0];
    if (after !== undefined) {
      const at = { from, to: to + after.length };
      throw new ExpressionError(source, at, 'a whole decimal number', 'like 1000000000000000000');
    }
    // 2²⁵⁶ has 78 digits: what is longer is not worth converting.
    const value = number.length > 100 ? maxInt + 1n : BigInt(number);
    if (value > maxInt) {
      throw new ExpressionError(source, { from, to }, 'a number below 2^256');
    }
    return { kind: 'int', value, from, to };
  }

  function text(): Token {
    const close = source.indexOf("'", from + 1);
    if (close === -1) {
      throw new ExpressionError(source, { from, to: source.length }, "a text that ends with a '");
    }
    return { kind: 'text', value: source.slice(from + 1, close), from, to: close + 1 };
  }
}
