/** Operations on values as programs run. A value is checked before it is used: facts come from outside. */
import type { Evaluation, Run } from './evaluation.ts';
import { print } from './printer.ts';
import type { Node } from './syntax.ts';
import { article, fits, isCaseless, isWhole, Unknown, type Type, type Whole } from './types.ts';

export type Equal = (evaluation: Evaluation, a: unknown, b: unknown) => boolean | undefined;

export const orders: Readonly<Record<'<' | '>' | '<=' | '>=', (a: Whole, b: Whole) => boolean>> = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
};

/** A number where it is exact, which is faster. */
export const exact = (value: bigint): Whole =>
  value >= -BigInt(Number.MAX_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;

/**
 * The fault of reading an unknown fact.
 * @param node The expression, as the fault names it.
 */
export const unknown = (
  evaluation: Evaluation,
  node: Node,
  { reason }: Unknown,
  whichOf: '' | 'an element of ' = '',
): unknown => evaluation.fail('unknown', node, () => `${whichOf}${print(node)} is unknown: ${reason}`);

/** Makes the texts that a run comes to what they are compared as. */
export function folding(run: Run, fold: (text: string) => string, node: Node): Run {
  return (evaluation) => {
    const value = run(evaluation);
    if (typeof value !== 'string') return value;
    // A long text is work, and iterations repeat it.
    if (value.length >= 1024 && !evaluation.step(value.length >> 10, node)) return undefined;
    return fold(value);
  };
}

/**
 * Runs both, even if the first has a fault, so that the facts an evaluation reads do not depend on their
 * values.
 */
export function both(
  left: Run,
  right: Run,
  combine: (evaluation: Evaluation, a: unknown, b: unknown) => unknown,
): Run {
  return (evaluation) => {
    const a = left(evaluation);
    const b = right(evaluation);
    return a === undefined || b === undefined ? undefined : combine(evaluation, a, b);
  };
}

export function checked(run: Run, type: Type, node: Node): Run {
  const fitting = fits(type);
  const fold = isCaseless(type);
  return (evaluation) => {
    const value = run(evaluation);
    if (value === undefined) return undefined;
    if (!fitting(value)) return evaluation.fail('invalid', node, `not ${article(type)}`);
    return fold && typeof value === 'string' ? value.toLowerCase() : value;
  };
}

export function asList(run: Run, node: Node): (evaluation: Evaluation) => readonly unknown[] | undefined {
  return (evaluation) => {
    const value = run(evaluation);
    if (value === undefined || Array.isArray(value)) return value;
    evaluation.fail('invalid', node, 'not a list');
    return undefined;
  };
}

export function gather(runs: readonly Run[], evaluation: Evaluation): readonly unknown[] | undefined {
  const values: unknown[] = [];
  let whole = true;
  for (const run of runs) {
    const value = run(evaluation);
    if (value === undefined) whole = false;
    values.push(value);
  }
  return whole ? values : undefined;
}

export function element(evaluation: Evaluation, node: Node, holder: unknown, key: unknown): unknown {
  if (typeof holder === 'string' || Array.isArray(holder)) {
    if (!isWhole(key)) return evaluation.fail('invalid', node, 'not a position');
    const found: unknown = key >= 0 ? holder[Number(key)] : undefined;
    if (found instanceof Unknown) return unknown(evaluation, node, found);
    return found ?? evaluation.fail('invalid', node, `there is no element ${key} among ${holder.length}`);
  }
  if (typeof holder !== 'object' || holder === null || typeof key !== 'string') {
    return evaluation.fail('invalid', node, 'nothing that has such an index');
  }
  const found: unknown = Object.hasOwn(holder, key)
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : null;
  if (found instanceof Unknown) return unknown(evaluation, node, found);
  return found ?? evaluation.fail('missing', node, `MissingField: ${key}`);
}

export function part(
  evaluation: Evaluation,
  node: Node,
  holder: unknown,
  start: unknown,
  end: unknown,
): unknown {
  if (typeof holder !== 'string' && !Array.isArray(holder)) {
    return evaluation.fail('invalid', node, 'neither a list nor a string');
  }
  if (!isWhole(start) || !isWhole(end) || start < 0 || start > end || end > holder.length) {
    const seen = `${String(start)}..${String(end)}`;
    return evaluation.fail('invalid', node, `there is no ${seen} within ${holder.length}`);
  }
  if (Array.isArray(holder) && !evaluation.step(Number(end) - Number(start), node)) return undefined;
  return holder.slice(Number(start), Number(end));
}

/** For values whose type leaves but one way to write each. */
export const identical: Equal = (_, a, b) => a === b;

export const sameWhole: Equal = (_, a, b) =>
  typeof a === typeof b || !isWhole(a) || !isWhole(b) ? a === b : BigInt(a) === BigInt(b);

/**
 * Compares values of which one at least has no type before the request. Amounts arrive as numbers or as their digits;
 * hexadecimal in either case.
 */
export function loosely(node: Node): Equal {
  return (evaluation, a, b) => {
    if (typeof a === 'string' && typeof b === 'string') {
      return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase());
    }
    if (typeof a === 'boolean' && typeof b === 'boolean') return a === b;
    const x = typeof a === 'string' ? whole(a) : a;
    const y = typeof b === 'string' ? whole(b) : b;
    if (isWhole(x) && isWhole(y)) return sameWhole(evaluation, x, y);
    evaluation.fail('invalid', node, 'values of two types');
    return undefined;
  };
}

/** The number that decimal digits write. */
export function whole(digits: string): bigint | undefined {
  return /^-?[0-9]{1,78}$/.test(digits) ? BigInt(digits) : undefined;
}
