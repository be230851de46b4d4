/** Writes a syntax tree as an expression that parses to the same tree. */
import { assertNever } from '../../lib/errors.ts';
import type { Node } from './syntax.ts';

/** From loosest to tightest; a value that stands alone binds tightest. */
const levels = { or: 1, and: 2, compare: 3, not: 4, value: 5 } as const;

export function print(node: Node): string {
  switch (node.kind) {
    case 'bool':
      return String(node.value);
    case 'int':
      return node.value.toString();
    case 'text':
      return `'${node.value}'`;
    case 'list':
      return `[${node.items.map(print).join(', ')}]`;
    case 'name':
      return node.name;
    case 'field':
      return `${atLeast(levels.value, node.of)}.${node.name}`;
    case 'index':
      return `${atLeast(levels.value, node.of)}[${print(node.index)}]`;
    case 'slice':
      return `${atLeast(levels.value, node.of)}[${print(node.start)}..${print(node.end)}]`;
    case 'method':
      return `${atLeast(levels.value, node.of)}.${node.name}(${node.args.map(print).join(', ')})`;
    case 'each':
      return `${atLeast(levels.value, node.of)}.${node.name}(${node.variable}, ${print(node.body)})`;
    case 'call':
      return `${node.name}(${node.args.map(print).join(', ')})`;
    case 'not':
      return `!${atLeast(levels.not, node.of)}`;
    case 'compare':
      return `${atLeast(levels.not, node.left)} ${node.operator} ${atLeast(levels.not, node.right)}`;
    case 'logic':
      return node.operands.map((operand) => atLeast(levelOf(node) + 1, operand)).join(` ${node.operator} `);
    default:
      return assertNever(node);
  }
}

function atLeast(level: number, node: Node): string {
  return levelOf(node) < level ? `(${print(node)})` : print(node);
}

function levelOf(node: Node): number {
  switch (node.kind) {
    case 'logic':
      return node.operator === '||' ? levels.or : levels.and;
    case 'compare':
      return levels.compare;
    case 'not':
      return levels.not;
    default:
      return levels.value;
  }
}
