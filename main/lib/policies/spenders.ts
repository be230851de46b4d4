/**
 * Spenders: users who spend from one wallet within budgets, and do nothing else. A bot is one, and so are programs of doors.
 * The command and the window create a spender's policies here, and read from them what it may do.
 */
import { grantEnd } from './grants.ts';
import { plainPayment } from './payments.ts';

/** The most that may leave the wallet in a period. Of the chain's coin it counts fees too. */
export interface Budget {
  /** Addresses of the token, of which each chain has its own. Empty for the chain's coin. */
  readonly tokens: readonly string[];
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly period: Period;
}

export type Period = keyof typeof windows;

/** By the words of a budget, the windows of `RollingSum`. */
const windows = { hour: '1h', day: '24h', week: '7d' } as const;

export const periods = Object.keys(windows) as readonly Period[];

export interface Spender {
  readonly userId: string;
  /** True for a bot: it pays coins of one chain, and signs no token, call, typed data or text. */
  readonly isBot: boolean;
  /** A wallet keeps its id when it is renamed. */
  readonly walletId: string;
  /** At least one. Its budgets are for all of them together. */
  readonly chainIds: readonly bigint[];
  /** At least one. What has no budget may not be spent. */
  readonly budgets: readonly Budget[];
  /** Hex with `0x`; any address where there is none. */
  readonly receivers: readonly string[];
  /** True if it may sign texts too, such as sign-ins. */
  readonly messages: boolean;
  /** The user who may approve what exceeds a budget. Undefined where that is refused. */
  readonly approverId: string | undefined;
}

/** A unit of a budget, as in `10 USDC/day`. */
export interface Unit {
  readonly symbol: string;
  readonly decimals: number;
  readonly tokens: Budget['tokens'];
}

export const coinUnits: readonly Unit[] = [
  { symbol: 'ETH', decimals: 18, tokens: [] },
  { symbol: 'gwei', decimals: 9, tokens: [] },
  { symbol: 'wei', decimals: 0, tokens: [] },
];

/** A coin or token of a chain. */
export interface AssetOfChain {
  /** Digits. */
  readonly chainId: string;
  readonly symbol: string;
  readonly decimals: number;
  /** The address of a token; null for the chain's coin. */
  readonly token: string | null;
  /** False where the chain charges more than a transaction says. */
  readonly exactFees: boolean;
}

/**
 * The units of budgets that hold on all of some chains: ETH where it is the coin and gas bounds the fee, and tokens that
 * each of the chains has, with the same decimals.
 */
export function unitsOf(chainIds: readonly bigint[], assets: readonly AssetOfChain[]): readonly Unit[] {
  const ofChain = chainIds.map((chainId) => assets.filter((asset) => asset.chainId === String(chainId)));
  const hasEther = ofChain.every((each) =>
    each.some(
      ({ token, symbol, exactFees }) => token === null && exactFees && ['ETH', 'test ETH'].includes(symbol),
    ),
  );
  const tokens = (ofChain[0] ?? []).flatMap(({ token, symbol, decimals }): Unit[] => {
    if (token === null) return [];
    const same = ofChain.map((each) =>
      each.find((asset) => asset.token !== null && asset.symbol === symbol && asset.decimals === decimals),
    );
    return same.some((asset) => asset === undefined)
      ? []
      : [{ symbol, decimals, tokens: same.flatMap((asset) => asset?.token ?? []) }];
  });
  return [...(hasEther ? coinUnits : []), ...tokens];
}

/** @param text As `0.05 ETH/day`. @returns undefined for anything else, and for nothing at all. */
export function readBudget(text: string, units: readonly Unit[]): Budget | undefined {
  const [, whole = '', fraction = '', symbol = '', word = ''] =
    /^([0-9]{1,24})(?:\.([0-9]{1,18}))? ?([A-Za-z]{1,20})\/([a-z]+)$/i.exec(text.trim()) ?? [];
  const unit = units.find((each) => each.symbol.toLowerCase() === symbol.toLowerCase());
  const period = periods.find((each) => each === word.toLowerCase());
  if (period === undefined || unit === undefined || fraction.length > unit.decimals) return undefined;
  const amount = BigInt(whole + fraction.padEnd(unit.decimals, '0'));
  return amount > 0n ? { tokens: unit.tokens, amount, period } : undefined;
}

