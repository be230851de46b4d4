import type { ReactNode } from 'react';
import { ActivityList } from './activity-list.tsx';
import type { ActivityFilter } from '../../ui/lists/use-long-list.ts';
import { ObjectTabs } from './object-tabs.tsx';
import { nameOf, useSecrets } from '../secrets/secret-queries.ts';
import { Failure } from '../../ui/feedback.tsx';
import { PageHead } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

interface Props {
  /** The object's own screen. */
  readonly of: string;
  readonly name: string | undefined;
  readonly filter: ActivityFilter;
  /** Why there is no name. */
  readonly error: Error | null;
  /** The title of that. */
  readonly failed: string;
}

/** The activities of one object, beside its screen. They are there after its deletion, too. */
function ObjectActivity({ of, name = '…', filter, error, failed }: Props): ReactNode {
  return (
    <>
      <PageHead title={t('Activity of {{name}}', { name })} back={{ to: of, label: name }} />
      <ObjectTabs of={of} />
      <Failure title={failed} error={error} />
      <ActivityList fixed={filter} isMissing={error !== null} />
    </>
  );
}

export function WalletActivity({ walletId }: { readonly walletId: string }): ReactNode {
  const { data, error } = useApiQuery('get_wallet', { walletId });
  return (
    <ObjectActivity
      of={`/wallets/${walletId}`}
      name={data?.wallet.walletName}
      filter={{ about: walletId }}
      error={error}
      failed={t('Couldn’t load the wallet')}
    />
  );
}

export function PrivateKeyActivity({ privateKeyId }: { readonly privateKeyId: string }): ReactNode {
  const { data, error } = useApiQuery('get_private_key', { privateKeyId });
  return (
    <ObjectActivity
      of={`/private-keys/${privateKeyId}`}
      name={data?.privateKey.privateKeyName}
      filter={{ about: privateKeyId }}
      error={error}
      failed={t('Couldn’t load the private key')}
    />
  );
}

export function SecretActivity({ secretId }: { readonly secretId: string }): ReactNode {
  const { data, error } = useSecrets();
  const secret = data?.find((each) => each.secretId === secretId);
  const missing = data === undefined || secret !== undefined ? null : new Error(t('No such secret'));
  return (
    <ObjectActivity
      of={`/secrets/${secretId}`}
      name={secret && nameOf(secret)}
      filter={{ about: secretId }}
      error={error ?? missing}
      failed={t('Couldn’t load the secret')}
    />
  );
}

/** Activities that the user requested. */
export function UserActivity({ userId }: { readonly userId: string }): ReactNode {
  const { data, error } = useApiQuery('get_user', { userId });
  return (
    <ObjectActivity
      of={`/users/${userId}`}
      name={data?.user.userName}
      filter={{ userId }}
      error={error}
      failed={t('Couldn’t load the user')}
    />
  );
}

export function PolicyActivity({ policyId }: { readonly policyId: string }): ReactNode {
  const { data, error } = useApiQuery('get_policy', { policyId });
  return (
    <ObjectActivity
      of={`/policies/${policyId}`}
      name={data?.policy.policyName}
      filter={{ about: policyId }}
      error={error}
      failed={t('Couldn’t load the policy')}
    />
  );
}
