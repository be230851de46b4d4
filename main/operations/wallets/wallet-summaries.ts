/** Accounts and last use of each wallet. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import type { Reader } from '../../storage/connection.ts';
import { countAccounts, nextAddressFormat } from '../../storage/tables/wallet-account-lists.ts';
import { listWalletLabels } from '../../storage/tables/wallet-labels.ts';
import { listWalletRows } from '../../storage/tables/wallets.ts';
import { addressFormat } from '../shared/parameters.ts';

const shownSummary = z
  .object({
    walletId: z.uuid(),
    /** Number of accounts. */
    accounts: z.int(),
    /** Accounts of each address format, the formats in the order of their names. */
    addressFormats: z.array(z.object({ addressFormat, accounts: z.int() })),
    /** When the wallet last signed. Absent for a wallet that has not signed since the vault notes it. */
    lastUsedAt: z.object({ seconds: z.string(), nanos: z.string() }).optional(),
    /** Names by which people sort wallets. */
    tags: z.array(z.string()),
    /** True where people have put it away. It signs as before. */
    archived: z.boolean(),
  })
  .meta({ id: 'WalletSummary' });

type Summary = z.output<typeof shownSummary>;

export const listWalletSummaries = query({
  path: 'list_wallet_summaries',
  summary:
    'Tells how many accounts each wallet has, on which chains, when it last signed, its tags, and if it is archived.',
  own: true,
  params: z.object({}),
  returns: z.object({
    /** In the order of creation. */
    walletSummaries: z.array(shownSummary),
  }),
  *run({ tx, organizationId, keyUses }): Paced<{ readonly walletSummaries: Summary[] }> {
    const walletSummaries: Summary[] = [];
    const uses = keyUses();
    const labels = listWalletLabels(tx, organizationId);
    for (const { id: walletId } of listWalletRows(tx, organizationId)) {
      const addressFormats = yield* formatsOf(tx, walletId);
      const usedAt = uses.get(walletId);
      walletSummaries.push({
        walletId,
        accounts: addressFormats.reduce((sum, { accounts }) => sum + accounts, 0),
        addressFormats,
        ...(usedAt === undefined ? {} : { lastUsedAt: timestamp(usedAt) }),
        tags: [...(labels.get(walletId)?.tags ?? [])],
        archived: labels.get(walletId)?.archived ?? false,
      });
    }
    return { walletSummaries };
  },
});

function* formatsOf(tx: Reader, walletId: string): Paced<Summary['addressFormats']> {
  const found: Summary['addressFormats'] = [];
  let format = nextAddressFormat(tx, walletId, '');
  while (format !== undefined) {
    let accounts = 0;
    let after: number | null = 0;
    while (after !== null) {
      const slice: { readonly count: number; readonly next: number | null } = countAccounts(
        tx,
        walletId,
        format,
        after,
      );
      accounts += slice.count;
      after = slice.next;
      if (after !== null) yield;
    }
    found.push({ addressFormat: addressFormat.parse(format), accounts });
    format = nextAddressFormat(tx, walletId, format);
  }
  return found;
}
