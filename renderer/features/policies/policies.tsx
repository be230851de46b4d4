import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { IconListCheck, IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import type { Asset } from './policy-building.ts';
import { NamedText, useKnownNames } from './policy-names.tsx';
import type { KnownNames } from './policy-names.tsx';
import { expressionsOf, useLanguage, usePolicyChecks } from './policy-queries.ts';
import type { Policy, PolicyCheck } from './policy-queries.ts';
import { PolicySentence } from './policy-sentence.tsx';
import { policyTemplates } from './policy-templates.ts';
import { RefusalRow } from './refusal-row.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';
import './policy-editor.css';

/** All policies, and what one could begin with. */
export function Policies(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_policies');
  const checks = usePolicyChecks(
    data?.policies.map((policy) => ({ ...expressionsOf(policy), policyId: policy.policyId })),
  );
  const names = useKnownNames();
  const assets = useLanguage()?.assets ?? [];
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
        {data !== undefined && data.policies.length > 0 && (
          <ul className="kh-rows" aria-label={t('Policies')}>
            {data.policies.map((policy, index) => (
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
                    <span className="kh-row-more">
                      <Said of={policy} check={checks.data?.[index]} names={names} assets={assets} />
                    </span>
                  </span>
                  <span className="kh-row-side">
                    <Trans
                      i18nKey="Updated <moment/>"
                      components={{ moment: <RelativeTime at={policy.updatedAt} /> }}
                    />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
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

/** A policy as a sentence; where no form says all of it, all of its text with names for ids. */
function Said({
  of,
  check,
  names,
  assets,
}: {
  readonly of: Policy;
  readonly check: PolicyCheck | undefined;
  readonly names: KnownNames;
  readonly assets: readonly Asset[];
}): ReactNode {
  if (check?.form !== undefined) return <PolicySentence form={check.form} names={names} assets={assets} />;
  const { condition, consensus, time } = expressionsOf(of);
  const others = { [t('Consensus')]: consensus, [t('Time')]: time };
  return (
    <>
      <span className="kh-excerpt">
        <NamedText text={condition.trim() === '' ? t('everything') : condition} names={names} />
      </span>
      {Object.entries(others).map(
        ([label, text]) =>
          text.trim() !== '' && (
            <span key={label}>
              {' '}
              {label}:{' '}
              <span className="kh-excerpt">
                <NamedText text={text} names={names} />
              </span>
            </span>
          ),
      )}
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
