/**
 * A policy as a form: who may do what, with which keys, to whom, up to how much, and who must agree. This file writes a
 * form as a policy. `main/policy/analysis/read-form.ts` reads one back, and answers a form only for a policy that this
 * file writes the same. So a form never says less than its policy.
 */
import { transactionTypes, plainPayment, tokenTransfer } from './payments.ts';

/** Several users, or all users with a tag. A list has at least one id. */
export type People =
  | { readonly kind: 'users'; readonly ids: readonly string[] }
  | { readonly kind: 'tag'; readonly id: string };

/** So many of the people must have approved. The one who asks counts. */
export interface Agreement {
  readonly count: number;
  readonly of: People | { readonly kind: 'anyone' };
}

/** Null where the policy does not say. A list has at least one text. */
export interface Deeds {
  readonly actions: readonly string[] | null;
  readonly resources: readonly string[] | null;
  readonly kinds: readonly string[] | null;
  /** True where new users are created without tags only. */
  readonly untagged: boolean;
}

export type Keys =
  | { readonly kind: 'any' }
  | { readonly kind: 'wallets'; readonly ids: readonly string[] }
  | { readonly kind: 'privateKeys'; readonly ids: readonly string[] }
  | { readonly kind: 'privateKeyTag'; readonly id: string };

/** Each holder has a budget of its own. Without holders, all share one budget. */
export const budgetHolders = {
  requester: 'submitter.id',
  wallet: 'wallet.id',
  key: 'signing_key.public_key',
  receiver: 'eth.tx.to',
} as const;
export type BudgetHolder = keyof typeof budgetHolders;

export interface Limit {
  /** Digits, in the smallest unit. */
  readonly amount: string;
  /** A duration such as `24h`; null for a limit of each payment. */
  readonly window: string | null;
  /** Empty for a limit of each payment. */
  readonly by: readonly BudgetHolder[];
}

/** A payment on a chain of Ethereum's kind, and nothing else: no call, no approval, no new contract. */
export interface Payment {
  /** Digits. */
  readonly chainId: string;
  /** The address of a token; null for the chain's coin. */
  readonly token: string | null;
  /** Null for any address. */
  readonly receivers: readonly string[] | null;
  /** Of the coin they count fees too. */
  readonly limits: readonly Limit[];
  /** Of a token's transfers, in the chain's coin. */
  readonly fees: readonly Limit[];
}

/** How many signatures in a while. A policy that allows has the most; one that denies begins above that. */
export interface SignatureLimit {
  readonly count: string;
  readonly window: string;
  readonly by: readonly BudgetHolder[];
}

/** When the policy is in force: from a time of some days on, for a while. */
export interface Hours {
  /** As cron writes them: `*`, or numbers from 0 for Sunday, as `1-5`. */
  readonly days: string;
  readonly hour: number;
  readonly minute: number;
  /** A duration such as `8h`. */
  readonly length: string;
  readonly zone: string;
}

export interface PolicyForm {
  readonly effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  /** The users whose requests the policy is about; null for all users. */
  readonly requesters: People | null;
  /** All of these must agree. */
  readonly agreements: readonly Agreement[];
  readonly deeds: Deeds;
  readonly keys: Keys;
  readonly payment: Payment | null;
  readonly signatures: SignatureLimit | null;
  readonly hours: Hours | null;
}

/** A form that restricts nothing. */
export const openForm: PolicyForm = {
  effect: 'EFFECT_ALLOW',
  requesters: null,
  agreements: [],
  deeds: { actions: null, resources: null, kinds: null, untagged: false },
  keys: { kind: 'any' },
  payment: null,
  signatures: null,
  hours: null,
};

/** The expressions of a policy; an empty one always holds. */
export interface WrittenPolicy {
  readonly effect: PolicyForm['effect'];
  readonly condition: string;
  readonly consensus: string;
  readonly time: string;
}

export function writePolicy(form: PolicyForm): WrittenPolicy {
  return {
    effect: form.effect,
    condition: conditionOf(form).join(' && '),
    consensus: form.agreements.map(agreementText).join(' && '),
    time: form.hours === null ? '' : hoursText(form.hours),
  };
}

const conditionOf = ({
  effect,
  requesters,
  deeds,
  keys,
  payment,
  signatures,
}: PolicyForm): readonly string[] => [
  ...(requesters === null ? [] : [isOf('submitter', requesters)]),
  ...oneOf('activity.action', deeds.actions),
  ...oneOf('activity.resource', deeds.resources),
  ...oneOf('activity.kind', deeds.kinds),
  ...(deeds.untagged ? ['activity.params.user_tags.count() == 0'] : []),
  ...keysText(keys),
  ...(payment === null ? [] : paymentText(payment)),
  ...(signatures === null ? [] : [signaturesText(effect, signatures)]),
];

