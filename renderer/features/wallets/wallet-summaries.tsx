/** Facts about wallets in lists: marks of the chains, number of accounts, last use. */
import type { ReactNode } from 'react';
import type { Answer } from '../../../main/operations/api.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { t } from '../../app/i18n/text.ts';
import { LastUse } from '../../ui/last-use.tsx';
import { addressFormats } from '../accounts/chains.ts';
import './wallet-summaries.css';

export type WalletSummary = Answer<'list_wallet_summaries'>['walletSummaries'][number];

/** By wallet; undefined while they load. */
export function useWalletSummaries(): ReadonlyMap<string, WalletSummary> | undefined {
  const { data } = useApiQuery('list_wallet_summaries');
  return data && new Map(data.walletSummaries.map((summary) => [summary.walletId, summary]));
}

/** Marks that a row shows before it counts the rest. */
const mostMarks = 5;

/** The chains of a wallet, each by its letters and its color. */
export function ChainMarks({ of }: { readonly of: WalletSummary }): ReactNode {
  const present = new Set(of.addressFormats.map(({ addressFormat }) => addressFormat));
  const plates = new Map(
    addressFormats.filter(({ format }) => present.has(format)).map(({ plate, label }) => [plate, label]),
  );
  if (plates.size === 0) return null;
  const shown = [...plates].slice(0, mostMarks);
  const more = plates.size - shown.length;
  return (
    <span className="kh-coins">
      {shown.map(([plate, label]) => (
        <span key={plate} className="kh-coin" translate="no" data-coin={plate} title={label}>
          {plate}
        </span>
      ))}
      {more > 0 && <span className="kh-coin-more">{t('+{{more}}', { more: String(more) })}</span>}
    </span>
  );
}

/** The number of accounts, and the last use. */
export function WalletFacts({ of }: { readonly of: WalletSummary | undefined }): ReactNode {
  if (of === undefined) return null;
  return (
    <>
      {t('{{count}} accounts', { count: of.accounts })}
      {' · '}
      <LastUse at={of.lastUsedAt} />
    </>
  );
}
