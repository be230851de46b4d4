/** The syntax tree of an expression of the policy language, and the error that says where one is wrong. */
import { ExplainedError, quoted } from '../../lib/errors.ts';

/** A range in the source: offsets of UTF-16 units, the end exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** `all`, `any` and `filter` are the vendor's; `sum` is ours. */
export const iterations = ['all', 'any', 'filter', 'sum'] as const;
export type Iteration = (typeof iterations)[number];

export const comparisons = ['==', '!=', '<=', '>=', '<', '>', 'in'] as const;
export type Comparison = (typeof comparisons)[number];

export type Logic = '&&' | '||';

export type Node = Span &
  (
    | { readonly kind: 'bool'; readonly value: boolean }
    | { readonly kind: 'int'; readonly value: bigint }
    | { readonly kind: 'text'; readonly value: string }
    | { readonly kind: 'list'; readonly items: readonly Node[] }
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'field'; readonly of: Node; readonly name: string; readonly nameAt: Span }
    | { readonly kind: 'index'; readonly of: Node; readonly index: Node }
    | { readonly kind: 'slice'; readonly of: Node; readonly start: Node; readonly end: Node }
    /** `x.contains(y)` and `x.count()`. */
    | {
        readonly kind: 'method';
        readonly of: Node;
        readonly name: string;
        readonly nameAt: Span;
        readonly args: readonly Node[];
      }
    /** `x.any(item, predicate)` and its like. */
    | {
        readonly kind: 'each';
        readonly of: Node;
        readonly name: Iteration;
        readonly variable: string;
        readonly body: Node;
      }
    | { readonly kind: 'call'; readonly name: string; readonly nameAt: Span; readonly args: readonly Node[] }
    | { readonly kind: 'not'; readonly of: Node }
    | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Node; readonly right: Node }
    /** A whole chain of one operator, so that a long one is not a deep one. */
    | { readonly kind: 'logic'; readonly operator: Logic; readonly operands: readonly Node[] }
  );

/** Units of an expression's source. */
export const maxLength = 65_536;
/** Levels of the tree, and of brackets. */
export const maxDepth = 64;

export const maxInt = 2n ** 256n - 1n;
export const minInt = -(2n ** 127n);

/** An expression that does not parse or does not type-check. Its message is public and says where, and what is allowed. */
export class ExpressionError extends ExplainedError {
  override readonly name = 'ExpressionError';
  readonly at: Span;
  /** From 1; a column counts UTF-16 units. */
  readonly line: number;
  readonly column: number;
  /** The text that is wrong, or `undefined` where the expression ends too early. */
  readonly found: string | undefined;
  readonly expected: string;

  constructor(source: string, at: Span, expected: string, hint?: string) {
    const before = source.slice(0, at.from).split('\n');
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    const found = at.from < source.length ? source.slice(at.from, Math.max(at.to, at.from + 1)) : undefined;
    const what = found === undefined ? 'the end' : quoted(found);
    const more = hint === undefined ? '' : ` (${hint})`;
    super(`line ${line}, column ${column}: expected ${expected}, found ${what}${more}`);
    this.at = at;
    this.line = line;
    this.column = column;
    this.found = found;
    this.expected = expected;
  }
}
