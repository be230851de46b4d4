/** Reads an agent's rights from its own policies, and its accounts and what is spent from the API, all as the agent's user. */
import { wordsOfSpender } from '../../chains/ethereum/budgets.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { pausesOf, readSpenders, type Spender } from '../../lib/policies/spenders.ts';
import type { Gone, Program } from '../program.ts';

export interface Rights {
  readonly organizationId: string;
  readonly userId: string;
  /** Undefined where its policies are not as they were created. */
  readonly spender: Spender | undefined;
  readonly paused: boolean;
  /** In plain words. */
  readonly words: readonly string[];
  readonly budgets: readonly {
    readonly limit: string;
    readonly spent: string;
    readonly left: string;
    readonly per: string;
  }[];
}

export async function rightsOf(program: Program, gone: Gone): Promise<Rights> {
  const { organizationId, userId } = await program.query('whoami', {}, gone);
  const { policies } = await program.query('list_policies', {}, gone);
  const { policyBudgets } = await program.query('list_policy_budgets', {}, gone);
  const spender = readSpenders(policies).find((each) => each.userId === userId)?.spender;
  const paused = pausesOf(userId, policies).length > 0;
  const words = spender === undefined ? [changed] : [...wordsOfSpender(spender, 'its wallet'), ...refused];
  return {
    organizationId,
    userId,
    spender,
    paused,
    words: paused ? [pausedNote, ...words] : words,
    budgets: policyBudgets.flatMap(({ spender: of }) =>
      of?.userId === userId ? [{ limit: of.limit, spent: of.spent, left: of.left, per: of.period }] : [],
    ),
  };
}

/** @throws KeyhearthError PERMISSION_DENIED while the agent is paused: what was signed before is not handed out. */
export async function checkNotPaused(program: Program, gone: Gone): Promise<void> {
  const { userId } = await program.query('whoami', {}, gone);
  if (await isPaused(program, userId, gone)) throw new KeyhearthError('PERMISSION_DENIED', pausedNote);
}

/** True while the agent's owner refuses it everything. */
export async function isPaused(program: Program, userId: string, gone: Gone): Promise<boolean> {
  const { policies } = await program.query('list_policies', {}, gone);
  return pausesOf(userId, policies).length > 0;
}

export const pausedNote = 'Paused by its owner: everything is refused until the owner resumes it.';
const changed = 'Its policies were changed by hand. Ask with `check` what is allowed.';
const refused = [
  'Refused: calls that the vault cannot read (multicalls among them), new contracts, EIP-7702 authorizations, hashes, other keys and chains.',
  'Never possible here: unlocking, exports, settings, votes, policies, users and credentials.',
];

/** The agent's accounts on Ethereum, from its wallet alone. */
export async function accountsOf(program: Program, { spender }: Rights, gone: Gone) {
  if (spender === undefined) return [];
  const wanted = {
    walletId: spender.walletId,
    includeWalletDetails: true,
    paginationOptions: { limit: '100' },
  };
  const { accounts } = await program.query('list_wallet_accounts', wanted, gone);
  return accounts
    .filter(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM')
    .map(({ address, path, walletDetails }) => ({
      address,
      path,
      untrusted: { walletName: walletDetails?.walletName ?? '' },
    }));
}
