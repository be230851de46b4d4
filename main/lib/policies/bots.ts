/**
 * Bots: programs that pay from one wallet within a budget, and do nothing else. The command and the window
 * create a bot's policies here, and read from them what a bot may do.
 */
import { plainPayment } from './payments.ts';

/** The most that may leave the wallet in a period, fees included. */
export interface Budget {
  readonly wei: bigint;
  readonly period: Period;
}

export type Period = keyof typeof windows;

/** By the words of a budget, the windows of `RollingSum`. */
export const windows = { hour: '1h', day: '24h', week: '7d' } as const;

export const periods = Object.keys(windows) as readonly Period[];

export interface Bot {
  readonly userId: string;
  /** A wallet keeps its id when it is renamed. */
  readonly walletId: string;
  readonly chainId: bigint;
  readonly budget: Budget;
  /** Hex with `0x`; any address where there is none. */
  readonly receivers: readonly string[];
}

/** Decimals of the units in which a budget is written. */
const units: Readonly<Record<string, number>> = { eth: 18, gwei: 9, wei: 0 };

/** @param text As `0.05 ETH/day`. @returns undefined for anything else, and for nothing at all. */
export function readBudget(text: string): Budget | undefined {
  const [, whole = '', fraction = '', unit = '', word = ''] =
    /^([0-9]{1,24})(?:\.([0-9]{1,18}))? ?(ETH|gwei|wei)\/([a-z]+)$/i.exec(text.trim()) ?? [];
  const decimals = units[unit.toLowerCase()] ?? 0;
  const period = periods.find((each) => each === word.toLowerCase());
  if (period === undefined || fraction.length > decimals) return undefined;
  const wei = BigInt(whole + fraction.padEnd(decimals, '0'));
  return wei > 0n ? { wei, period } : undefined;
}

export const isReceiver = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

export interface BotPolicy {
  readonly policyName: string;
  readonly effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  readonly condition: string;
  readonly consensus: string;
  readonly notes: string;
}

/**
 * The policies of a bot: one allows, and four deny all the rest, even if another policy allows it. A user may
 * change its own credentials unless a policy denies it, and a policy without approvers allows every user.
 *
 * A denial does not match if a fact that it reads is missing. So each denial reads only facts that are
 * present: for any activity, one of them matches. The bot has one budget, not one for each key, since a
 * wallet has many keys. Denials also apply to the bot's votes, so that it never gives a second vote.
 */
export function policiesOfBot(botName: string, bot: Bot): readonly BotPolicy[] {
  const { userId, budget } = bot;
  const isBot = `submitter.id == '${userId}'`;
  const payment = paymentOf(bot);
  const rules = [
    ['nothing but transactions', 'EFFECT_DENY', othersThanTransactions(userId)],
    ['no other chain', 'EFFECT_DENY', `${isBot} && activity.params.type != 'TRANSACTION_TYPE_ETHEREUM'`],
    ['no private key', 'EFFECT_DENY', `${isBot} && private_key.tags.count() >= 0`],
    ['no other payment', 'EFFECT_DENY', `${isBot} && !(${payment})`],
    [
      'pays',
      'EFFECT_ALLOW',
      `${isBot} && ${payment} && RollingSum(eth.tx.outflow, '${windows[budget.period]}', submitter.id) <= ${String(budget.wei)}`,
    ],
  ] as const;
  return rules.map(([rule, effect, condition]) => ({
    policyName: `Bot ${botName}: ${rule}`,
    effect,
    condition,
    consensus: `approvers.any(user, user.id == '${userId}')`,
    notes: '',
  }));
}

/** Also what others ask for, and the bot approves of. */
const othersThanTransactions = (userId: string): string =>
  `submitter.id != '${userId}' || activity.kind != 'SIGN_TRANSACTION'`;

const paymentOf = ({ walletId, chainId, receivers }: Bot): string =>
  [
    `wallet.id == '${walletId}'`,
    `eth.tx.chain_id == ${String(chainId)}`,
    receivers.length === 0
      ? "eth.tx.to != ''"
      : `eth.tx.to in [${receivers.map((receiver) => `'${receiver}'`).join(', ')}]`,
    plainPayment,
  ].join(' && ');

/** A policy as the API shows it. */
export interface PolicyText {
  readonly policyId: string;
  readonly effect: string;
  readonly condition: string;
  readonly consensus: string;
  readonly time?: string | undefined;
}

export interface BotInForce {
  readonly userId: string;
  readonly policyIds: readonly string[];
  /** Undefined where its policies are not as they were created: a denial is gone, or something was changed. */
  readonly bot: Bot | undefined;
}

/** Reads the bots from the policies in force. What a bot may do is said only of policies that say it to the letter. */
export function readBots(policies: readonly PolicyText[]): readonly BotInForce[] {
  const byUser = Map.groupBy(policies, userOf);
  return [...byUser].flatMap(([userId, own]) => {
    if (userId === undefined) return [];
    const [bot] = own.flatMap((policy) => readBot(userId, policy) ?? []);
    const isBot = bot ?? own.find(({ condition }) => condition === othersThanTransactions(userId));
    if (isBot === undefined) return [];
    const policyIds = own.map(({ policyId }) => policyId);
    return [{ userId, policyIds, bot: bot !== undefined && isWhole(bot, own) ? bot : undefined }];
  });
}

/** Whom a policy is about that is built like those of a bot. */
const userOf = ({ condition }: PolicyText): string | undefined =>
  /^submitter\.id [!=]= '([0-9a-f-]{36})' (?:&&|\|\|) /.exec(condition)?.[1];

function readBot(userId: string, { effect, condition }: PolicyText): Bot | undefined {
  const wallet = /wallet\.id == '([0-9a-f-]{36})'/.exec(condition)?.[1];
  const chain = /eth\.tx\.chain_id == ([0-9]+) /.exec(condition)?.[1];
  const [, window, wei] = /'([0-9]+[hd])', submitter\.id\) <= ([0-9]+)$/.exec(condition) ?? [];
  const period = periods.find((each) => windows[each] === window);
  if (effect !== 'EFFECT_ALLOW' || wallet === undefined || chain === undefined || wei === undefined) return;
  if (period === undefined) return;
  const receivers = /eth\.tx\.to in \[([^\]]*)\]/.exec(condition)?.[1] ?? '';
  return {
    userId,
    walletId: wallet,
    chainId: BigInt(chain),
    budget: { wei: BigInt(wei), period },
    receivers: receivers.match(/0x[0-9a-fA-F]{40}/g) ?? [],
  };
}

/** All of a bot's policies are there, and none beside them. */
function isWhole(bot: Bot, policies: readonly PolicyText[]): boolean {
  const wanted = policiesOfBot('', bot);
  return (
    policies.length === wanted.length &&
    wanted.every(({ effect, condition, consensus }) =>
      policies.some(
        (each) =>
          each.effect === effect &&
          each.condition === condition &&
          each.consensus === consensus &&
          (each.time ?? '') === '',
      ),
    )
  );
}