/** A text of the language ends at the next quote: nothing escapes one. */
function text(value: string): string {
  if (value.includes("'")) throw new Error('a text of the policy language has no quote');
  return `'${value}'`;
}

function oneOf(fact: string, values: readonly string[] | null): readonly string[] {
  if (values === null) return [];
  const [first, ...others] = values;
  if (first === undefined) throw new Error(`nothing is listed for ${fact}`);
  return [others.length === 0 ? `${fact} == ${text(first)}` : `${fact} in [${values.map(text).join(', ')}]`];
}

const isOf = (user: string, people: People): string =>
  people.kind === 'tag'
    ? `${user}.tags.contains(${text(people.id)})`
    : oneOf(`${user}.id`, people.ids).join('');

function agreementText({ count, of }: Agreement): string {
  if (of.kind === 'anyone') return `approvers.count() >= ${String(count)}`;
  const is = isOf('user', of);
  return count === 1
    ? `approvers.any(user, ${is})`
    : `approvers.filter(user, ${is}).count() >= ${String(count)}`;
}

function keysText(keys: Keys): readonly string[] {
  switch (keys.kind) {
    case 'any':
      return [];
    case 'wallets':
      return oneOf('wallet.id', keys.ids);
    case 'privateKeys':
      return oneOf('private_key.id', keys.ids);
    case 'privateKeyTag':
      return [`private_key.tags.contains(${text(keys.id)})`];
  }
}

const tokenReceiver = "CaseInsensitiveString(eth.tx.contract_call_args['to'])";
const tokenAmount = "eth.tx.contract_call_args['amount']";

function paymentText({ chainId, token, receivers, limits, fees }: Payment): readonly string[] {
  const chain = `eth.tx.chain_id == ${chainId}`;
  if (token === null) {
    return [
      chain,
      ...(receivers === null ? ["eth.tx.to != ''"] : oneOf('eth.tx.to', receivers)),
      plainPayment,
      ...limits.map((limit) => limitText('eth.tx.outflow', limit)),
    ];
  }
  return [
    chain,
    `eth.tx.to == ${text(token)}`,
    tokenTransfer,
    transactionTypes,
    ...oneOf(tokenReceiver, receivers),
    ...limits.map((limit) => limitText(tokenAmount, limit)),
    ...fees.map((limit) => limitText('eth.tx.max_fee', limit)),
  ];
}

/** The amounts that a policy counts over time, as its expressions name them: `RollingSum` of one, or signatures. */
export const measuresOf = ({
  payment,
  signatures,
}: PolicyForm): readonly { readonly measure: string; readonly of: BudgetKind; readonly limit: Limit }[] => [
  ...(payment?.limits ?? []).map(
    (limit) =>
      ({ measure: payment?.token === null ? 'eth.tx.outflow' : tokenAmount, of: 'amount', limit }) as const,
  ),
  ...(payment?.fees ?? []).map((limit) => ({ measure: 'eth.tx.max_fee', of: 'fees', limit }) as const),
  ...(signatures === null
    ? []
    : [
        {
          measure: '',
          of: 'signatures',
          limit: { amount: signatures.count, window: signatures.window, by: signatures.by },
        } as const,
      ]),
];

export const budgetKinds = ['amount', 'fees', 'signatures'] as const;
export type BudgetKind = (typeof budgetKinds)[number];

const heldBy = (by: readonly BudgetHolder[]): string =>
  by.map((holder) => `, ${budgetHolders[holder]}`).join('');

const limitText = (measure: string, { amount, window, by }: Limit): string =>
  window === null
    ? `${measure} <= ${amount}`
    : `RollingSum(${measure}, ${text(window)}${heldBy(by)}) <= ${amount}`;

const signaturesText = (effect: PolicyForm['effect'], { count, window, by }: SignatureLimit): string =>
  `RollingCount(${text(window)}${heldBy(by)}) ${effect === 'EFFECT_ALLOW' ? '<=' : '>'} ${count}`;

const hoursText = ({ days, hour, minute, length, zone }: Hours): string =>
  `CronSpan(${text(`${String(minute)} ${String(hour)} * * ${days}`)}, ${text(length)}, ${text(zone)})`;
