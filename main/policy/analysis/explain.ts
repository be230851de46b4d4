/** Explains a policy's outcome: the value of each part of an expression. */
import { compile } from '../language/compile.ts';
import type { Fault } from '../language/evaluation.ts';
import type { Facts } from '../decide/facts.ts';
import { throughItems } from '../decide/items.ts';
import type { PolicyField } from '../language/schema.ts';
import type { Node, Span } from '../language/syntax.ts';
import { upTo } from '../../lib/text/up-to.ts';

export interface ExplainedPart extends Span {
  /** As it is written; of a long one, the beginning. */
  readonly text: string;
  /** Its values, as the language writes them or nearly so: one for each element of a list. */
  readonly values: readonly string[];
  /** Number of evaluations; of many, `values` has the first. */
  readonly times: number;
}

export interface Explanation {
  /** Undefined where there is a fault. */
  readonly value: boolean | undefined;
  readonly fault: Fault | undefined;
  /** In the order of the source, each before its own parts; literals are left out, and what is beyond `mostParts`. */
  readonly parts: readonly ExplainedPart[];
  /** Number of parts that are left out. */
  readonly leftOut: number;
}

const shownValues = 20;
const shownCharacters = 200;
const longestPart = 1000;
/** More than a person reads of one expression. */
const mostParts = 200;

/**
 * @param asked The item of the activity that it is explained for, from 0.
 * @throws ExpressionError where the source does not compile.
 */
export function explain(source: string, field: PolicyField, facts: Facts, asked = 0): Explanation {
  const seen = new Map<Node, { values: string[]; times: number }>();
  const program = compile(source, field, (node, value) => {
    const entry = seen.get(node) ?? { values: [], times: 0 };
    entry.times += 1;
    if (entry.values.length < shownValues) entry.values.push(value === undefined ? 'error' : show(value));
    seen.set(node, entry);
  });
  let value: unknown;
  let fault: Fault | undefined;
  let item = 0;
  throughItems(facts, ({ evaluation }) => {
    if (item === asked) {
      value = evaluation.start(program.run);
      fault = evaluation.fault;
    }
    item += 1;
  });
  const parts = [...seen]
    .filter(([{ kind }]) => kind !== 'bool' && kind !== 'int' && kind !== 'text')
    .sort(([a], [b]) => a.from - b.from || b.to - a.to);
  return {
    value: typeof value === 'boolean' ? value : undefined,
    fault,
    parts: parts.slice(0, mostParts).map(([{ from, to }, entry]) => ({
      from,
      to,
      text: cut(source.slice(from, to), longestPart),
      ...entry,
    })),
    leftOut: Math.max(0, parts.length - mostParts),
  };
}

const show = (value: unknown): string => cut(write(value, 3), shownCharacters);

const cut = (text: string, most: number): string => (text.length <= most ? text : `${upTo(text, most - 1)}…`);

/** Writes a value within the bound of what may be shown. */
function write(value: unknown, depth: number): string {
  if (typeof value === 'string') return `'${upTo(value, shownCharacters)}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth === 0) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, shownValues).map((item) => write(item, depth - 1));
    return `[${items.join(', ')}${value.length > shownValues ? ', …' : ''}]`;
  }
  const members = Object.entries(value).slice(0, shownValues);
  return `{ ${members.map(([name, member]) => `${name}: ${write(member, depth - 1)}`).join(', ')} }`;
}
