import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { BackupsStatus } from '../../../preload/contract.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useBackups } from '../../app/rpc/vault.tsx';
import './backup-ages.css';

export interface Ages {
  /** Undefined where there is none. */
  readonly made: number | undefined;
  readonly proven: number | undefined;
}

export function agesOf({ backups }: BackupsStatus): Ages {
  const verifiedAt = backups.flatMap(({ provenAt }) => (provenAt === null ? [] : [provenAt]));
  return {
    made: backups[0]?.madeAt,
    proven: verifiedAt.length === 0 ? undefined : Math.max(...verifiedAt),
  };
}

/** On the vault's first screen: how old the last backup is, and the last that was proven; loudly where that matters. */
export function BackupAges(): ReactNode {
  const { data } = useBackups();
  // A vault in memory is meant to be lost. What cannot be read is said on the screen of backups.
  if (data?.available !== true) return null;
  const { made, proven } = agesOf(data);
  const ages = (
    <p>
      {made !== undefined && (
        <>
          {proven === undefined ? (
            <Trans
              i18nKey="Last backup <made/>, not tested."
              components={{ made: <RelativeTime at={timestampOf(made)} /> }}
            />
          ) : (
            <Trans
              i18nKey="Last backup <made/>, last tested <proven/>."
              components={{
                made: <RelativeTime at={timestampOf(made)} />,
                proven: <RelativeTime at={timestampOf(proven)} />,
              }}
            />
          )}{' '}
        </>
      )}
      <Link href="/backups" className="kh-link">
        {made === undefined ? t('Back up') : t('Review')}
      </Link>
    </p>
  );
  if (data.notices.length === 0) return <div className="kh-backup-ages">{ages}</div>;
  return (
    <Panel kind="brass">
      <div role="note" aria-label={t('Backups')} className="kh-backup-notice">
        {data.notices.map(({ kind, message }) => (
          <p key={kind} className="kh-backup-file">
            {message}
          </p>
        ))}
        {ages}
      </div>
    </Panel>
  );
}
