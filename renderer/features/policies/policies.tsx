import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { IconListCheck, IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeType } from '../activity/activity-words.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { PolicyExplanation } from './policy-explanation.tsx';
import { policyTemplates } from './policy-templates.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import type { Timestamp } from '../../ui/text/time.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';
import './policy-editor.css';

/** All policies, and what one could begin with. */
export function Policies(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_policies');
  const make = (
    <Button component={Link} href="/policies/new" leftSection={<IconPlus size={16} aria-hidden />}>
      {t('New policy')}
    </Button>
  );
  return (
    <>
      <PageHead
        title={t('Policies')}
        lead={t(
          'Rules that let users do things, alone or together, and rules that forbid things. The root quorum is never held back; everybody else may do what some policy allows and none denies.',
        )}
        action={
          <Group gap="sm">
            {data !== undefined && data.policies.length > 0 && make}
            <Button
              component={Link}
              href="/policies/permissions"
              variant="default"
              leftSection={<IconListCheck size={16} aria-hidden />}
            >
              {t('Who may do what')}
            </Button>
          </Group>
        }
      />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading policies')} />}
        <Failure title={t('The policies could not be read')} error={error} onRetry={() => void refetch()} />
        {data?.policies.length === 0 && (
          <Empty title={t('No policy yet')} action={make} icon={IconShieldCheck}>
            <p>
              {t(
                'Without a policy, users outside the root quorum may read, and change their own credentials. A policy lets a script sign with one wallet, sets a budget for it, or asks for a second person.',
              )}
            </p>
            <p>{t('Each is tried on what has happened before it is made.')}</p>
          </Empty>
        )}
        {data !== undefined && data.policies.length > 0 && (
          <ul className="kh-rows" aria-label={t('Policies')}>
            {data.policies.map((policy) => (
              <li key={policy.policyId}>
                <Link href={`/policies/${policy.policyId}`} className="kh-row">
                  <span style={{ minWidth: 0 }}>
                    <span className="kh-row-name">{visibleName(policy.policyName)}</span>{' '}
                    <span
                      className="kh-badge"
                      data-tone={policy.effect === 'EFFECT_DENY' ? 'denied' : undefined}
                    >
                      {policy.effect === 'EFFECT_DENY' ? t('Denies') : t('Allows')}
                    </span>
                    <span className="kh-row-more kh-mono kh-excerpt">
                      {policy.condition === '' ? t('everything') : policy.condition}
                    </span>
                  </span>
                  <span className="kh-row-side">
                    <Trans
                      i18nKey="Changed <moment/>"
                      components={{ moment: <RelativeTime at={policy.updatedAt} /> }}
                    />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Refused />
      <Panel title={t('Begin with one of these')} kind="plain">
        <ul className="kh-rows" aria-label={t('Templates')}>
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
    </>
  );
}

interface Refusal {
  readonly refusalId: string;
  readonly userId: string;
  readonly type: string;
  readonly reason: string;
  readonly createdAt: Timestamp;
}

/** The latest refused requests: the script that does not work, and why. */
function Refused(): ReactNode {
  const { data } = useApiQuery('list_refusals', { limit: 10 });
  const users = useApiQuery('list_users').data?.users ?? [];
  if (data === undefined || data.refusals.length === 0) return null;
  return (
    <Panel title={t('Refused lately')} kind="plain">
      <ul className="kh-rows" aria-label={t('Refused lately')}>
        {data.refusals.map((refusal) => (
          <RefusalRow
            key={refusal.refusalId}
            of={refusal}
            user={users.find(({ userId }) => userId === refusal.userId)?.userName ?? t('A user who is gone')}
          />
        ))}
      </ul>
    </Panel>
  );
}

function RefusalRow({ of, user }: { readonly of: Refusal; readonly user: string }): ReactNode {
  const [open, setOpen] = useState(false);
  const what = describeType(of.type);
  return (
    <li className="kh-row">
      <div>
        <span className="kh-row-name">{what}</span>
        <br />
        <span className="kh-row-more">
          {user}, <RelativeTime at={of.createdAt} />
        </span>
      </div>
      <Button
        size="compact-xs"
        variant="default"
        aria-expanded={open}
        aria-label={t('Why was it refused: {{activity}}', { activity: what })}
        onClick={() => {
          setOpen(!open);
        }}
      >
        {t('Why')}
      </Button>
      {open && (
        <div style={{ gridColumn: '1 / -1' }}>
          <PolicyExplanation question={{ activityId: of.refusalId }} />
        </div>
      )}
    </li>
  );
}