export const isReceiver = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

export interface ProgramPolicy {
  readonly policyName: string;
  readonly effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  readonly condition: string;
  readonly consensus: string;
  readonly notes: string;
}

const isUser = (userId: string): string => `approvers.any(user, user.id == '${userId}')`;

/** The title of a bot's policies, in the window and the command alike. */
export const botTitle = (name: string): string => `Bot ${name}`;

/**
 * The policies of a spender: some allow, and the others deny all the rest, even if another policy allows it. A user may
 * change its own credentials unless a policy denies it, and a policy without approvers allows every user.
 *
 * A denial does not match if a fact that it reads is missing. So each denial reads only facts that are
 * present: for any activity, one of them matches. The spender has one budget, not one for each key, since a
 * wallet has many keys. Denials also apply to the spender's votes, so that it never gives a second vote.
 *
 * @param title For the names of the policies: `Bot trader`.
 */
export function policiesOfSpender(title: string, spender: Spender): readonly ProgramPolicy[] {
  const { userId, approverId, messages } = spender;
  const isSubmitter = `submitter.id == '${userId}'`;
  const own = `${isSubmitter} && wallet.id == '${spender.walletId}'`;
  const spending = termsOf(spender);
  const spends = `${own} && ${spending.terms}`;
  const alone = isUser(userId);
  const denials = spender.isBot ? botDenials(userId) : denialsOf(userId, messages);
  const rules = [
    ...denials.map(([rule = '', condition = '']) => [rule, 'EFFECT_DENY', condition, alone] as const),
    ['no private key', 'EFFECT_DENY', `${isSubmitter} && private_key.tags.count() >= 0`, alone],
    [
      'no other payment',
      'EFFECT_DENY',
      `${isSubmitter} && !(wallet.id == '${spender.walletId}' && ${messages ? `(${spending.terms} || ${nothingLeaves})` : spending.terms})`,
      alone,
    ],
    ['pays', 'EFFECT_ALLOW', `${spends} && ${spending.budgets}`, alone],
    ...(approverId === undefined
      ? []
      : [['asks beyond its budget', 'EFFECT_ALLOW', spends, `${alone} && ${isUser(approverId)}`] as const]),
    ...(messages ? [['signs texts', 'EFFECT_ALLOW', `${own} && ${nothingLeaves}`, alone] as const] : []),
  ] as const;
  return rules.map(([rule, effect, condition, consensus]) => ({
    policyName: `${title}: ${rule}`,
    effect,
    condition,
    consensus,
    notes: '',
  }));
}

/** Also what others ask for, and the spender approves of. */
const othersThan = (userId: string, kinds: string): string => `submitter.id != '${userId}' || ${kinds}`;

const botDenials = (userId: string) => [
  ['nothing but transactions', othersThan(userId, "activity.kind != 'SIGN_TRANSACTION'")],
  ['no other chain', `submitter.id == '${userId}' && activity.params.type != 'TRANSACTION_TYPE_ETHEREUM'`],
];

const typedData = "activity.params.encoding != 'PAYLOAD_ENCODING_EIP712'";

/** Keccak-256 of other bytes than a text is unknown. Other hashes have no facts of Ethereum, so they are denied here. */
const denialsOf = (userId: string, messages: boolean) => [
  [
    'nothing but payments',
    othersThan(userId, "!(activity.kind in ['SIGN_RAW_PAYLOAD', 'SIGN_TRANSACTION'])"),
  ],
  ['no other chain', `submitter.id == '${userId}' && activity.params.type != 'TRANSACTION_TYPE_ETHEREUM'`],
  [
    messages ? 'nothing but typed data and texts' : 'nothing but typed data',
    `submitter.id == '${userId}' && ${typedData}${messages ? " && activity.params.hash_function != 'HASH_FUNCTION_KECCAK256'" : ''}`,
  ],
];

