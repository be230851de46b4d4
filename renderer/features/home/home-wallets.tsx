import type { ReactNode } from 'react';
import { IconWallet } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ofArchive, orderWallets } from '../wallets/wallet-order.ts';
import { ChainMarks, useWalletSummaries, WalletFacts } from '../wallets/wallet-summaries.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

const most = 5;

/** The wallets that were used last. */
export function HomeWallets(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_wallets');
  const summaries = useWalletSummaries();
  const wallets = data?.wallets ?? [];
  const listed = ofArchive(wallets, summaries, false);
  return (
    <Panel
      kind="plain"
      title={t('Wallets')}
      aside={
        wallets.length > 0 && (
          <Link href="/wallets" className="kh-link">
            {t('All wallets ({{all}})', { all: String(wallets.length) })}
          </Link>
        )
      }
    >
      {isPending && <LoadingRows label={t('Loading wallets')} />}
      <Failure title={t('Couldn’t load the wallets')} error={error} onRetry={() => void refetch()} />
      {data?.wallets.length === 0 && (
        <Empty title={t('No wallets yet')} icon={IconWallet} level={3}>
          <p>{t('The wallets you used last will be listed here.')}</p>
        </Empty>
      )}
      {wallets.length > 0 && listed.length === 0 && (
        <Empty title={t('All wallets are archived')} icon={IconWallet} level={3}>
          <p>{t('The wallets you used last will be listed here.')}</p>
        </Empty>
      )}
      <ul className="kh-rows" aria-label={t('Wallets')}>
        {orderWallets(listed, 'used', summaries)
          .slice(0, most)
          .map(({ walletId, walletName }) => {
            const summary = summaries?.get(walletId);
            return (
              <li key={walletId}>
                <Link href={`/wallets/${walletId}`} className="kh-row">
                  <span>
                    <span className="kh-row-name">{visibleName(walletName)}</span>{' '}
                    {summary && <ChainMarks of={summary} />}
                  </span>
                  <span className="kh-row-side">
                    <WalletFacts of={summary} />
                  </span>
                </Link>
              </li>
            );
          })}
      </ul>
    </Panel>
  );
}
