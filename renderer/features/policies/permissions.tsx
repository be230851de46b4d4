import { useState } from 'react';
import type { ReactNode } from 'react';
import { Select } from '@mantine/core';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeType } from '../activity/activity-words.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useStatus } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

interface Permission {
  readonly activityType: string;
  readonly reach:
    | 'REACH_ROOT_QUORUM'
    | 'REACH_ALLOWED'
    | 'REACH_OWN_CREDENTIALS'
    | 'REACH_CONSENSUS'
    | 'REACH_DEPENDS'
    | 'REACH_DENIED';
  readonly policyIds: readonly string[];
}

/** In the order in which they are shown. */
const reaches = [
  ['REACH_ROOT_QUORUM', t('Allowed as a root quorum member')],
  ['REACH_ALLOWED', t('Allowed')],
  ['REACH_DEPENDS', t('Allowed in some cases')],
  ['REACH_OWN_CREDENTIALS', t('Allowed for own credentials')],
  ['REACH_CONSENSUS', t('Requires approval')],
  ['REACH_DENIED', t('Denied')],
] as const satisfies readonly (readonly [Permission['reach'], string])[];

/** A user's reach over all kinds of activities. */
export function Permissions(): ReactNode {
  const { owner } = useStatus();
  const users = useApiQuery('list_users');
  const policies = useApiQuery('list_policies');
  const [chosen, setChosen] = useState<string | null>(null);
  const userId = chosen ?? owner?.userId ?? '';
  const permissions = useApiQuery('list_permissions', userId === '' ? null : { userId });
  const list = permissions.data?.permissions ?? [];
  const nameOf = (wanted: string): string =>
    policies.data?.policies.find(({ policyId }) => policyId === wanted)?.policyName ?? wanted;
  return (
    <>
      <PageHead
        title={t('Permissions')}
        back={{ to: '/policies', label: t('Policies') }}
        lead={t('What each user may do under the current policies. Every user can read.')}
      />
      <Select
        label={t('User')}
        data={(users.data?.users ?? []).map((user) => ({
          value: user.userId,
          label: visibleName(user.userName),
        }))}
        value={userId}
        allowDeselect={false}
        onChange={setChosen}
        maw={320}
        mb="md"
      />
      {permissions.isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading permissions')} rows={6} />
        </Panel>
      )}
      <Failure
        title={t('Couldn’t load the permissions')}
        error={permissions.error ?? users.error}
        onRetry={() => void permissions.refetch()}
      />
      {reaches.map(([reach, title]) => {
        const those = list.filter((permission) => permission.reach === reach);
        if (those.length === 0) return null;
        return (
          <Panel key={reach} title={title} kind="plain">
            <ul
              className={those.some(({ policyIds }) => policyIds.length > 0) ? 'kh-rows' : 'kh-columns'}
              aria-label={title}
            >
              {those.map(({ activityType, policyIds }) => (
                <li key={activityType} className="kh-row">
                  <span>{describeType(activityType)}</span>
                  {policyIds.length > 0 && (
                    <span className="kh-row-side">
                      {policyIds.map((policyId, index) => (
                        <span key={policyId}>
                          {index > 0 && ', '}
                          <Link href={`/policies/${policyId}`} className="kh-link">
                            {nameOf(policyId)}
                          </Link>
                        </span>
                      ))}
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </Panel>
        );
      })}
    </>
  );
}
