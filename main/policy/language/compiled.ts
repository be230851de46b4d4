/** The compiled form of a part of an expression, and the refusal of an invalid part. */
import type { Run } from './evaluation.ts';
import { ExpressionError, type Node } from './syntax.ts';
import { article, foldOf, isAddress, isCaseless, isVersioned, type Type } from './types.ts';
import { folding } from './values.ts';

export type Of<Kind extends Node['kind']> = Extract<Node, { readonly kind: Kind }>;

export interface Compiled {
  readonly type: Type;
  readonly run: Run;
  /** Nodes in it: what it costs to run it once, but for its iterations. */
  readonly size: number;
  /** The constant value, if it is written out. */
  readonly fixed?: { readonly value: unknown };
}

export const constant = (type: Type, value: unknown): Compiled => ({
  type,
  size: 1,
  run: () => value,
  fixed: { value },
});

export const total = (parts: readonly Compiled[]): number => parts.reduce((sum, { size }) => sum + size, 1);

/** A text made what it is compared as: in lower case, without its version, or as addresses are written. */
export function folded(compiled: Compiled, as: Type, node: Node): Compiled {
  const fold = foldOf(as);
  // A fact of a caseless type is in lower case from the start.
  const isFolded =
    isCaseless(compiled.type) && !isVersioned(as) && (!isAddress(as) || isAddress(compiled.type));
  if (fold === undefined || isFolded) return compiled;
  const { fixed, run, size } = compiled;
  if (typeof fixed?.value === 'string') return constant(as, fold(fixed.value));
  return { type: as, size, run: folding(run, fold, node) };
}

/** @throws ExpressionError unless so many arguments are given. */
export function checkArity(
  source: string,
  node: Of<'method'> | Of<'call'>,
  count: number,
  usage: string,
): void {
  if (node.args.length === count) return;
  throw new ExpressionError(source, node.nameAt, usage, `it takes ${argumentsOf(count)}`);
}

const argumentsOf = (count: number): string =>
  count === 0 ? 'no arguments' : count === 1 ? 'one argument' : `${count} arguments`;

export const mismatch = (source: string, node: Node, expected: string, type: Type): ExpressionError =>
  new ExpressionError(source, node, expected, `it is ${article(type)}`);
