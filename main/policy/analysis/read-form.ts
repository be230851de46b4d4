/**
 * Reads a policy as a form, where a form says all of it. The reading proposes a form, and the form stands only if it
 * writes the same policy: the same parts joined by `&&`, in any order. What a form cannot say, an `||` or a `!` among
 * it, therefore has no form.
 */
import {
  budgetHolders,
  openForm,
  writePolicy,
  type Agreement,
  type BudgetHolder,
  type Hours,
  type Limit,
  type People,
  type PolicyForm,
} from '../../lib/policies/policy-form.ts';
import { isReceiver } from '../../lib/policies/spenders.ts';
import type { PolicyText } from '../decide/policies.ts';
import { compile } from '../language/compile.ts';
import { parse } from '../language/parser.ts';
import { print } from '../language/printer.ts';
import type { PolicyField } from '../language/schema.ts';
import { ExpressionError, type Node } from '../language/syntax.ts';

/** @returns undefined for a policy that no form shows, and for one that does not compile. */
export function readForm(policy: Omit<PolicyText, 'policyId'>): PolicyForm | undefined {
  const sources = {
    condition: policy.condition ?? '',
    consensus: policy.consensus ?? '',
    time: policy.time ?? '',
  };
  const read = { condition: partsOf('condition', sources), consensus: partsOf('consensus', sources) };
  const time = partsOf('time', sources);
  if (read.condition === undefined || read.consensus === undefined || time === undefined) return undefined;
  const form = propose(policy.effect, read.condition, read.consensus, time);
  if (form === undefined) return undefined;
  const written = writePolicy(form);
  const areSame = (['condition', 'consensus', 'time'] as const).every((field) => {
    const parts = partsOf(field, written);
    return parts !== undefined && sameParts(parts, partsOf(field, sources) ?? []);
  });
  return areSame ? form : undefined;
}

