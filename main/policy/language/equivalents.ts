/**
 * Finds conditions that a request can evade: another request has the same effect and avoids the facts in the
 * condition. Each warning proposes a condition that holds. Also finds budgets that leave some spending
 * unbounded.
 */
import { withoutVersion } from '../../lib/text/activity-types.ts';
import { isChainKeyword, spendings } from './chain-keywords.ts';
import type { PolicyText } from '../decide/policies.ts';
import { print } from './printer.ts';
import type { Node, Span } from './syntax.ts';
import { compared, walk } from './walk.ts';

interface Gap extends Span {
  readonly message: string;
}

/** @param tree Of a condition that compiles. */
export function gapsOf(effect: PolicyText['effect'], tree: Node): readonly Gap[] {
  const condition = read(tree);
  const found =
    effect === 'EFFECT_DENY'
      ? [...sameThings(condition), ...otherNames(condition), ...otherPositions(condition)]
      : unbounded(condition);
  return found.map(({ at: { from, to }, message }) => ({ from, to, message }));
}

interface Found {
  readonly at: Node;
  readonly message: string;
}

/** The facts in a condition, as far as the tables below need them. */
interface Condition {
  /** Texts that something is required to be, where it is not negated. */
  readonly claims: readonly { readonly of: string; readonly value: string; readonly at: Node }[];
  /** The first mention of each fact, as it is written: `eth.tx.to` is one of `eth.tx` too. */
  readonly mentions: ReadonlyMap<string, Node>;
  /** Facts with an upper bound: those that rolling sums add up, and those compared directly. */
  readonly amounts: readonly { readonly of: string; readonly at: Node }[];
  /** Elements of lists that are asked for by a written position. */
  readonly positions: readonly Node[];
}

function read(tree: Node): Condition {
  const claims: Condition['claims'][number][] = [];
  const mentions = new Map<string, Node>();
  const amounts: Condition['amounts'][number][] = [];
  const positions: Node[] = [];
  const negated = negationsIn(tree);
  walk(tree, (node) => {
    const comparison = compared(node);
    const excludes = node.kind === 'compare' && node.operator === '!=';
    if (comparison !== undefined && excludes === negated.has(node)) {
      const of = print(comparison.with);
      for (const at of comparison.texts) {
        if (at.kind === 'text') claims.push({ of, value: at.value, at });
      }
    }
    if (node.kind === 'field') {
      const text = print(node);
      if (!mentions.has(text)) mentions.set(text, node);
    }
    const [amount] = node.kind === 'call' && node.name === 'RollingSum' ? node.args : [];
    if (amount !== undefined) amounts.push({ of: print(amount), at: node });
    const least = lesser(node);
    if (least !== undefined) amounts.push({ of: print(least), at: node });
    if (node.kind === 'index' && node.index.kind === 'int') positions.push(node);
  });
  return { claims, mentions, amounts, positions };
}

/** The side of a comparison that is bounded by the other. */
function lesser(node: Node): Node | undefined {
  if (node.kind !== 'compare') return undefined;
  if (node.operator === '<' || node.operator === '<=') return node.left;
  return node.operator === '>' || node.operator === '>=' ? node.right : undefined;
}

/** The nodes that stand under an odd number of negations. */
function negationsIn(tree: Node): ReadonlySet<Node> {
  const negated = new Set<Node>();
  walk(tree, (outer) => {
    if (outer.kind !== 'not') return;
    walk(outer.of, (node) => {
      if (!negated.delete(node)) negated.add(node);
    });
  });
  return negated;
}

/** Kinds of activities that come to the same: to deny one of them denies one way of several. */
export const sameKinds: readonly { readonly kinds: readonly string[]; readonly better: string }[] = [
  {
    kinds: ['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION'],
    better: "activity.action == 'SIGN'",
  },
  {
    kinds: ['CREATE_POLICY', 'CREATE_POLICIES'],
    better: "activity.resource == 'POLICY' && activity.action == 'CREATE'",
  },
  {
    kinds: ['DELETE_POLICY', 'DELETE_POLICIES'],
    better: "activity.resource == 'POLICY' && activity.action == 'DELETE'",
  },
  {
    kinds: ['EXPORT_WALLET', 'EXPORT_WALLET_ACCOUNT'],
    better: "activity.resource == 'WALLET' && activity.action == 'EXPORT'",
  },
  {
    kinds: ['DELETE_WALLETS', 'DELETE_WALLET_ACCOUNTS'],
    better: "activity.resource == 'WALLET' && activity.action == 'DELETE'",
  },
  {
    kinds: [
      'UPDATE_USER',
      'UPDATE_USER_NAME',
      'UPDATE_USER_EMAIL',
      'UPDATE_USER_PHONE_NUMBER',
      'UPDATE_USER_TAG',
    ],
    better: "activity.resource == 'USER' && activity.action == 'UPDATE'",
  },
  {
    kinds: ['CREATE_API_KEYS', 'CREATE_AUTHENTICATORS', 'CREATE_OAUTH_PROVIDERS'],
    better: "activity.resource == 'CREDENTIAL' && activity.action == 'CREATE'",
  },
];

