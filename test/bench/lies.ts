/** The law of one reading at length: payloads that look alike must do the same, and no budget is exceeded. */
import { bitcoinLaw } from '../one-reading/bitcoin.ts';
import { measureBudgets } from '../one-reading/budgets.ts';
import { ethereumLaw } from '../one-reading/ethereum.ts';
import { violationsOf } from '../one-reading/law.ts';
import { solanaLaw } from '../one-reading/solana-law.ts';
import { tronLaw } from '../one-reading/tron-law.ts';
import { typedDataLaw } from '../one-reading/typed-data.ts';

const laws = {
  ethereum: ethereumLaw,
  typedData: typedDataLaw,
  bitcoin: bitcoinLaw,
  solana: solanaLaw,
  tron: tronLaw,
} as const;

/** Most generated transactions are not valid on a chain. */
const mostTriesForOne = 20;

type Counts = Readonly<Record<string, number>>;

/**
 * Tries the laws, and tells each breach on standard error.
 * @param count Payloads of each chain that the vault reads, and requests by users with the ready-made budgets.
 * @param only The names of the laws to try: of a chain, or `budgets`. All of them where none is named.
 * @returns by law, how many were tried and read or allowed, and how many `violations` there were.
 */
export async function measureLies(
  count: number,
  only: readonly string[],
): Promise<Readonly<Record<string, Counts>>> {
  const wanted = (name: string): boolean => only.length === 0 || only.includes(name);
  const results: Record<string, Counts> = {};
  for (const [name, law] of Object.entries(laws)) {
    if (!wanted(name)) continue;
    const { tried, read, violations } = violationsOf({
      ...law,
      reads: count,
      tries: count * mostTriesForOne,
      seed: 20_260_101,
    });
    for (const violation of violations) console.error(`${name}: ${violation}`);
    results[name] = { tried, read, violations: violations.length };
  }
  if (wanted('budgets')) results['budgets'] = await measureBudgets(count);
  return results;
}
