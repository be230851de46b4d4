/** Voters that a consensus cannot tell apart. */
import type { Program } from '../language/compile.ts';
import { parse } from '../language/parser.ts';
import type { Node } from '../language/syntax.ts';
import { walk } from '../language/walk.ts';
import type { Voter } from './facts.ts';

/** Answers all that a consensus can see of a voter. Voters of one label can take each other's place. */
export type LabelOf = (voter: Voter) => string;

const known = new WeakMap<Program, LabelOf | undefined>();

/** @returns undefined for a consensus that may tell any two voters apart. */
export function labelsOf(consensus: Program): LabelOf | undefined {
  if (!known.has(consensus)) known.set(consensus, labels(parse(consensus.source)));
  return known.get(consensus);
}

/** A text that the consensus does not name, and a value that is not known. */
const unnamed = 0;
const unknown = 1;

/** True for voters whom the consensus names in any way. */
export const isNamed = (label: string): boolean => label.includes('"');

/**
 * Where each comparison is with texts or numbers that are written out, only those texts tell voters apart. Without an index
 * the order of voters makes no difference either.
 */
function labels(consensus: Node): LabelOf | undefined {
  const nodes: Node[] = [];
  walk(consensus, (node) => nodes.push(node));
  if (!nodes.every(isComparedWithConstants)) return undefined;
  const texts = new Set(nodes.flatMap((node) => (node.kind === 'text' ? [node.value] : [])));
  const readsCredentials = nodes.some((node) => node.kind === 'name' && node.name === 'credentials');
  const told = (value: unknown): string | number => {
    if (typeof value !== 'string') return unknown;
    return texts.has(value) ? value : unnamed;
  };
  return ({ userId, email, alias, tags = [], credentials = [] }) =>
    JSON.stringify([
      told(userId),
      told(email ?? ''),
      told(alias ?? ''),
      tags.map(told),
      readsCredentials &&
        credentials.map((each) => [
          told(each.id),
          told(each.user_id),
          told(each.type),
          told(each.credential_id ?? ''),
          told(each.public_key ?? ''),
        ]),
    ]);
}

function isComparedWithConstants(node: Node): boolean {
  switch (node.kind) {
    case 'index':
    case 'slice':
    case 'call':
      return false;
    case 'compare':
      return isConstant(node.left) || isConstant(node.right);
    case 'method':
      return node.name !== 'contains' || isConstant(node.of) || node.args.every(isConstant);
    default:
      return true;
  }
}

const isConstant = (node: Node): boolean =>
  node.kind === 'list'
    ? node.items.every(isConstant)
    : node.kind === 'text' || node.kind === 'int' || node.kind === 'bool';
