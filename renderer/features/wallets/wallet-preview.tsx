import type { ReactNode } from 'react';
import { Button, Text } from '@mantine/core';
import { accountAt } from '../accounts/chains.ts';
import type { Chain } from '../accounts/chains.ts';
import { Failure } from '../../ui/feedback.tsx';
import { Grouped } from '../../ui/identifier.tsx';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';

interface Props {
  readonly chains: readonly Chain[];
  /** In the order of the chains; null until the owner asks for them. */
  readonly addresses: readonly string[] | null;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onShow: () => void;
}

/** The first addresses of the typed words, to compare with the old wallet before the import. */
export function WalletPreview({ chains, addresses, busy, error, onShow }: Props): ReactNode {
  return (
    <div>
      <Button variant="default" size="sm" loading={busy} onClick={onShow}>
        {t('Show addresses')}
      </Button>
      <Failure title={t('Couldn’t show the addresses')} error={error} />
      <div role="status">
        {addresses !== null && (
          <>
            <Text size="sm" mt="sm">
              {t('Nothing is imported yet. Compare these addresses with your old wallet.')}
            </Text>
            <ul className="kh-rows" aria-label={t('First addresses')}>
              {chains.map((chain, index) => (
                <li key={chain.format}>
                  <div>
                    <Grouped text={addresses[index] ?? ''} />
                    <Text size="sm" c="dimmed">
                      {chain.label} · <span className="kh-mono">{accountAt(chain, 0).path}</span>
                    </Text>
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  );
}
