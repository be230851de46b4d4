import type { ReactNode } from 'react';
import { IconArrowRight, IconCheck, IconCircle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { KeyslotKind } from '../../../preload/contract.ts';
import { agesOf } from '../backups/backup-ages.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { anyOf, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useBackups, useStatus } from '../../app/rpc/vault.tsx';
import { useHealth, useSetUp, type Check } from './checks.ts';
import './health.css';

const slotNames: Readonly<Record<KeyslotKind, string>> = {
  keychain: t('keychain'),
  password: t('password'),
  recovery: t('recovery phrase'),
};

/** The health as a ring, what it consists of, and where the vault is. */
export function Health(): ReactNode {
  const health = useHealth();
  const isSetUp = useSetUp() === undefined;
  const { keyslots, directory } = useStatus();
  const opens = [...new Set(keyslots)].map((kind) => slotNames[kind]);
  return (
    <Panel title={t('Health')}>
      {health !== undefined && (
        <div className="kh-health">
          <Ring checks={health} />
          {/* The steps of a new vault say the same. */}
          {isSetUp && <Checks checks={health} label={t('Health')} />}
        </div>
      )}
      <Facts
        rows={[
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
        ]}
      />
    </Panel>
  );
}

/** The steps that a new vault still needs. */
export function SetUp(): ReactNode {
  const steps = useSetUp();
  if (steps === undefined) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Panel
      kind="brass"
      title={t('Set up the vault')}
      aside={t('{{done}} of {{all}} done', { done: String(done), all: String(steps.length) })}
    >
      <Checks checks={steps} label={t('Set up the vault')} />
    </Panel>
  );
}

function Checks({ checks, label }: { readonly checks: readonly Check[]; readonly label: string }): ReactNode {
  return (
    <ul className="kh-steps-left" aria-label={label}>
      {checks.map(({ id, isDone, done, todo, to }) => (
        <li key={id} data-done={isDone || undefined}>
          {isDone ? (
            <>
              <IconCheck size={18} aria-hidden /> {done}
            </>
          ) : (
            <Link href={to} className="kh-link">
              <IconCircle size={18} aria-hidden /> {todo} <IconArrowRight size={16} aria-hidden />
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}

const radius = 40;
const around = 2 * Math.PI * radius;
/** Between two parts of the ring. */
const gap = 6;

function Ring({ checks }: { readonly checks: readonly Check[] }): ReactNode {
  const done = checks.filter(({ isDone }) => isDone).length;
  const part = around / checks.length;
  const label = t('{{done}} of {{all}} health checks pass', {
    done: String(done),
    all: String(checks.length),
  });
  return (
    <svg viewBox="0 0 100 100" className="kh-ring" role="img" aria-label={label}>
      {checks.map(({ id, isDone }, index) => (
        <circle
          key={id}
          cx="50"
          cy="50"
          r={radius}
          data-done={isDone || undefined}
          strokeDasharray={`${String(part - gap)} ${String(around - part + gap)}`}
          transform={`rotate(${String((360 / checks.length) * index - 90)} 50 50)`}
        />
      ))}
      <text x="50" y="50" textAnchor="middle" dominantBaseline="central">
        {t('{{done}} of {{all}}', { done: String(done), all: String(checks.length) })}
      </text>
    </svg>
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
      {proven !== undefined && (
        <>
          {' · '}
          <Trans
            i18nKey="tested <moment></moment>"
            components={{ moment: <RelativeTime at={timestampOf(proven)} /> }}
          />
        </>
      )}
    </>
  );
}