function sameThings({ claims }: Condition): readonly Found[] {
  const kinds = claims.flatMap(({ of, value, at }) => {
    const prefix = { 'activity.type': 'ACTIVITY_TYPE_', 'activity.kind': '' }[of];
    if (prefix === undefined || !value.startsWith(prefix)) return [];
    return [{ kind: withoutVersion(value.slice(prefix.length)), at }];
  });
  return sameKinds.flatMap(({ kinds: group, better }): Found[] => {
    const named = kinds.filter(({ kind }) => group.includes(kind));
    const [first] = named;
    const others = group.filter((kind) => named.every((each) => each.kind !== kind));
    if (first === undefined || others.length === 0) return [];
    return [
      {
        at: first.at,
        message: `${others.join(' and ')} can do the same as ${first.kind}, and this does not deny ${others.length === 1 ? 'it' : 'them'}. Write ${better}.`,
      },
    ];
  });
}

interface OtherName {
  /** Facts that are one name of several for what is denied; as they end, for `.function_name`. */
  readonly facts: readonly string[];
  /** Facts beside which that does no harm. */
  readonly unless: readonly string[];
  /** True if they name a key: a key that does not sign has no other fact. */
  readonly ofKeys?: true;
  readonly message: string;
}

const otherFacts: readonly OtherName[] = [
  {
    facts: ['wallet_account.address', 'private_key.id', 'activity.params.sign_with'],
    unless: ['signing_key.public_key'],
    ofKeys: true,
    message:
      'A key has other names: the addresses of its other formats, its id, its public key. Compare signing_key.public_key, which is the same for all of them.',
  },
  {
    facts: ['eth.tx.max_fee_per_gas', 'eth.tx.max_priority_fee_per_gas', 'eth.tx.max_fee_per_blob_gas'],
    unless: ['eth.tx.gas_price', 'eth.tx.max_fee', 'eth.tx.outflow'],
    message:
      'Some types of transactions do not have this fact, and what is missing lets a denial pass. Compare eth.tx.gas_price, or eth.tx.max_fee, which every type has.',
  },
  {
    facts: ['eth.tx.value'],
    unless: ['eth.tx.outflow', 'eth.tx.max_fee'],
    message: 'A fee takes money out as well. Compare eth.tx.outflow, which has the value and the fee.',
  },
  {
    facts: ['.function_name'],
    unless: ['.function_signature'],
    message:
      'A contract’s functions are named by the interface that is kept of it. Compare function_signature, which the bytes have.',
  },
  {
    facts: ['.instruction_name'],
    unless: ['.discriminator', '.instruction_data_hex'],
    message:
      'A program’s instructions are named by the interface that is kept of it. Compare discriminator or instruction_data_hex, which the bytes have.',
  },
];

const valuesOf = (claims: Condition['claims'], of: string): readonly string[] =>
  claims.filter((claim) => claim.of === of).map(({ value }) => value);

function otherNames({ claims, mentions }: Condition): readonly Found[] {
  const actions = valuesOf(claims, 'activity.action');
  const mayBeSigning = actions.length === 0 || actions.includes('SIGN');
  const facts = otherFacts.flatMap(({ facts: names, unless, message, ofKeys }): Found[] => {
    const at = mentionOf(mentions, names);
    const harmless = mentionOf(mentions, unless) !== undefined || (ofKeys === true && !mayBeSigning);
    return at === undefined || harmless ? [] : [{ at, message }];
  });
  return [...facts, ...otherEncodings(claims)];
}

const encoding = 'activity.params.encoding';
const hashFunction = 'activity.params.hash_function';

/** Whatever is signed is a digest in the end; only a denial of digests denies all that may be one. */
function otherEncodings(claims: Condition['claims']): readonly Found[] {
  const how = claims.find(({ of }) => of === encoding || of === hashFunction);
  if (how === undefined || valuesOf(claims, hashFunction).includes('HASH_FUNCTION_NO_OP')) return [];
  return [
    {
      at: how.at,
      message:
        'The same can be signed in another encoding, or as a digest. Deny by eth.eip_712 or eth.tx: of a digest they are unknown, and a denial by them holds.',
    },
  ];
}

/** The same parts in another order are the same transaction to most, and another to a condition by position. */
function otherPositions({ positions }: Condition): readonly Found[] {
  return positions.flatMap((at): Found[] =>
    at.kind === 'index' && isChainFact(print(at.of))
      ? [{ at, message: `What is denied may stand at another position. Write ${print(at.of)}.any(item, …).` }]
      : [],
  );
}

/** Of a policy to allow: what its budgets and bounds leave open. */
function unbounded({ amounts, mentions }: Condition): readonly Found[] {
  return spendings.flatMap((spending): Found[] => {
    const bounded = amounts.find(({ of }) =>
      [...spending.amounts, spending.whole].some((each) => isOf(of, each)),
    );
    const open = spending.needs
      .filter(({ facts }) => mentionOf(mentions, facts) === undefined)
      .map((need) => need.open);
    if (bounded === undefined || open.length === 0) return [];
    return [
      {
        at: bounded.at,
        message: `The condition limits ${bounded.of}, and does not limit: ${open.join(', ')}. A condition that limits all of it: ${spending.safe}`,
      },
    ];
  });
}

/** True for a field of a chain's keyword, such as `solana.tx.instructions`. */
const isChainFact = (text: string): boolean => isChainKeyword(text.slice(0, text.lastIndexOf('.')));

const isOf = (text: string, fact: string): boolean =>
  text === fact || ['.', '['].some((more) => text.startsWith(`${fact}${more}`));

/** @param facts As they are written, or how they end: `.type`. */
const mentionOf = (mentions: Condition['mentions'], facts: readonly string[]): Node | undefined =>
  [...mentions].find(([text]) =>
    facts.some((fact) => text === fact || (fact.startsWith('.') && text.endsWith(fact))),
  )?.[1];
