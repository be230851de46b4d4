import type { ReactNode } from 'react';
import { ActivityList } from './activity-list.tsx';
import type { ActivityFilter } from '../../ui/lists/use-long-list.ts';
import { ObjectTabs } from './object-tabs.tsx';
import { nameOf, useSecrets } from '../secrets/secret-queries.ts';
import { PageHead } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

interface Props {
  /** The object's own screen. */
  readonly of: string;
  readonly name: string | undefined;
  readonly filter: ActivityFilter;
}

/** The activities of one object, beside its screen. */
function ObjectActivity({ of, name = '…', filter }: Props): ReactNode {
  return (
    <>
      <PageHead title={t('Activity of {{name}}', { name })} back={{ to: of, label: name }} />
      <ObjectTabs of={of} />
      <ActivityList fixed={filter} />
    </>
  );
}

export function WalletActivity({ walletId }: { readonly walletId: string }): ReactNode {
  const { data } = useApiQuery('get_wallet', { walletId });
  const name = data?.wallet.walletName;
  return <ObjectActivity of={`/wallets/${walletId}`} name={name} filter={{ about: walletId }} />;
}

export function PrivateKeyActivity({ privateKeyId }: { readonly privateKeyId: string }): ReactNode {
  const { data } = useApiQuery('get_private_key', { privateKeyId });
  const name = data?.privateKey.privateKeyName;
  return <ObjectActivity of={`/private-keys/${privateKeyId}`} name={name} filter={{ about: privateKeyId }} />;
}

export function SecretActivity({ secretId }: { readonly secretId: string }): ReactNode {
  const { data } = useSecrets();
  const secret = data?.find((each) => each.secretId === secretId);
  const name = secret && nameOf(secret);
  return <ObjectActivity of={`/secrets/${secretId}`} name={name} filter={{ about: secretId }} />;
}

/** Activities that the user requested. */
export function UserActivity({ userId }: { readonly userId: string }): ReactNode {
  const { data } = useApiQuery('get_user', { userId });
  return <ObjectActivity of={`/users/${userId}`} name={data?.user.userName} filter={{ userId }} />;
}

export function PolicyActivity({ policyId }: { readonly policyId: string }): ReactNode {
  const { data } = useApiQuery('get_policy', { policyId });
  const name = data?.policy.policyName;
  return <ObjectActivity of={`/policies/${policyId}`} name={name} filter={{ about: policyId }} />;
}
