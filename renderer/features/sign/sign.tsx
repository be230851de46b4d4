import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { IconFileCode, IconSignature } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { SignForm } from './sign-form.tsx';
import type { Start } from './signer-choice.tsx';

export function Sign({ start }: { readonly start?: Start }): ReactNode {
  const wallets = useApiQuery('list_wallets');
  const keys = useApiQuery('list_private_keys');
  const error = wallets.error ?? keys.error;
  const nothing = wallets.data?.wallets.length === 0 && keys.data?.privateKeys.length === 0;
  return (
    <>
      <PageHead
        title={t('Sign')}
        lead={t('Sign a message, a transaction or bytes.')}
        action={
          <Button
            component={Link}
            href="/sign/contracts"
            variant="default"
            leftSection={<IconFileCode size={16} aria-hidden />}
          >
            {t('Contract interfaces')}
          </Button>
        }
      />
      <Failure
        title={t('Couldn’t load your keys')}
        error={error}
        onRetry={() => {
          void wallets.refetch();
          void keys.refetch();
        }}
      />
      {error === null && (wallets.data === undefined || keys.data === undefined) && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading your keys')} />
        </Panel>
      )}
      {nothing && (
        <Panel kind="plain">
          <Empty
            title={t('No keys yet')}
            icon={IconSignature}
            action={
              <Button component={Link} href="/wallets/new">
                {t('Create wallet')}
              </Button>
            }
          >
            <p>{t('To sign, create a wallet with an account or a private key.')}</p>
          </Empty>
        </Panel>
      )}
      {!nothing && wallets.data !== undefined && keys.data !== undefined && (
        <SignForm start={start} wallets={wallets.data.wallets} privateKeys={keys.data.privateKeys} />
      )}
    </>
  );
}
