/** Walks over the tree of an expression, and finds what it compares. */
import { assertNever } from '../../lib/errors.ts';
import type { Node } from './syntax.ts';

/** The children of a node, in the order of the source. */
function parts(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'bool':
    case 'int':
    case 'text':
    case 'name':
      return [];
    case 'list':
      return node.items;
    case 'field':
    case 'not':
      return [node.of];
    case 'index':
      return [node.of, node.index];
    case 'slice':
      return [node.of, node.start, node.end];
    case 'method':
      return [node.of, ...node.args];
    case 'each':
      return [node.of, node.body];
    case 'call':
      return node.args;
    case 'compare':
      return [node.left, node.right];
    case 'logic':
      return node.operands;
    default:
      return assertNever(node);
  }
}

/** Every node, each before its parts, with the variables that are known there. */
export function walk(node: Node, visit: (node: Node, variables: ReadonlySet<string>) => void): void {
  const go = (each: Node, variables: ReadonlySet<string>): void => {
    visit(each, variables);
    if (each.kind !== 'each') {
      for (const part of parts(each)) go(part, variables);
      return;
    }
    go(each.of, variables);
    go(each.body, new Set([...variables, each.variable]));
  };
  go(node, new Set());
}

/** A comparison with constant texts. */
export interface Compared {
  readonly with: Node;
  readonly texts: readonly Node[];
}

/** @returns undefined for an expression that is not a comparison with one value, or with one of several. */
export function compared(node: Node): Compared | undefined {
  if (node.kind === 'method' && node.name === 'contains') {
    const [value] = node.args;
    return value === undefined ? undefined : { with: value, texts: textsOf(node.of) };
  }
  if (node.kind !== 'compare') return undefined;
  const { left, right } = node;
  return left.kind === 'text' ? { with: right, texts: [left] } : { with: left, texts: textsOf(right) };
}

const textsOf = (node: Node): readonly Node[] => (node.kind === 'list' ? node.items : [node]);