/** A text that is signed. */
const nothingLeaves =
  'eth.outflow.coin == 0 && eth.outflow.tokens.count() == 0 && eth.outflow.receivers.count() == 0';

const listed = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

interface Terms {
  /** Without budgets. */
  readonly terms: string;
  readonly budgets: string;
}

export const windowOf = (period: Period): string => windows[period];

/** The amount that a budget counts, as the policy language writes it. */
export const measureOf = ({ tokens }: Pick<Budget, 'tokens'>, isBot: boolean): string => {
  if (tokens.length > 0) {
    return `eth.outflow.tokens.filter(each, each.token in ${listed(tokens)}).sum(each, each.amount)`;
  }
  return isBot ? 'eth.tx.outflow' : 'eth.outflow.coin';
};

function termsOf({ isBot, chainIds, budgets, receivers }: Spender): Terms {
  const tokens = [...new Set(budgets.flatMap((budget) => budget.tokens))];
  const chains = chainIds.length === 1 ? `== ${String(chainIds[0])}` : `in [${chainIds.join(', ')}]`;
  const counted = budgets.map(
    (budget) =>
      `RollingSum(${measureOf(budget, isBot)}, '${windowOf(budget.period)}', submitter.id) <= ${String(budget.amount)}`,
  );
  const clauses = isBot
    ? [
        `eth.tx.chain_id ${chains}`,
        receivers.length === 0 ? "eth.tx.to != ''" : `eth.tx.to in ${listed(receivers)}`,
        plainPayment,
      ]
    : [
        `eth.outflow.chain_id ${chains}`,
        receivers.length === 0
          ? 'eth.outflow.receivers.count() > 0'
          : `eth.outflow.receivers.count() > 0 && eth.outflow.receivers.all(each, each in ${listed(receivers)})`,
        tokens.length === 0
          ? 'eth.outflow.tokens.count() == 0'
          : `eth.outflow.tokens.all(each, each.token in ${listed(tokens)})`,
        budgets.some((budget) => budget.tokens.length === 0)
          ? 'eth.outflow.coin >= 0'
          : 'eth.outflow.coin == 0',
      ];
  return { terms: clauses.join(' && '), budgets: counted.join(' && ') };
}

/** While it is in force, the user may do nothing. */
export const pauseOf = (title: string, userId: string): ProgramPolicy => ({
  policyName: `${title}: paused`,
  effect: 'EFFECT_DENY',
  condition: `submitter.id == '${userId}'`,
  consensus: isUser(userId),
  notes: '',
});

/** @returns the policies that pause the user. */
export const pausesOf = (userId: string, policies: readonly PolicyText[]): readonly PolicyText[] =>
  policies.filter((policy) => saysTheSame(policy, pauseOf('', userId)));

/** A policy as the API shows it. */
export interface PolicyText {
  readonly policyId: string;
  readonly effect: string;
  readonly condition: string;
  readonly consensus: string;
  readonly time?: string | undefined;
  readonly notes?: string | undefined;
}

export interface SpenderInForce {
  readonly userId: string;
  readonly policyIds: readonly string[];
  readonly isBot: boolean;
  /** Undefined where its policies are not as they were created: a denial is gone, or something was changed. */
  readonly spender: Spender | undefined;
}

/**
 * Reads the spenders from the policies in force. What one may do is said only of policies that say it to the letter. An approval
 * for a time is not among a spender's own policies.
 */
