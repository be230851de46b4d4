import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { IconListCheck, IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'wouter';
import { PageHead, Panel } from '../../ui/page.tsx';
import { PolicyList } from './policy-list.tsx';
import { policyTemplates } from './policy-templates.ts';
import { RefusalRow } from './refusal-row.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** All policies, and what one could begin with. */
export function Policies(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_policies');
  const make = (
    <Button component={Link} href="/policies/new" leftSection={<IconPlus size={16} aria-hidden />}>
      {t('Create policy')}
    </Button>
  );
  return (
    <>
      <PageHead
        title={t('Policies')}
        lead={t('Users may do what a policy allows and none denies. The root quorum may do everything.')}
        action={
          <Group gap="sm">
            {data !== undefined && data.policies.length > 0 && make}
            <Button
              component={Link}
              href="/policies/permissions"
              variant="default"
              leftSection={<IconListCheck size={16} aria-hidden />}
            >
              {t('Permissions')}
            </Button>
          </Group>
        }
      />
      {data !== undefined && data.policies.length > 0 ? (
        <>
          <Failure title={t('Couldn’t load the policies')} error={error} onRetry={() => void refetch()} />
          <PolicyList policies={data.policies} />
        </>
      ) : (
        <Panel kind="plain">
          {isPending && <LoadingRows label={t('Loading policies')} />}
          <Failure title={t('Couldn’t load the policies')} error={error} onRetry={() => void refetch()} />
          {data?.policies.length === 0 && (
            <Empty title={t('No policies yet')} action={make} icon={IconShieldCheck}>
              <p>
                {t(
                  'Without policies, users outside the root quorum can only read and change their own credentials.',
                )}
              </p>
              <p>{t('You can test each policy on past activity before you create it.')}</p>
            </Empty>
          )}
        </Panel>
      )}
      <Panel title={t('Start from a template')} kind="plain">
        <ul className="kh-rows kh-templates" aria-label={t('Templates')}>
          {policyTemplates.map(({ id, title, about }) => (
            <li key={id}>
              <Link href={`/policies/new/${id}`} className="kh-row">
                <Stack gap={0}>
                  <span className="kh-row-name">{title}</span>
                  <span className="kh-row-more">{about}</span>
                </Stack>
              </Link>
            </li>
          ))}
        </ul>
      </Panel>
      <Refused />
    </>
  );
}

/** Refusals that are shown at first. */
const fewRefusals = 3;

/** The latest refused requests: the script that does not work, and why. */
function Refused(): ReactNode {
  const { data } = useApiQuery('list_refusals', { limit: 10 });
  const users = useApiQuery('list_users').data?.users ?? [];
  const [isLong, setIsLong] = useState(false);
  if (data === undefined || data.refusals.length === 0) return null;
  return (
    <Panel
      title={t('Recent refusals')}
      kind="plain"
      aside={
        !isLong &&
        data.refusals.length > fewRefusals && (
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              setIsLong(true);
            }}
          >
            {t('Show more ({{rest}})', { rest: data.refusals.length - fewRefusals })}
          </Button>
        )
      }
    >
      <ul className="kh-rows" aria-label={t('Recent refusals')}>
        {data.refusals.slice(0, isLong ? undefined : fewRefusals).map((refusal) => (
          <RefusalRow
            key={refusal.refusalId}
            of={refusal}
            by={users.find(({ userId }) => userId === refusal.userId)?.userName ?? t('A deleted user')}
          />
        ))}
      </ul>
    </Panel>
  );
}
