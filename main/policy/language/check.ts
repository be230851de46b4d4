/**
 * Checks a draft of a policy: the problem of each expression, where compiling it for use stops at the first.
 * Also warns of valid expressions that are surely not meant: texts that no resource has, texts that no address equals, facts
 * that never occur together, and conditions that another request evades.
 */
import { addressKinds, isAddress, writtenAddress } from './addresses.ts';
import { chainKeywordNames } from './chain-keywords.ts';
import { compile } from './compile.ts';
import { gapsOf } from './equivalents.ts';
import { parse } from './parser.ts';
import type { PolicyText } from '../decide/policies.ts';
import { print } from './printer.ts';
import { keywords, type PolicyField } from './schema.ts';
import { suggest } from './suggest.ts';
import { ExpressionError, type Node, type Span } from './syntax.ts';
import type { Type } from './types.ts';
import { compared, walk } from './walk.ts';

export const policyFields = ['condition', 'consensus', 'time'] as const satisfies readonly PolicyField[];

export type PolicyDraft = Omit<PolicyText, 'policyId'>;

/** Why an expression is refused. */
export interface PolicyProblem extends Span {
  readonly field: PolicyField;
  readonly message: string;
  /** From 1; a column counts UTF-16 units. */
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

/**
 * A warning: the draft is accepted, and worth a second look. A warning about the policy as a whole has no
 * position.
 */
export interface PolicyWarning extends Partial<Span> {
  readonly field?: PolicyField;
  readonly message: string;
}

/** The vault's names that an expression may use. */
export interface Known {
  /** By what is compared, as it is written: all texts that it can be. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** @returns the newest of the types that an activity type is one name with; undefined for what is none. */
  readonly newestType: (type: string) => string | undefined;
  /** True if a resource has this id. */
  readonly hasId: (id: string) => boolean;
  /** True if an account of a wallet has this address. */
  readonly hasAccount: (address: string) => boolean;
}

export function problemsOf(draft: PolicyDraft): readonly PolicyProblem[] {
  return policyFields.flatMap((field): PolicyProblem[] => {
    const source = draft[field] ?? '';
    if (source.trim() === '') return [];
    try {
      compile(source, field);
      return [];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const { at, line, column, expected, message } = error;
      return [{ field, message, from: at.from, to: at.to, line, column, expected }];
    }
  });
}

/** Warnings for one expression: a person reads them all. */
const mostWarnings = 20;

/** Of a draft that has no problems. */
export function warningsOf(draft: PolicyDraft, known?: Known): readonly PolicyWarning[] {
  return [
    ...reachOf(draft),
    ...policyFields.flatMap((field) => {
      const source = draft[field] ?? '';
      if (source.trim() === '') return [];
      const tree = parse(source);
      return [
        ...addresses(source, field, known),
        ...(field === 'condition'
          ? [...exclusiveFacts(tree), ...gapsOf(draft.effect, tree).slice(0, mostWarnings)]
          : []),
        ...(known === undefined
          ? []
          : [...unknownTexts(tree, known), ...olderTypes(tree, known), ...unknownIds(tree, known)]),
      ].map((warning) => ({ field, ...warning }));
    }),
  ];
}

/** A rule without a condition is about everything. */
function reachOf({ effect, condition = '', consensus = '' }: PolicyDraft): PolicyWarning[] {
  if (condition.trim() !== '' || consensus.trim() !== '') return [];
  return [
    {
      message:
        effect === 'EFFECT_ALLOW'
          ? 'The policy has neither a condition nor a consensus: it allows every user everything that policies can allow.'
          : 'The policy has neither a condition nor a consensus: it denies everything to all users but the root quorum.',
    },
  ];
}

/** One activity has at most one of each group; and an expression that asks for what is not there has no value. */
const exclusive: readonly (readonly string[])[] = [chainKeywordNames, ['wallet', 'private_key']];

/** An object of git is signed in a message of SSH. What leaves an account is a fact of all that Ethereum takes. */
const goesWith: Readonly<Record<string, readonly string[]>> = {
  git: ['ssh'],
  'eth.outflow': ['eth.tx', 'eth.eip_712', 'eth.eip_7702_authorization'],
};

function exclusiveFacts(tree: Node): Omit<PolicyWarning, 'field'>[] {
  const used = new Map<string, Node>();
  walk(tree, (node, variables) => {
    const root = node.kind === 'field' ? node.of : node;
    if (root.kind !== 'name' || variables.has(root.name)) return;
    const text = print(node);
    if (Object.hasOwn(keywords.condition, text) && !used.has(text)) used.set(text, node);
  });
  return exclusive.flatMap((group) => {
    const [first, second] = group.filter(
      (keyword) => used.has(keyword) && !goesWith[keyword]?.some((other) => used.has(other)),
    );
    const node = second === undefined ? undefined : used.get(second);
    if (first === undefined || second === undefined || node === undefined) return [];
    return [
      {
        from: node.from,
        to: node.to,
        message: `No activity has both ${first} and ${second}, so this condition never holds. Create a policy for each.`,
      },
    ];
  });
}

function unknownTexts(tree: Node, { texts }: Known): Omit<PolicyWarning, 'field'>[] {
  const warnings: Omit<PolicyWarning, 'field'>[] = [];
  walk(tree, (node) => {
    if (warnings.length >= mostWarnings) return;
    const comparison = compared(node);
    if (comparison === undefined) return;
    const what = print(comparison.with);
    const all = texts.get(what);
    if (all === undefined) return;
    for (const text of comparison.texts) {
      if (text.kind !== 'text' || all.includes(text.value)) continue;
      if (warnings.length >= mostWarnings) return;
      const meant = suggest(text.value, all);
      warnings.push({
        from: text.from,
        to: text.to,
        message: `${what} is never '${text.value}' here${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
      });
    }
  });
  return warnings;
}

/** Types of one operation are one name. */
function olderTypes(tree: Node, { newestType }: Known): Omit<PolicyWarning, 'field'>[] {
  const warnings: Omit<PolicyWarning, 'field'>[] = [];
  walk(tree, (node) => {
    if (warnings.length >= mostWarnings) return;
    const comparison = compared(node);
    if (comparison === undefined || print(comparison.with) !== 'activity.type') return;
    for (const text of comparison.texts) {
      const newest = text.kind === 'text' ? newestType(text.value) : undefined;
      if (text.kind !== 'text' || newest === undefined || newest === text.value) continue;
      if (warnings.length >= mostWarnings) return;
      warnings.push({
        from: text.from,
        to: text.to,
        message: `'${text.value}' is compared as '${newest}': policies treat all versions of an activity as one.`,
      });
    }
  });
  return warnings;
}

/** Texts that no address equals, and spellings that count where nothing says that an address is compared. */
function addresses(source: string, field: PolicyField, known?: Known): Omit<PolicyWarning, 'field'>[] {
  const warnings: Omit<PolicyWarning, 'field'>[] = [];
  compile(source, field, undefined, ({ value, from, to }, other) => {
    const message = addressWarning(value, other, known);
    if (message !== undefined && warnings.length < mostWarnings) warnings.push({ from, to, message });
  });
  return warnings;
}

function addressWarning(value: string, other: Type, known: Known | undefined): string | undefined {
  if (other.kind === 'dynamic') {
    const written = writtenAddress(value);
    return written === value || value.startsWith('0x')
      ? undefined
      : `'${value}' is compared letter by letter here. An address is written '${written}'.`;
  }
  if (other.kind !== 'text' || other.address === undefined) return undefined;
  if (!isAddress(other.address, value)) {
    return `An address is never '${value}' here; expected ${addressKinds[other.address].expected}.`;
  }
  return other.address === 'account' && known?.hasAccount(value) === false
    ? `No account of this organization has the address '${value}'.`
    : undefined;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function unknownIds(tree: Node, { hasId }: Known): Omit<PolicyWarning, 'field'>[] {
  const warnings: Omit<PolicyWarning, 'field'>[] = [];
  walk(tree, (node) => {
    if (warnings.length >= mostWarnings) return;
    if (node.kind !== 'text' || !uuid.test(node.value) || hasId(node.value)) return;
    warnings.push({
      from: node.from,
      to: node.to,
      message: `Nothing in this organization has the id '${node.value}'.`,
    });
  });
  return warnings;
}