export function readSpenders(policies: readonly PolicyText[]): readonly SpenderInForce[] {
  const byUser = Map.groupBy(
    policies.filter((policy) => grantEnd(policy) === undefined),
    userOf,
  );
  return [...byUser].flatMap(([userId, own]) => {
    if (userId === undefined) return [];
    const spender = readSpender(userId, own);
    const isBot = own.some(({ condition }) => condition === botDenials(userId)[0]?.[1]);
    const isOther = own.some(({ condition }) => condition === denialsOf(userId, false)[0]?.[1]);
    if (!isBot && !isOther && spender === undefined) return [];
    const policyIds = own.map(({ policyId }) => policyId);
    const isWhole = spender !== undefined && areExactly(policiesOfSpender('', spender), own);
    return [{ userId, policyIds, isBot: spender?.isBot ?? isBot, spender: isWhole ? spender : undefined }];
  });
}

/** True for a policy that is in force at all times. */
export const isLasting = ({ time }: Pick<PolicyText, 'time'>): boolean => (time ?? '') === '';

/** Whom a policy is about that is built like those of a spender. */
const userOf = ({ condition }: PolicyText): string | undefined =>
  /^submitter\.id [!=]= '([0-9a-f-]{36})' (?:&&|\|\|) /.exec(condition)?.[1];

const counters =
  /RollingSum\((?:eth\.tx\.outflow|eth\.outflow\.coin|eth\.outflow\.tokens\.filter\(each, each\.token in \[([^\]]*)\]\)\.sum\(each, each\.amount\)), '([0-9]+[hd])', submitter\.id\) <= ([0-9]+)/g;

function readSpender(userId: string, policies: readonly PolicyText[]): Spender | undefined {
  const allowing = policies.filter(({ effect }) => effect === 'EFFECT_ALLOW');
  const [pays] = allowing.filter(({ condition }) => condition.includes('RollingSum('));
  if (pays === undefined) return undefined;
  const { condition } = pays;
  const [, walletId] = /wallet\.id == '([0-9a-f-]{36})'/.exec(condition) ?? [];
  const [, one = '', several = ''] =
    /eth\.(?:tx|outflow)\.chain_id (?:== ([0-9]+)|in \[([0-9, ]+)\]) /.exec(condition) ?? [];
  const chainIds = `${one}${several}`.match(/[0-9]+/g)?.map(BigInt) ?? [];
  const budgets = [...condition.matchAll(counters)].flatMap(([, tokens, window, amount = '']): Budget[] => {
    const period = periods.find((each) => windows[each] === window);
    return period === undefined ? [] : [{ tokens: addressesIn(tokens), amount: BigInt(amount), period }];
  });
  if (walletId === undefined || chainIds.length === 0 || budgets.length === 0) return undefined;
  const [, receivers] = /(?:eth\.tx\.to|receivers\.all\(each, each) in \[([^\]]*)\]/.exec(condition) ?? [];
  const voters = allowing.flatMap(({ consensus }) => consensus.match(/[0-9a-f-]{36}/g) ?? []);
  return {
    userId,
    isBot: condition.includes('eth.tx.outflow'),
    walletId,
    chainIds,
    budgets,
    receivers: addressesIn(receivers),
    messages: allowing.some((policy) => policy.condition.endsWith(nothingLeaves)),
    approverId: voters.find((id) => id !== userId),
  };
}

const addressesIn = (list = ''): readonly string[] => list.match(/0x[0-9a-fA-F]{40}/g) ?? [];

/** True if policies in force say the same as those that are wanted, each to the letter, and there are no others. */
export const areExactly = (wanted: readonly ProgramPolicy[], policies: readonly PolicyText[]): boolean =>
  wanted.length > 0 &&
  wanted.length === policies.length &&
  wanted.every((each) => policies.some((policy) => saysTheSame(policy, each)));

const saysTheSame = (one: PolicyText, other: ProgramPolicy): boolean =>
  one.effect === other.effect &&
  one.condition === other.condition &&
  one.consensus === other.consensus &&
  isLasting(one);
