import type { ReactNode } from 'react';
import { Title } from '@mantine/core';
import { IconAlertTriangle, IconLink } from '@tabler/icons-react';
import { describeStatus } from './activity-words.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts } from '../../ui/page.tsx';
import type { ActivityEntry } from '../../app/rpc/resources.ts';
import { Failure } from '../../ui/feedback.tsx';
import { numeral, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

/** The log entries of an activity: their hashes, and the signed head that covers each. */
export function LogEntries({ activityId }: { readonly activityId: string }): ReactNode {
  const { data, error } = useApiQuery('get_activity_entries', {
    activityId,
  });
  return (
    <section aria-label={t('Place in the log')}>
      <Title order={3} mb={4}>
        {t('Place in the log')}
      </Title>
      <Failure title={t('Couldn’t load the log entries')} error={error} />
      <ul className="kh-rows" aria-label={t('Entries of this activity')}>
        {data?.entries.map((entry) => (
          <li key={entry.place} className="kh-rows-item">
            <span>
              <span className="kh-row-name">{t('Entry {{place}}', { place: numeral(entry.place) })}</span>{' '}
              <span className="kh-row-more">
                {describeStatus(entry.status).label} · <RelativeTime at={entry.writtenAt} />
              </span>
            </span>
            <span className="kh-chain" data-broken={!entry.intact || undefined}>
              {entry.intact ? (
                <IconLink size={16} aria-hidden />
              ) : (
                <IconAlertTriangle size={16} aria-hidden />
              )}
              {entry.intact ? t('Intact and in sequence.') : t('Changed or out of sequence. Verify the log.')}
            </span>
            <Facts rows={[...hashesOf(entry), [t('Signed'), <SignedBy key="signed" entry={entry} />]]} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A sub-organization is shown none: they would tell it what others do. */
const hashesOf = ({ hash, previousHash }: ActivityEntry) =>
  hash === undefined || previousHash === undefined
    ? []
    : ([
        [t('Hash'), <ShortId key="hash" text={hash} copy={t('Copy hash')} />],
        [t('Previous hash'), <ShortId key="before" text={previousHash} copy={t('Copy previous hash')} />],
      ] as const);

function SignedBy({ entry: { head } }: { readonly entry: ActivityEntry }): ReactNode {
  if (head === undefined) return t('Not yet: within ten minutes, or at the next lock');
  return (
    <Trans
      i18nKey="Up to entry {{place}}, <moment/>"
      values={{ place: numeral(head.place) }}
      components={{ moment: <RelativeTime at={head.signedAt} /> }}
    />
  );
}
