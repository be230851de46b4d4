/**
 * A Pratt parser of the policy language: `||` binds least, then `&&`, then one comparison, `!`, and what follows a
 * value: `.field`, `.method(…)`, `[index]`, `[start..end]`.
 */
import { tokenize, type Token } from './lexer.ts';
import {
  comparisons,
  ExpressionError,
  iterations,
  maxDepth,
  maxLength,
  minInt,
  type Comparison,
  type Iteration,
  type Logic,
  type Node,
  type Span,
} from './syntax.ts';

/** Binding strength of operators. */
const power = { none: 0, or: 1, and: 2, compare: 3, not: 4 } as const;

const aValue = 'a value';
const reserved: readonly string[] = ['true', 'false', 'in'];

export const isIteration = (name: string): name is Iteration =>
  (iterations as readonly string[]).includes(name);

/**
 * @returns the tree of the whole source.
 * @throws ExpressionError with the position, what is there and what was expected.
 */
export function parse(source: string): Node {
  if (source.length > maxLength) {
    throw new ExpressionError(
      source,
      { from: maxLength, to: maxLength + 1 },
      `at most ${maxLength} characters`,
      `there are ${source.length}`,
    );
  }
  return new Parser(source, tokenize(source)).whole();
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #heights = new WeakMap<Node, number>();
  #position = 0;
  #depth = 0;

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  whole(): Node {
    const node = this.#expression(power.none);
    if (this.#token().kind !== 'end') throw this.#refuse('an operator or the end', this.#followingHint());
    return node;
  }

  #expression(above: number): Node {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#tooDeep(this.#token());
    let left = this.#prefix();
    for (;;) {
      const token = this.#token();
      const operator = token.kind === 'symbol' || token.kind === 'name' ? token.text : '';
      if (operator === '||' && above < power.or) left = this.#chain('||', left, power.or);
      else if (operator === '&&' && above < power.and) left = this.#chain('&&', left, power.and);
      else if (isComparison(operator) && above < power.compare) left = this.#comparison(operator, left);
      else break;
    }
    this.#depth -= 1;
    return left;
  }

  #chain(operator: Logic, first: Node, own: number): Node {
    const operands = [first];
    while (this.#takes(operator)) operands.push(this.#expression(own));
    const to = operands.at(-1)?.to ?? first.to;
    return this.#grow({ kind: 'logic', operator, operands, from: first.from, to }, ...operands);
  }

  #comparison(operator: Comparison, left: Node): Node {
    this.#position += 1;
    const right = this.#expression(power.compare);
    const token = this.#token();
    if ((token.kind === 'symbol' || token.kind === 'name') && isComparison(token.text)) {
      throw this.#refuse('"&&", "||" or the end', 'comparisons do not chain; use parentheses');
    }
    return this.#grow({ kind: 'compare', operator, left, right, from: left.from, to: right.to }, left, right);
  }

  #prefix(): Node {
    const token = this.#token();
    if (token.kind === 'symbol' && token.text === '!') {
      this.#position += 1;
      const of = this.#expression(power.not);
      return this.#grow({ kind: 'not', of, from: token.from, to: of.to }, of);
    }
    return this.#postfix(this.#primary());
  }

  #primary(): Node {
    const token = this.#token();
    const { from, to } = token;
    switch (token.kind) {
      case 'int':
        this.#position += 1;
        return this.#grow({ kind: 'int', value: token.value, from, to });
      case 'text':
        this.#position += 1;
        return this.#grow({ kind: 'text', value: token.value, from, to });
      case 'name':
        return this.#named(token.text, { from, to });
      case 'symbol':
        if (token.text === '-') return this.#negative(token);
        if (token.text === '[') return this.#list(token);
        if (token.text === '(') return this.#parenthesized(token);
        break;
      case 'end':
        break;
    }
    throw this.#refuse(aValue);
  }

  #named(name: string, at: Span): Node {
    if (name === 'in') throw this.#refuse(aValue, '"in" stands between a value and a list');
    this.#position += 1;
    if (name === 'true' || name === 'false') {
      return this.#grow({ kind: 'bool', value: name === 'true', ...at });
    }
    if (!this.#takes('(')) return this.#grow({ kind: 'name', name, ...at });
    const args = this.#values(')');
    return this.#grow(
      { kind: 'call', name, nameAt: at, args, from: at.from, to: this.#endOfLast() },
      ...args,
    );
  }

  #negative({ from }: Span): Node {
    this.#position += 1;
    const token = this.#token();
    if (token.kind !== 'int') throw this.#refuse('a number', 'only a number has a minus');
    this.#position += 1;
    const value = -token.value;
    if (value < minInt) {
      throw new ExpressionError(this.#source, { from, to: token.to }, 'a number from -2^127');
    }
    return this.#grow({ kind: 'int', value, from, to: token.to });
  }

  #list({ from }: Span): Node {
    this.#position += 1;
    const items = this.#values(']');
    return this.#grow({ kind: 'list', items, from, to: this.#endOfLast() }, ...items);
  }

  /** Parentheses widen the span of what they hold, and leave no other trace: the printer puts them where they are needed. */
  #parenthesized({ from }: Span): Node {
    this.#position += 1;
    const node = this.#expression(power.none);
    this.#expect(')', 'an operator or ")"');
    const widened: Node = { ...node, from, to: this.#endOfLast() };
    this.#heights.set(widened, this.#heights.get(node) ?? 0);
    return widened;
  }

  #postfix(start: Node): Node {
    let node = start;
    for (;;) {
      if (this.#takes('.')) node = this.#member(node);
      else if (this.#takes('[')) node = this.#bracket(node);
      else return node;
    }
  }

  #member(of: Node): Node {
    const token = this.#token();
    if (token.kind !== 'name') throw this.#refuse('the name of a field or method');
    this.#position += 1;
    const name = token.text;
    const nameAt = { from: token.from, to: token.to };
    if (!this.#takes('(')) {
      return this.#grow({ kind: 'field', of, name, nameAt, from: of.from, to: token.to }, of);
    }
    if (isIteration(name)) return this.#iteration(of, name);
    const args = this.#values(')');
    return this.#grow(
      { kind: 'method', of, name, nameAt, args, from: of.from, to: this.#endOfLast() },
      of,
      ...args,
    );
  }

  #iteration(of: Node, name: Iteration): Node {
    const token = this.#token();
    if (token.kind !== 'name' || reserved.includes(token.text)) {
      throw this.#refuse(`a name for the element, as in .${name}(x, …)`);
    }
    this.#position += 1;
    this.#expect(',', '"," and what to say of each element');
    const body = this.#expression(power.none);
    this.#expect(')', 'an operator or ")"');
    const to = this.#endOfLast();
    return this.#grow({ kind: 'each', of, name, variable: token.text, body, from: of.from, to }, of, body);
  }

  #bracket(of: Node): Node {
    const index = this.#expression(power.none);
    if (!this.#takes('..')) {
      this.#expect(']', '"]" or ".."');
      return this.#grow({ kind: 'index', of, index, from: of.from, to: this.#endOfLast() }, of, index);
    }
    const end = this.#expression(power.none);
    this.#expect(']', '"]"');
    const to = this.#endOfLast();
    return this.#grow({ kind: 'slice', of, start: index, end, from: of.from, to }, of, index, end);
  }

  /** Values apart by commas, up to the closing sign, which is taken. */
  #values(close: string): readonly Node[] {
    const values: Node[] = [];
    if (this.#takes(close)) return values;
    for (;;) {
      values.push(this.#expression(power.none));
      if (this.#takes(close)) return values;
      this.#expect(',', `"," or "${close}"`);
    }
  }

  #grow(node: Node, ...children: readonly Node[]): Node {
    let height = 0;
    for (const child of children) height = Math.max(height, this.#heights.get(child) ?? 0);
    if (height >= maxDepth) throw this.#tooDeep(node);
    this.#heights.set(node, height + 1);
    return node;
  }

  #token(): Token {
    const token = this.#tokens[this.#position] ?? this.#tokens.at(-1);
    if (token === undefined) throw new Error('there is always a token for the end');
    return token;
  }

  #endOfLast(): number {
    return this.#tokens[this.#position - 1]?.to ?? 0;
  }

  #takes(text: string): boolean {
    const token = this.#token();
    if (token.kind !== 'symbol' || token.text !== text) return false;
    this.#position += 1;
    return true;
  }

  #expect(text: string, expected: string): void {
    if (!this.#takes(text)) throw this.#refuse(expected, this.#followingHint());
  }

  #followingHint(): string | undefined {
    const token = this.#token();
    if (token.kind !== 'name') return undefined;
    if (/^and$/i.test(token.text)) return 'write "&&"';
    if (/^or$/i.test(token.text)) return 'write "||"';
    return undefined;
  }

  #refuse(expected: string, hint?: string): ExpressionError {
    return new ExpressionError(this.#source, this.#token(), expected, hint);
  }

  #tooDeep(at: Span): ExpressionError {
    return new ExpressionError(
      this.#source,
      { from: at.from, to: at.from + 1 },
      `at most ${maxDepth} levels`,
    );
  }
}

function isComparison(text: string): text is Comparison {
  return (comparisons as readonly string[]).includes(text);
}
