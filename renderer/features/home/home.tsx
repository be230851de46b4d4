import type { ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { IconCheck, IconHistory, IconPlugConnected, IconPlus, IconSignature } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { KeyslotKind } from '../../../preload/contract.ts';
import { StatusBadge } from '../activity/activity-parts.tsx';
import { ActivityRow } from '../activity/activity-row.tsx';
import { useAttention } from './attention.ts';
import { agesOf } from '../backups/backup-ages.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { anyOf, t, Trans } from '../../app/i18n/text.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useApiQuery, useBackups, useStatus } from '../../app/rpc/vault.tsx';
import './home.css';

/** The state of the vault, its issues, and the next steps. */
export function Home(): ReactNode {
  return (
    <>
      <PageHead
        title={t('Home')}
        action={
          <Group gap="sm">
            <Button component={Link} href="/wallets/new" leftSection={<IconPlus size={16} aria-hidden />}>
              {t('Create wallet')}
            </Button>
            <Button
              component={Link}
              href="/sign"
              variant="default"
              leftSection={<IconSignature size={16} aria-hidden />}
            >
              {t('Sign something')}
            </Button>
          </Group>
        }
      />
      <NeedsAttention />
      <div className="kh-home">
        <Health />
        <Api />
      </div>
      <Recent />
    </>
  );
}

/** The issues; a calm notice if there are none. */
function NeedsAttention(): ReactNode {
  const attention = useAttention();
  if (attention === undefined) return <LoadingRows label={t('Loading the vault’s state')} rows={1} />;
  if (attention.length === 0) {
    return (
      <p className="kh-home-well" role="status">
        <IconCheck size={18} aria-hidden />
        {t('Nothing needs your attention.')}
      </p>
    );
  }
  return (
    <Panel kind="brass" title={t('Needs your attention')}>
      <ul className="kh-home-attention" aria-label={t('Needs your attention')}>
        {attention.map(({ id, text, to, does }) => (
          <li key={id}>
            <span>{text}</span>
            <Link href={to} className="kh-link">
              {does}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const slotNames: Readonly<Record<KeyslotKind, string>> = {
  keychain: t('keychain'),
  password: t('password'),
  recovery: t('recovery phrase'),
};

function Health(): ReactNode {
  const { keyslots, directory, version } = useStatus();
  const opens = [...new Set(keyslots)].map((kind) => slotNames[kind]);
  return (
    <Panel title={t('The vault')}>
      <Facts
        rows={[
          [t('State'), t('Unlocked, with the keys in memory')],
          [
            t('Opens with'),
            opens.length === 0 ? (
              t('Nothing: this vault cannot be locked.')
            ) : (
              <Link key="opens" href="/keyslots" className="kh-link">
                {anyOf(opens)}
              </Link>
            ),
          ],
          [t('Last backup'), <LastBackup key="backup" />],
          [
            t('Location'),
            directory === null ? (
              t('Memory, until Keyhearth stops')
            ) : (
              <span key="directory" className="kh-mono">
                {visibleName(directory)}
              </span>
            ),
          ],
          [t('Version'), version],
        ]}
      />
    </Panel>
  );
}

function LastBackup(): ReactNode {
  const { data } = useBackups();
  if (data === undefined) return '…';
  if (!data.available) return t('None: the vault is in memory only.');
  const { made, proven } = agesOf(data);
  return (
    <>
      <Link href="/backups" className="kh-link">
        {made === undefined ? t('Never') : <RelativeTime at={timestampOf(made)} />}
      </Link>
      {made !== undefined &&
        (proven === undefined ? (
          <> · {t('not tested')}</>
        ) : (
          <>
            {' · '}
            <Trans
              i18nKey="tested <moment></moment>"
              components={{ moment: <RelativeTime at={timestampOf(proven)} /> }}
            />
          </>
        ))}
    </>
  );
}

function Api(): ReactNode {
  const { url, organization } = useStatus();
  const request = `curl ${url}/public/v1/discovery/keys`;
  return (
    <Panel title={t('For scripts')}>
      <Facts
        rows={[
          [
            t('API address'),
            <span key="url" className="kh-id">
              <span className="kh-mono">{url}</span>
              <CopyButton text={url} copy={t('Copy API address')} />
            </span>,
          ],
          [
            t('Organization'),
            organization === null ? (
              ''
            ) : (
              <ShortId key="organization" text={organization.id} copy={t('Copy organization id')} />
            ),
          ],
        ]}
      />
      <p className="kh-home-say">{t('Try this request, which needs no key:')}</p>
      <div className="kh-value">
        <code className="kh-bytes">{request}</code>
        <CopyButton text={request} copy={t('Copy request')} />
      </div>
      <Button
        component={Link}
        href="/connect"
        variant="default"
        size="xs"
        mt="sm"
        leftSection={<IconPlugConnected size={15} aria-hidden />}
      >
        {t('Create a script key')}
      </Button>
    </Panel>
  );
}

const recent = 5;

function Recent(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_activities', {
    paginationOptions: { limit: String(recent) },
  });
  return (
    <Panel
      kind="plain"
      title={t('Recent activity')}
      aside={
        <Link href="/activity" className="kh-link">
          {t('All activity')}
        </Link>
      }
    >
      {isPending && <LoadingRows label={t('Loading the recent activity')} />}
      <Failure title={t('Couldn’t load the recent activity')} error={error} onRetry={() => void refetch()} />
      {data?.activities.length === 0 && (
        <Empty
          title={t('No activity yet')}
          icon={IconHistory}
          level={3}
          steps={[
            t('Create a wallet.'),
            t('Sign with an account, or let a script sign.'),
            t('Find every request and its result here.'),
          ]}
        >
          <p>{t('You and your scripts leave a tamper-evident log here.')}</p>
        </Empty>
      )}
      {data !== undefined && data.activities.length > 0 && (
        <ul className="kh-rows" aria-label={t('Recent activity')}>
          {data.activities.map((activity) => (
            <ActivityRow key={activity.id} activity={activity} href={`/activity/${activity.id}`}>
              <StatusBadge status={activity.status} />
            </ActivityRow>
          ))}
        </ul>
      )}
    </Panel>
  );
}
