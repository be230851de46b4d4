/** How people sort wallets: their tags, and those that are put away. A wallet without a row has none. */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const walletLabels = table('wallet_labels', {
  walletId: text,
  organizationId: text,
  /** JSON: names, in their order. */
  tags: text,
  archived: number,
});

type Row = RowOf<typeof walletLabels>;

export interface WalletLabels {
  readonly tags: readonly string[];
  readonly archived: boolean;
}

const toLabels = ({ tags, archived }: Pick<Row, 'tags' | 'archived'>): WalletLabels => ({
  tags: JSON.parse(tags) as readonly string[],
  archived: archived === 1,
});

const none: WalletLabels = { tags: [], archived: false };

/** Those of all wallets that have some, by wallet. */
export const listWalletLabels = (tx: Reader, organizationId: string): ReadonlyMap<string, WalletLabels> =>
  new Map(
    tx
      .all<Row>(`SELECT ${walletLabels.columns} FROM wallet_labels WHERE organization_id = ?`, organizationId)
      .map((row) => [row.walletId, toLabels(row)]),
  );

export function getWalletLabels(tx: Reader, walletId: string): WalletLabels {
  const row = tx.get<Row>(`SELECT ${walletLabels.columns} FROM wallet_labels WHERE wallet_id = ?`, walletId);
  return row === undefined ? none : toLabels(row);
}

export function setWalletLabels(
  tx: Writer,
  where: Pick<Row, 'walletId' | 'organizationId'>,
  { tags, archived }: WalletLabels,
): void {
  tx.run('DELETE FROM wallet_labels WHERE wallet_id = ?', where.walletId);
  if (tags.length === 0 && !archived) return;
  walletLabels.insert(tx, { ...where, tags: JSON.stringify(tags), archived: archived ? 1 : 0 });
}
