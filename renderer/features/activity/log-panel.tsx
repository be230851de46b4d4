import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { WindowRpc, LogCheck, LogHead, LogRange, LogState } from '../../../preload/contract.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { GrowingFile, today } from '../../app/rpc/growing-file.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { numeral, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { exactTime, timestampOf } from '../../ui/text/time.ts';
import { apiQueryKey, useRpc } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import '../../ui/feedback.css';

/** Problems of a log that are written out. */
const mostProblems = 10;

const stateKey = apiQueryKey('logState', {});

/** The log as a whole: how much of it is signed, a check of all of it, and a copy to take away. */
export function LogPanel(): ReactNode {
  const rpc = useRpc();
  const client = useQueryClient();
  const { data: state, error } = useQuery({ queryKey: stateKey, queryFn: () => rpc.logState() });
  const [check, setCheck] = useState<LogCheck | null>(null);
  const checking = useAsyncAction();
  const exporting = useAsyncAction();
  const [range, setRange] = useState<LogRange | null>(null);
  const stopped = useRef(false);
  if (state === undefined) {
    return <Failure title={t('Couldn’t load the log’s state')} error={error} />;
  }
  if (state.rows === 0) return null;
  return (
    <Panel title={t('Log integrity')}>
      <Facts rows={factsOf(state)} />
      <Group gap="sm" mt="md">
        <Button
          variant="default"
          loading={checking.isPending}
          disabled={exporting.isPending}
          onClick={() => {
            setCheck(null);
            checking.run(async () => {
              setCheck(await rpc.checkLog());
            });
          }}
        >
          {t('Verify log')}
        </Button>
        {exporting.isPending ? (
          <Button
            variant="default"
            onClick={() => {
              stopped.current = true;
            }}
          >
            {t('Stop the export')}
          </Button>
        ) : (
          <Button
            variant="default"
            disabled={checking.isPending}
            onClick={() => {
              stopped.current = false;
              setRange(null);
              exporting.run(async () => {
                const file = await saveLog(rpc, setRange, () => stopped.current);
                if (file !== null) {
                  notifications.show({ title: t('Log exported'), message: file });
                }
                // It had the head signed.
                await client.invalidateQueries({ queryKey: stateKey });
              });
            }}
          >
            {t('Export')}
          </Button>
        )}
      </Group>
      <Busy busy={checking.isPending}>{t('Verifying {{count}} entries', { count: state.rows })}</Busy>
      <Busy
        busy={exporting.isPending}
        progress={range === null ? null : { done: range.after, total: range.until }}
      >
        {t('Exporting {{count}} entries', { count: state.rows })}
      </Busy>
      <Failure title={t('Couldn’t verify the log')} error={checking.error} />
      <Failure title={t('Couldn’t export the log')} error={exporting.error} />
      {check !== null && <Verdict check={check} />}
    </Panel>
  );
}

const factsOf = ({ rows, head, witness }: LogState): readonly (readonly [string, ReactNode])[] => [
  [t('Entries'), numeral(rows)],
  [t('Signed'), head === null ? t('None yet') : <Signed key="signed" head={head} rows={rows} />],
  ...(head === null
    ? []
    : ([
        [
          t('Signed head'),
          <ShortId key="head" text={`${head.sequence}:${head.hash}`} copy={t('Copy signed head')} />,
        ],
      ] as const)),
  ...(witness === null
    ? []
    : ([
        [
          t('In the keychain'),
          'sequence' in witness
            ? t('Up to entry {{sequence}}', { sequence: numeral(witness.sequence) })
            : t('Not yet: {{obstacle}}', { obstacle: witness.obstacle }),
        ],
      ] as const)),
];

function Signed({ head, rows }: { readonly head: LogHead; readonly rows: number }): ReactNode {
  const left = rows - head.sequence;
  const moment = <RelativeTime at={timestampOf(head.signedAt)} />;
  const sequence = numeral(head.sequence);
  return left > 0 ? (
    <Trans
      i18nKey="Up to entry {{sequence}}, <moment/>; the next {{left}} within ten minutes"
      values={{ sequence, left: numeral(left) }}
      components={{ moment }}
    />
  ) : (
    <Trans i18nKey="Up to entry {{sequence}}, <moment/>" values={{ sequence }} components={{ moment }} />
  );
}

function Verdict({ check }: { readonly check: LogCheck }): ReactNode {
  const { rows, signed, signedAt, findings, more } = check;
  if (findings.length === 0) {
    return (
      <Alert
        variant="light"
        mt="md"
        title={t('The log is intact')}
        icon={<IconCircleCheck aria-hidden />}
        className="kh-fine"
      >
        {t('{{count}} entries verified.', { count: rows })}{' '}
        {signedAt === null
          ? t('No entry is signed yet.')
          : t('Signed up to entry {{signed}}, on {{signedAt}}.', {
              signed: numeral(signed),
              signedAt: exactTime(signedAt),
            })}
      </Alert>
    );
  }
  const shown = findings.slice(0, mostProblems);
  const left = findings.length + more - shown.length;
  return (
    <Alert
      color="red"
      variant="light"
      mt="md"
      title={t('The log was changed or is incomplete')}
      icon={<IconAlertTriangle aria-hidden />}
      className="kh-failure"
    >
      {shown.map(({ problem }, index) => (
        <p key={index}>{problem}</p>
      ))}
      {left > 0 && (
        <p>{t('and {{left}} more: `keyhearth audit verify` lists all', { left: numeral(left) })}</p>
      )}
    </Alert>
  );
}

/**
 * Hands the whole log to the browser to save; Electron shows a dialog for where.
 * @param onNext Called with each range that is still to read.
 * @returns the file's name, or null where it was stopped.
 */
async function saveLog(
  rpc: WindowRpc,
  onNext: (range: LogRange) => void,
  isStopped: () => boolean,
): Promise<string | null> {
  const file = new GrowingFile('application/jsonl');
  let range: LogRange | undefined;
  do {
    const part = await (range === undefined ? rpc.exportLog() : rpc.exportLog(range));
    if (isStopped()) return null;
    file.add(part.text);
    range = part.next ?? undefined;
    if (range !== undefined) onNext(range);
  } while (range !== undefined);
  const name = `keyhearth-log-${today()}.jsonl`;
  file.save(name);
  return name;
}
