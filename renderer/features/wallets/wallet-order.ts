/** Orders of lists of wallets, and the search in them. */
import { addressFormats } from '../accounts/chains.ts';
import { millisecondsOf, type Timestamp } from '../../ui/text/time.ts';

interface Ordered {
  readonly walletId: string;
  readonly walletName: string;
  readonly createdAt: Timestamp;
}

interface Summary {
  readonly lastUsedAt?: Timestamp;
  readonly addressFormats: readonly { readonly addressFormat: string }[];
  readonly tags: readonly string[];
  readonly archived: boolean;
}

type Summaries = ReadonlyMap<string, Summary> | undefined;

export const walletOrders = ['created', 'used', 'name'] as const;
export type WalletOrder = (typeof walletOrders)[number];

/** By last use, wallets without a known use come at the end, the newest first. Otherwise as given, or by name. */
export function orderWallets<Wallet extends Ordered>(
  wallets: readonly Wallet[],
  order: WalletOrder,
  summaries: Summaries,
): readonly Wallet[] {
  if (order === 'created') return wallets;
  if (order === 'name') return [...wallets].sort((a, b) => a.walletName.localeCompare(b.walletName));
  const usedAt = ({ walletId }: Wallet): number => {
    const used = summaries?.get(walletId)?.lastUsedAt;
    return used === undefined ? 0 : millisecondsOf(used);
  };
  return [...wallets].sort(
    (a, b) => usedAt(b) - usedAt(a) || millisecondsOf(b.createdAt) - millisecondsOf(a.createdAt),
  );
}

const chainsOf = ({ addressFormats: formats }: Summary): readonly string[] =>
  formats.flatMap(({ addressFormat }) => {
    const row = addressFormats.find(({ format }) => format === addressFormat);
    return row === undefined ? [] : [row.label, row.plate];
  });

/** The wallets of a list: those that are not archived, or those that are. */
export const ofArchive = <Wallet extends Ordered>(
  wallets: readonly Wallet[],
  summaries: Summaries,
  archived: boolean,
): readonly Wallet[] =>
  wallets.filter(({ walletId }) => (summaries?.get(walletId)?.archived ?? false) === archived);

/** Wallets whose name, chains or tags have a text, whatever its case. */
export function findWallets<Wallet extends Ordered>(
  wallets: readonly Wallet[],
  summaries: Summaries,
  typed: string,
): readonly Wallet[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return wallets;
  return wallets.filter(({ walletId, walletName }) => {
    const summary = summaries?.get(walletId);
    const texts = [walletName, ...(summary === undefined ? [] : [...chainsOf(summary), ...summary.tags])];
    return texts.some((text) => text.toLowerCase().includes(wanted));
  });
}
