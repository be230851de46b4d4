/** Budgets of spenders in words, and the units that they may be written in. */
import { unitsOf, type Budget, type Spender, type Unit } from '../../lib/policies/spenders.ts';
import { tokenAmount, tokenRows } from '../tokens.ts';
import { assetsOfNetworks } from './assets.ts';
import { coinsOf, networkName, networkOf, tokenChainOf } from './networks.ts';

export const unitsOn = (chainIds: readonly bigint[]): readonly Unit[] =>
  unitsOf(chainIds, assetsOfNetworks());

/** Writes an amount of a budget, as `5 USDC`. */
export function amountOf(
  { tokens }: Pick<Budget, 'tokens'>,
  chainIds: readonly bigint[],
  amount: bigint,
): string {
  const row = tokenRows.find(
    ([chain, address]) =>
      tokens.includes(address) && chainIds.some((chainId) => tokenChainOf(chainId) === chain),
  );
  if (row !== undefined) return tokenAmount({ symbol: row[2], decimals: row[3] }, amount);
  return tokens.length > 0 ? `${String(amount)} units of a token` : coinsOf(networkOf(chainIds[0]), amount);
}

/** Describes in plain words what a spender may do. */
export function wordsOfSpender(spender: Spender, wallet: string): readonly string[] {
  const { chainIds, budgets, receivers, messages, approverId, isBot } = spender;
  const networks = chainIds.map(networkName).join(', ');
  return [
    ...budgets.map(
      (budget) =>
        `May spend at most ${amountOf(budget, chainIds, budget.amount)} from ${wallet} on ${networks} in any ${budget.period}${budget.tokens.length === 0 ? ', fees included' : ', by transactions, approvals and permits together'}.`,
    ),
    ...(budgets.some(({ tokens }) => tokens.length === 0)
      ? []
      : ['May spend no coins: no transactions, whose fee is paid in coins.']),
    receivers.length === 0 ? 'May pay any address.' : `May pay only ${receivers.join(', ')}.`,
    ...(approverId === undefined || isBot ? [] : ['Beyond a budget it waits for your approval.']),
    ...(messages ? ['May sign texts, such as sign-ins.'] : []),
  ];
}