/** The parts of an expression that must all hold; none of an empty one, undefined for one that is wrong. */
function partsOf(
  field: PolicyField,
  { [field]: source }: Readonly<Record<PolicyField, string>>,
): readonly Node[] | undefined {
  if (source.trim() === '') return [];
  try {
    compile(source, field);
    const tree = parse(source);
    return tree.kind === 'logic' && tree.operator === '&&' ? tree.operands : [tree];
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

const sameParts = (one: readonly Node[], other: readonly Node[]): boolean =>
  JSON.stringify(one.map(canonical).sort()) === JSON.stringify(other.map(canonical).sort());

/** Writes parts the same that mean the same: `x in ['a']` is `x == 'a'`, and a variable may have any name. */
function canonical(node: Node): string {
  if (node.kind === 'compare' && node.operator === 'in' && node.right.kind === 'list') {
    const [only, ...others] = node.right.items;
    if (only !== undefined && others.length === 0) {
      return canonical({ ...node, operator: '==', right: only });
    }
  }
  if (node.kind === 'each' && node.of.kind === 'name') {
    const body = renamed(node.body, node.variable);
    return body === undefined ? print(node) : `${node.of.name}.${node.name}(${canonical(body)})`;
  }
  if (node.kind === 'compare' && node.left.kind === 'method' && node.left.of.kind === 'each') {
    return `${canonical(node.left.of)}.${node.left.name}(${node.left.args.map(print).join()}) ${node.operator} ${print(node.right)}`;
  }
  return print(node);
}

/** The body of an iteration that says one thing of its variable, with another name; undefined for other bodies. */
function renamed(body: Node, variable: string): Node | undefined {
  const subject = body.kind === 'compare' ? body.left : body.kind === 'method' ? body.of : undefined;
  if (subject?.kind !== 'field' || subject.of.kind !== 'name' || subject.of.name !== variable)
    return undefined;
  const other: Node = { ...subject, of: { ...subject.of, name: 'element' } };
  if (body.kind === 'compare' && constants(body.right) !== undefined) return { ...body, left: other };
  if (body.kind === 'method' && body.args.every((each) => constants(each) !== undefined)) {
    return { ...body, of: other };
  }
  return undefined;
}

/** The texts that a node is or lists, if it is nothing else. */
function constants(node: Node): readonly string[] | undefined {
  const items = node.kind === 'list' ? node.items : [node];
  const texts = items.flatMap((item) => (item.kind === 'text' ? [item.value] : []));
  return texts.length === items.length && texts.length > 0 ? texts : undefined;
}

/** The form as far as the parts say it. */
interface Proposal {
  readonly form: PolicyForm;
  readonly chainId?: string;
  /** Compared with `eth.tx.to`. */
  readonly to?: readonly string[];
  readonly tokenReceivers?: readonly string[];
  readonly isToken: boolean;
  readonly limits: readonly Limit[];
  readonly fees: readonly Limit[];
}

function propose(
  effect: PolicyForm['effect'],
  condition: readonly Node[],
  consensus: readonly Node[],
  time: readonly Node[],
): PolicyForm | undefined {
  const proposal = condition.reduce<Proposal>(
    (known, part) => ({ ...known, ...readCondition(known, part) }),
    {
      form: { ...openForm, effect },
      isToken: false,
      limits: [],
      fees: [],
    },
  );
  const agreements = consensus.flatMap((part) => agreementIn(part) ?? []);
  const [span] = time;
  const hours = span === undefined ? null : hoursIn(span);
  const { deeds } = proposal.form;
  const { chainId, to, tokenReceivers, isToken, limits, fees } = proposal;
  const form = { ...proposal.form, agreements, hours: hours ?? null };
  if (agreements.some(({ count }) => count < 1)) return undefined;
  // People misread a sentence about a denial that needs approval.
  if (effect === 'EFFECT_DENY' && agreements.length > 0) return undefined;
  if (![deeds.actions, deeds.resources, deeds.kinds].every(areWords)) return undefined;
  if (chainId === undefined) return form;
  // A sentence about payments that are denied, or about several kinds of deeds, would be one that people misread.
  if (
    effect === 'EFFECT_DENY' ||
    deeds.actions !== null ||
    deeds.resources !== null ||
    deeds.kinds !== null ||
    deeds.untagged
  ) {
    return undefined;
  }
  const [token = null] = isToken ? (to ?? []) : [];
  const receivers = (isToken ? tokenReceivers : to) ?? null;
  // An empty text stands for no receiver: a new contract.
  if (![...(receivers ?? []), ...(token === null ? [] : [token])].every(isReceiver)) return undefined;
  return { ...form, payment: { chainId, token, receivers, limits, fees } };
}

/** False for a text such as `EXPORT and DELETE`: no deed is called so, and a sentence would seem to name two. */
const areWords = (texts: readonly string[] | null): boolean =>
  texts === null || texts.every((word) => /^[A-Z0-9_]+$/.test(word));

/** By fact, what its comparison with texts says. */
const ofTexts: Readonly<
  Record<string, (proposal: Proposal, texts: readonly string[], first: string) => Partial<Proposal>>
> = {
  'submitter.id': ({ form }, ids) => ({ form: { ...form, requesters: { kind: 'users', ids } } }),
  'submitter.tags': ({ form }, _, id) => ({ form: { ...form, requesters: { kind: 'tag', id } } }),
  'activity.action': ({ form }, actions) => ({ form: { ...form, deeds: { ...form.deeds, actions } } }),
  'activity.resource': ({ form }, resources) => ({ form: { ...form, deeds: { ...form.deeds, resources } } }),
  'activity.kind': ({ form }, kinds) => ({ form: { ...form, deeds: { ...form.deeds, kinds } } }),
  'wallet.id': ({ form }, ids) => ({ form: { ...form, keys: { kind: 'wallets', ids } } }),
  'private_key.id': ({ form }, ids) => ({ form: { ...form, keys: { kind: 'privateKeys', ids } } }),
  'private_key.tags': ({ form }, _, id) => ({ form: { ...form, keys: { kind: 'privateKeyTag', id } } }),
  'eth.tx.to': (_, to) => ({ to }),
  'eth.tx.function_signature': () => ({ isToken: true }),
  "CaseInsensitiveString(eth.tx.contract_call_args['to'])": (_, tokenReceivers) => ({ tokenReceivers }),
};

/** Adds a part to the proposal, or nothing where no form says it. */
function readCondition(proposal: Proposal, part: Node): Partial<Proposal> {
  const { form } = proposal;
  const found = comparedTexts(part);
  if (found !== undefined) {
    const { fact, texts } = found;
    return Object.hasOwn(ofTexts, fact) ? (ofTexts[fact]?.(proposal, texts, texts[0] ?? '') ?? {}) : {};
  }
  if (part.kind !== 'compare' || part.right.kind !== 'int') return {};
  const number = String(part.right.value);
  const measure = print(part.left);
  if (measure === 'activity.params.user_tags.count()') {
    return { form: { ...form, deeds: { ...form.deeds, untagged: true } } };
  }
  if (measure === 'eth.tx.chain_id') return { chainId: number };
  if (part.left.kind === 'call' && part.left.name === 'RollingCount') {
    const [window, ...by] = part.left.args;
    return {
      form: { ...form, signatures: { count: number, window: literal(window), by: holders(by) } },
    };
  }
  if (part.operator !== '<=') return {};
  const [amount, window, ...by] =
    part.left.kind === 'call' && part.left.name === 'RollingSum' ? part.left.args : [part.left];
  const limit: Limit = {
    amount: number,
    window: window === undefined ? null : literal(window),
    by: holders(by),
  };
  return amount !== undefined && print(amount) === 'eth.tx.max_fee'
    ? { fees: [...proposal.fees, limit] }
    : { limits: [...proposal.limits, limit] };
}

/** The fact that a part compares with constant texts: `x == 'a'`, `x in ['a']`, `x.contains('a')`. */
function comparedTexts(part: Node): { readonly fact: string; readonly texts: readonly string[] } | undefined {
  if (part.kind === 'method' && part.name === 'contains') {
    const [wanted] = part.args;
    return wanted?.kind === 'text' ? { fact: print(part.of), texts: [wanted.value] } : undefined;
  }
  if (part.kind !== 'compare' || (part.operator !== '==' && part.operator !== 'in')) return undefined;
  const texts = constants(part.right);
  return texts === undefined ? undefined : { fact: print(part.left), texts };
}

const literal = (node: Node | undefined): string => (node?.kind === 'text' ? node.value : '');

const holderNames = Object.keys(budgetHolders) as readonly BudgetHolder[];
const holders = (nodes: readonly Node[]): readonly BudgetHolder[] =>
  nodes.flatMap((node) => holderNames.find((name) => budgetHolders[name] === print(node)) ?? []);

/** `approvers.any(user, …)`, `approvers.filter(user, …).count() >= 2` or `approvers.count() >= 2`. */
function agreementIn(part: Node): Agreement | undefined {
  if (part.kind === 'each') {
    const of = peopleIn(part.body);
    return of === undefined ? undefined : { count: 1, of };
  }
  if (part.kind !== 'compare' || part.left.kind !== 'method' || part.right.kind !== 'int') return undefined;
  const count = Number(part.right.value);
  const list = part.left.of;
  if (list.kind === 'name') return { count, of: { kind: 'anyone' } };
  const of = list.kind === 'each' ? peopleIn(list.body) : undefined;
  return of === undefined ? undefined : { count, of };
}

function peopleIn(body: Node): People | undefined {
  const found = comparedTexts(body);
  const [first] = found?.texts ?? [];
  if (found === undefined || first === undefined) return undefined;
  return body.kind === 'method' ? { kind: 'tag', id: first } : { kind: 'users', ids: found.texts };
}

function hoursIn(span: Node): Hours | undefined {
  if (span.kind !== 'call' || span.name !== 'CronSpan') return undefined;
  const [cron = '', length = '', zone = ''] = span.args.map(literal);
  const [minute, hour, , , days = ''] = cron.split(' ');
  return { days, hour: Number(hour), minute: Number(minute), length, zone };
}
