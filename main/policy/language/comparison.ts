/** Comparisons: `==`, `<` and their kind, `in` and `.contains()`. */
import { folded, mismatch, type Compiled, type Of } from './compiled.ts';
import type { Run } from './evaluation.ts';
import type { Node } from './syntax.ts';
import {
  article,
  bool,
  dynamic,
  foldOf,
  isComparable,
  isWhole,
  join,
  Unknown,
  type Type,
  type Whole,
} from './types.ts';
import { asList, both, identical, loosely, orders, sameWhole, unknown, whole, type Equal } from './values.ts';

/** One side of a comparison. */
export interface Operand extends Compiled {
  readonly node: Node;
}

export function comparison(source: string, node: Of<'compare'>, left: Operand, right: Operand): Compiled {
  const { operator } = node;
  if (operator === 'in') return membership(source, node, left, right);
  const size = left.size + right.size + 1;
  if (operator === '==' || operator === '!=') {
    const wanted = operator === '==';
    const same = equality(source, node, left, right);
    return { type: bool, size, run: comparing(same.left, same.right, same.equal, wanted) };
  }
  const ordered = (type: Type): boolean => ['int', 'timestamp', 'dynamic'].includes(type.kind);
  if (!ordered(left.type)) throw mismatch(source, left.node, `an int before "${operator}"`, left.type);
  if (join(left.type, right.type) === undefined || !ordered(right.type)) {
    throw mismatch(source, right.node, `${article(left.type)} after "${operator}"`, right.type);
  }
  const order = orders[operator];
  if (left.type.kind !== 'dynamic' && right.type.kind !== 'dynamic') {
    // Typed values were checked before.
    const run = both(left.run, right.run, (_, a, b) => order(a as Whole, b as Whole));
    return { type: bool, size, run };
  }
  const run = both(left.run, right.run, (evaluation, a, b) => {
    const x = typeof a === 'string' ? whole(a) : a;
    const y = typeof b === 'string' ? whole(b) : b;
    if (isWhole(x) && isWhole(y)) return order(x, y);
    return evaluation.fail('invalid', node, 'what is compared by size is not a number');
  });
  return { type: bool, size, run };
}

/** Compiles the comparison of two operands. */
function equality(
  source: string,
  node: Node,
  left: Operand,
  right: Operand,
): { readonly left: Compiled; readonly right: Compiled; readonly equal: Equal } {
  const type = join(left.type, right.type);
  if (type === undefined || !isComparable(left.type)) {
    const wrong = isComparable(left.type) ? right : left;
    throw mismatch(
      source,
      wrong.node,
      wrong === right ? `${article(left.type)} to compare with` : 'a bool, an int, a string or a timestamp',
      wrong.type,
    );
  }
  if (!isComparable(type)) throw mismatch(source, right.node, article(left.type), right.type);
  return {
    left: folded(left, type, node),
    right: folded(right, type, node),
    equal:
      type.kind === 'dynamic' || left.type.kind === 'dynamic' || right.type.kind === 'dynamic'
        ? loosely(node)
        : type.kind === 'int'
          ? sameWhole
          : identical,
  };
}

/** `value in list` and `list.contains(value)`. */
export function membership(source: string, node: Node, value: Operand, holder: Operand): Compiled {
  const size = value.size + holder.size + 1;
  const { type } = holder;
  if (type.kind !== 'list' && type.kind !== 'dynamic') throw mismatch(source, holder.node, 'a list', type);
  const of = type.kind === 'list' ? type.of : dynamic;
  if (of.kind === 'nothing') return { type: bool, size, run: both(value.run, holder.run, () => false) };
  const { left, equal } = equality(
    source,
    node,
    value,
    // The elements of a caseless list are folded where they are taken out.
    { ...holder, type: of },
  );
  const known = literalTexts(holder.node, value.type, of);
  if (known !== undefined) {
    return { type: bool, size, run: both(left.run, holder.run, (_, found) => known.has(found)) };
  }
  const fold = foldOf(join(value.type, of) ?? of);
  const run = both(left.run, asList(holder.run, node), (evaluation, wanted, items) => {
    if (!Array.isArray(items) || !evaluation.step(items.length, node)) return undefined;
    let told = true;
    let within = false;
    for (const item of items) {
      if (item instanceof Unknown) {
        unknown(evaluation, holder.node, item, 'an element of ');
        told = false;
        continue;
      }
      const same = equal(
        evaluation,
        wanted,
        fold !== undefined && typeof item === 'string' ? fold(item) : item,
      );
      if (same === undefined) told = false;
      else if (same) within = true;
    }
    // An element that is there stays there, whatever the others are.
    if (within && evaluation.lenient) return true;
    return told ? within : undefined;
  });
  return { type: bool, size, run };
}

/** Most comparisons are of a fact with what is written out. */
function comparing(left: Compiled, right: Compiled, equal: Equal, wanted: boolean): Run {
  if (equal === identical && right.fixed !== undefined) {
    const { run } = left;
    const { value } = right.fixed;
    return (evaluation) => {
      const found = run(evaluation);
      return found === undefined ? undefined : (found === value) === wanted;
    };
  }
  return both(left.run, right.run, (evaluation, a, b) => {
    const same = equal(evaluation, a, b);
    return same === undefined ? undefined : same === wanted;
  });
}

/** The elements of a list of texts that is written out, for one look instead of many. */
function literalTexts(holder: Node, value: Type, of: Type): ReadonlySet<unknown> | undefined {
  if (holder.kind !== 'list' || value.kind !== 'text' || of.kind !== 'text') return undefined;
  const fold = foldOf(join(value, of) ?? of);
  const texts = new Set<unknown>();
  for (const item of holder.items) {
    if (item.kind !== 'text') return undefined;
    texts.add(fold === undefined ? item.value : fold(item.value));
  }
  return texts;
}
