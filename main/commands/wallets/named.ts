/** Things of the vault as the command line names them: by id, or by name. */
import { z } from 'zod';
import { quoted } from '../../lib/errors.ts';
import type { VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

export const walletList = z.object({
  wallets: z.array(
    z.object({
      walletId: z.string(),
      walletName: z.string(),
      exported: z.boolean(),
      imported: z.boolean(),
    }),
  ),
});
export type WalletItem = z.output<typeof walletList>['wallets'][number];

export async function findWallet(api: VaultApi, wanted: string): Promise<WalletItem> {
  const { wallets } = await api.query('list_wallets', walletList, {});
  return findNamed('wallet', wanted, wallets, ({ walletId, walletName }) => [walletId, walletName]);
}

/** How many names an error lists. */
const mostNames = 10;

/** @returns the one that is named. @throws CommandError with the names that there are. */
export function findNamed<T>(
  noun: string,
  wanted: string,
  items: readonly T[],
  names: (item: T) => readonly [id: string, name: string],
): T {
  const found =
    items.find((item) => names(item)[0] === wanted.toLowerCase()) ??
    items.find((item) => names(item)[1] === wanted);
  if (found !== undefined) return found;
  const known = items.slice(0, mostNames).map((item) => JSON.stringify(names(item)[1]));
  const are = items.length === 1 ? 'there is' : 'there are';
  const more = items.length > mostNames ? ` and ${String(items.length - mostNames)} more` : '';
  throw new CommandError(
    exitCodes.failed,
    `no ${noun} has the id or the name ${quoted(wanted)}: ${known.length === 0 ? 'there is none' : `${are} ${known.join(', ')}${more}`}`,
  );
}
