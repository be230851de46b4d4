/** Reads an agent's rights from its own policies, and its accounts and what is spent from the API, all as the agent's user. */
import { z } from 'zod';
import { amountOf, wordsOfSpender } from '../../chains/ethereum/budgets.ts';
import {
  pausesOf,
  readSpenders,
  windowOf,
  type PolicyText,
  type Spender,
} from '../../lib/policies/spenders.ts';
import type { Gone, Program } from '../program.ts';

export interface Rights {
  readonly organizationId: string;
  readonly userId: string;
  /** Undefined where its policies are not as they were created. */
  readonly spender: Spender | undefined;
  readonly isPaused: boolean;
  /** In plain words. */
  readonly words: readonly string[];
}

export interface Spent {
  readonly limit: string;
  readonly spent: string;
  readonly left: string;
  readonly per: string;
}

const whoami = z.object({ organizationId: z.string(), userId: z.string() });
const policyList = z.object({
  policies: z.array(
    z.object({
      policyId: z.string(),
      policyName: z.string(),
      effect: z.string(),
      condition: z.string(),
      consensus: z.string(),
      time: z.string().optional(),
    }),
  ),
});
const budgetList = z.object({
  policyBudgets: z.array(
    z.object({
      policyId: z.string(),
      tokens: z.array(z.string()).optional(),
      limit: z.string(),
      window: z.string(),
      counters: z.array(
        z.object({
          by: z.array(z.object({ holder: z.string(), value: z.string() })),
          spent: z.string(),
        }),
      ),
    }),
  ),
});
const accountList = z.object({
  accounts: z.array(
    z.object({
      address: z.string(),
      addressFormat: z.string(),
      path: z.string(),
      walletDetails: z.object({ walletName: z.string() }).optional(),
    }),
  ),
});

export async function rightsOf(program: Program, gone: Gone): Promise<Rights> {
  const { organizationId, userId } = whoami.parse(await program.query('whoami', {}, gone));
  const { policies } = policyList.parse(await program.query('list_policies', {}, gone));
  const own: readonly PolicyText[] = policies;
  const spender = readSpenders(own).find((each) => each.userId === userId)?.spender;
  const isPaused = pausesOf(userId, own).length > 0;
  const words = spender === undefined ? [changed] : [...wordsOfSpender(spender, 'its wallet'), ...refused];
  return { organizationId, userId, spender, isPaused, words: isPaused ? [paused, ...words] : words };
}

const paused = 'Paused by its owner: everything is refused until the owner resumes it.';
const changed = 'Its policies were changed by hand. Ask with `check` what is allowed.';
const refused = [
  'Refused: calls that the vault cannot read (multicalls among them), new contracts, EIP-7702 authorizations, hashes, other keys and chains.',
  'Never possible here: unlocking, exports, settings, votes, policies, users and credentials.',
];

/** @returns a row for each budget. */
export async function spentOf(
  program: Program,
  { spender, userId }: Rights,
  gone: Gone,
): Promise<readonly Spent[]> {
  if (spender === undefined) return [];
  const { policyBudgets } = budgetList.parse(await program.query('list_policy_budgets', {}, gone));
  return policyBudgets.flatMap(({ tokens, limit, window, counters }): Spent[] => {
    const budget = spender.budgets.find(
      (each) =>
        String(each.amount) === limit &&
        (tokens ?? []).join() === each.tokens.join() &&
        windowOf(each.period) === window,
    );
    const own = counters.find(({ by }) => by.some(({ value }) => value === userId));
    if (budget === undefined || own === undefined) return [];
    const [most, spent] = [BigInt(limit), BigInt(own.spent)];
    const amount = (units: bigint): string => amountOf(budget, spender.chainIds, units);
    return [
      {
        limit: amount(most),
        spent: amount(spent),
        left: amount(spent > most ? 0n : most - spent),
        per: budget.period,
      },
    ];
  });
}

export interface Account {
  readonly address: string;
  readonly path: string;
  readonly walletName: string;
}

/** The agent's accounts on Ethereum, from its wallet alone. */
export async function accountsOf(
  program: Program,
  { spender }: Rights,
  gone: Gone,
): Promise<readonly Account[]> {
  if (spender === undefined) return [];
  const wanted = {
    walletId: spender.walletId,
    includeWalletDetails: true,
    paginationOptions: { limit: '100' },
  };
  const { accounts } = accountList.parse(await program.query('list_wallet_accounts', wanted, gone));
  return accounts
    .filter(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM')
    .map(({ address, path, walletDetails }) => ({
      address,
      path,
      walletName: walletDetails?.walletName ?? '',
    }));
}
