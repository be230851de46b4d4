/** `keyhearth wallets`: the wallets of the running vault, and their accounts. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi } from '../shared/api.ts';
import { formatName } from './format-names.ts';
import { listings, type WalletItem } from '../shared/named.ts';
import { print } from '../shared/output.ts';
import { fields, table, type Table } from '../shared/table.ts';

export async function listWallets(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const wallets = await listings.wallet.all(api);
  print(
    json,
    { wallets },
    wallets.length === 0
      ? 'No wallets. Create one with: keyhearth wallets create --name NAME --account ethereum'
      : table(
          ['ID', 'Name', 'Notes'],
          wallets.map((wallet) => [wallet.walletId, wallet.walletName, marksOf(wallet)]),
        ),
  );
}

/** Where else the secret has been. */
export const marksOf = ({ imported, exported }: Pick<WalletItem, 'imported' | 'exported'>): string =>
  [...(imported ? ['imported'] : []), ...(exported ? ['exported'] : [])].join(', ');

const pageSize = 100;
const accountList = z.object({
  accounts: z.array(
    z.object({
      walletAccountId: z.string(),
      name: z.string().optional(),
      curve: z.string(),
      path: z.string(),
      addressFormat: z.string(),
      address: z.string(),
      publicKey: z.string().optional(),
    }),
  ),
});
type AccountItem = z.output<typeof accountList>['accounts'][number];

/** @param wanted The wallet's id or name. */
export async function showWallet(
  config: Config,
  wanted: string,
  { apiKey, json }: ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const wallet = await listings.wallet.find(api, wanted);
  const accounts: AccountItem[] = [];
  let after: string | undefined;
  do {
    const { accounts: page } = await api.query('list_wallet_accounts', accountList, {
      walletId: wallet.walletId,
      paginationOptions: { limit: String(pageSize), ...defined({ after }) },
    });
    accounts.push(...page);
    after = page.length < pageSize ? undefined : page.at(-1)?.walletAccountId;
  } while (after !== undefined);
  print(json, { ...wallet, accounts }, [
    fields([
      ['Wallet', wallet.walletName],
      ['ID', wallet.walletId],
      ['Notes', marksOf(wallet)],
    ]),
    '',
    accounts.length === 0 ? 'No accounts.' : accountTable(accounts),
  ]);
}

export const accountTable = (
  accounts: readonly Pick<AccountItem, 'addressFormat' | 'path' | 'address' | 'name'>[],
): Table =>
  table(
    ['Format', 'Address', 'Path', 'Name'],
    accounts.map(({ addressFormat, path, address, name = '' }) => [
      formatName(addressFormat),
      address,
      path,
      name,
    ]),
  );
