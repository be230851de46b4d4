import type { ReactNode } from 'react';
import { Text } from '@mantine/core';
import { apiReferenceUrl } from '../../../docs/page-urls.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { pagesUrl } from '../../app/rpc/pages-url.ts';
import { useStatus } from '../../app/rpc/vault.tsx';

/** The API's reference. The app shows the address, since its own window does not navigate outside. */
export function ApiReference(): ReactNode {
  const { url } = useStatus();
  const address = apiReferenceUrl(pagesUrl(url));
  return (
    <Panel title={t('API reference')}>
      <Text mb="xs">{t('Every operation with its parameters, result and an example:')}</Text>
      {/^https?:$/.test(window.location.protocol) ? (
        <a href={address} target="_blank" rel="noreferrer" className="kh-link kh-mono">
          {address}
        </a>
      ) : (
        <span className="kh-id">
          <span className="kh-mono">{address}</span>
          <CopyButton text={address} copy={t('Copy address of the API reference')} />
        </span>
      )}
    </Panel>
  );
}
