import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import {
  IconAlertTriangle,
  IconArchive,
  IconDoor,
  IconHistory,
  IconKey,
  IconLock,
  IconLockOpen,
  IconSnowflake,
  type Icon,
} from '@tabler/icons-react';
import type { SecurityEvent } from '../../../preload/contract.ts';
import { doorKinds, type DoorName } from '../../../main/lib/policies/doors.ts';
import type { SecurityEventKind } from '../../../main/lib/text/security-events.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { apiQueryKey, useRpc } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';
import './security-timeline.css';

interface Looks {
  readonly title: string;
  readonly icon: Icon;
  /** True for events that an attacker causes. */
  readonly isAlarming?: true;
}

const looks: Readonly<Record<SecurityEventKind, Looks>> = {
  created: { title: t('Vault created'), icon: IconKey },
  restored: { title: t('Vault restored from a backup'), icon: IconArchive },
  unlocked: { title: t('Unlocked'), icon: IconLockOpen },
  wrongSecret: { title: t('Wrong secret'), icon: IconAlertTriangle, isAlarming: true },
  locked: { title: t('Locked'), icon: IconLock },
  frozen: { title: t('Frozen'), icon: IconSnowflake },
  backupMade: { title: t('Backup created'), icon: IconArchive },
  backupTested: { title: t('Backup tested'), icon: IconArchive },
  backupFailed: { title: t('Backup test failed'), icon: IconAlertTriangle, isAlarming: true },
  recoveryChecked: { title: t('Recovery phrase checked'), icon: IconKey },
  unlockMethodAdded: { title: t('Unlock method added'), icon: IconKey },
  unlockMethodChanged: { title: t('Unlock method changed'), icon: IconKey },
  unlockMethodRemoved: { title: t('Unlock method removed'), icon: IconKey },
  masterKeyReplaced: { title: t('Master key replaced'), icon: IconKey },
  doorOn: { title: t('Door switched on'), icon: IconDoor },
  doorOff: { title: t('Door switched off'), icon: IconDoor },
  programPaired: { title: t('Program paired'), icon: IconDoor },
  programRevoked: { title: t('Program revoked'), icon: IconDoor },
};

const doorWays = Object.fromEntries(
  Object.entries(doorKinds).map(([door, kind]) => [door, t(kind.words.title)]),
) as Readonly<Record<DoorName, string>>;

const ways: Readonly<Record<NonNullable<SecurityEvent['way']>, string>> = {
  keychain: t('keychain'),
  password: t('password'),
  recovery: t('recovery phrase'),
  shares: t('shares'),
  ...doorWays,
};

/** The events of the vault itself: who opened it, who tried to, and what opens it now. */
export function SecurityTimeline(): ReactNode {
  const rpc = useRpc();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: apiQueryKey('securityEvents', {}),
    queryFn: () => rpc.securityEvents(),
  });
  return (
    <>
      <PageHead
        title={t('Security timeline')}
        lead={t('Unlocks, wrong secrets, freezes, backups, unlock methods, doors: newest first.')}
        back={{ to: '/activity', label: t('Activity') }}
      />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading the security timeline')} rows={6} />}
        <Failure
          title={t('Couldn’t load the security timeline')}
          error={error}
          onRetry={() => void refetch()}
        />
        {data?.events.length === 0 && (
          <Empty title={t('No events yet')} icon={IconHistory}>
            <p>{t('The next lock or unlock will be listed here.')}</p>
          </Empty>
        )}
        <ul className="kh-rows" aria-label={t('Security timeline')}>
          {data?.events.map((event) => (
            <EventRow key={`${event.kind} ${String(event.way)} ${String(event.firstAt)}`} event={event} />
          ))}
        </ul>
      </Panel>
    </>
  );
}

function EventRow({ event }: { readonly event: SecurityEvent }): ReactNode {
  const { kind, way, count, firstAt, lastAt } = event;
  const { title, icon: Picture, isAlarming } = looks[kind];
  return (
    <li>
      <div className="kh-row">
        <span className="kh-event" data-alarming={isAlarming}>
          <Picture size={18} aria-hidden />
          <span>
            <span className="kh-row-name">{title}</span>{' '}
            {way !== null && <span className="kh-row-more">{ways[way]}</span>}
            {count > 1 && (
              <span className="kh-row-more">
                {' '}
                <Trans
                  i18nKey="{{times}} times since <first/>"
                  values={{ times: String(count) }}
                  components={{ first: <RelativeTime at={timestampOf(firstAt)} /> }}
                />
              </span>
            )}
          </span>
        </span>
        <span className="kh-row-side">
          <RelativeTime at={timestampOf(lastAt)} />
        </span>
      </div>
    </li>
  );
}
