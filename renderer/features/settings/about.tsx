import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Licence, SelfTestFinding } from '../../../preload/contract.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { apiQueryKey, useRpc, useStatus } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import { onText } from '../../ui/on-text.ts';
import './about.css';
import '../../ui/rows.css';

/** The running version, the self-test, and licenses. */
export function About(): ReactNode {
  const rpc = useRpc();
  const { directory } = useStatus();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: apiQueryKey('about', {}),
    queryFn: () => rpc.about(),
  });
  const facts =
    data === undefined
      ? []
      : ([
          [t('Keyhearth'), data.version],
          [t('Build'), data.commit ?? t('from source')],
          [t('Vault file'), t('schema {{schema}}', { schema: data.schema })],
          [t('System'), data.system],
          ...data.runtime.map(({ name, version }) => [name, version] as const),
        ] as const);
  return (
    <>
      <PageHead
        title={t('About')}
        back={{ to: '/settings', label: t('Settings') }}
        lead={t('Versions, self-test, diagnostics and licenses.')}
      />
      <Panel
        title={t('Versions')}
        aside={
          facts.length > 0 && (
            <CopyButton
              text={facts.map(([name, value]) => `${name}: ${value}`).join('\n')}
              copy={t('Copy versions')}
              wide
            />
          )
        }
      >
        {isPending && <LoadingRows label={t('Loading the versions')} />}
        <Failure title={t('Couldn’t load the versions')} error={error} onRetry={() => void refetch()} />
        <Facts
          rows={[
            ...facts,
            ...(directory === null
              ? []
              : ([
                  [
                    t('Vault location'),
                    <span key="place" className="kh-mono">
                      {directory}
                    </span>,
                  ],
                ] as const)),
          ]}
        />
      </Panel>
      <SelfTest />
      <Diagnostics />
      <Licences />
    </>
  );
}

const checkNames = (): Readonly<Record<string, string>> => ({
  cryptography: t('Cryptography'),
  rows: t('Vault rows'),
  log: t('Activity log'),
  keychain: t('Keychain'),
  disk: t('Disk'),
  clock: t('Clock'),
});

function SelfTest(): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
  const [findings, setFindings] = useState<readonly SelfTestFinding[] | null>(null);
  const failures = findings?.filter(({ outcome }) => outcome === 'failed').length ?? 0;
  const run = () => {
    setFindings(null);
    task.run(async () => {
      setFindings(await rpc.selfTest());
    });
  };
  return (
    <Panel
      title={t('Self-test')}
      aside={
        <Button variant="default" size="xs" loading={task.isPending} onClick={run}>
          {t('Run self-test')}
        </Button>
      }
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed" className="kh-prose">
          {t('Checks cryptography, rows, log, keychain, disk and clock. Changes nothing.')}
        </Text>
        <Busy busy={task.isPending}>{t('Running the self-test')}</Busy>
        <Failure title={t('Couldn’t run the self-test')} error={task.error} />
        <div role="status">
          {findings !== null && (
            <Text fw={600}>
              {failures === 0 ? t('All checks passed.') : t('{{count}} checks failed.', { count: failures })}
            </Text>
          )}
        </div>
        {findings !== null && (
          <ul className="kh-checks" aria-label={t('Self-test')}>
            {findings.map(({ check, outcome, detail }) => (
              <li key={check}>
                <span className="kh-badge" data-tone={tones[outcome]}>
                  {outcomeNames()[outcome]}
                </span>
                <span className="kh-row-name">{checkNames()[check] ?? check}</span>
                <span className="kh-row-more">{detail}</span>
              </li>
            ))}
          </ul>
        )}
      </Stack>
    </Panel>
  );
}

const tones: Readonly<Record<SelfTestFinding['outcome'], string>> = {
  ok: 'done',
  note: 'waiting',
  failed: 'failed',
};

const outcomeNames = (): Readonly<Record<SelfTestFinding['outcome'], string>> => ({
  ok: t('OK'),
  note: t('Note'),
  failed: t('Failed'),
});

/** Shows the text before it is copied. */
function Diagnostics(): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
  const [text, setText] = useState<string | null>(null);
  const gather = () => {
    task.run(async () => {
      setText(await rpc.diagnostics());
    });
  };
  return (
    <Panel
      title={t('Diagnostics')}
      aside={text !== null && <CopyButton text={text} copy={t('Copy diagnostics')} wide />}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed" className="kh-prose">
          {t(
            'Versions, state, self-test and the end of the log; no names, addresses or keys. Read it before you copy it.',
          )}
        </Text>
        <Group>
          <Button variant="default" loading={task.isPending} onClick={gather}>
            {text === null ? t('Show diagnostics') : t('Refresh')}
          </Button>
        </Group>
        <Failure title={t('Couldn’t load the diagnostics')} error={task.error} />
        {text !== null && (
          <pre className="kh-diagnostics" tabIndex={0} aria-label={t('Diagnostics')} role="region">
            {text}
          </pre>
        )}
      </Stack>
    </Panel>
  );
}

function Licences(): ReactNode {
  const rpc = useRpc();
  const [asked, setAsked] = useState(false);
  const [wanted, setWanted] = useState('');
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: apiQueryKey('licences', {}),
    queryFn: () => rpc.licences(),
    enabled: asked,
    staleTime: Infinity,
  });
  const found = data?.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()));
  return (
    <Panel title={t('Licenses')}>
      <Stack gap="md">
        <Text size="sm" className="kh-prose">
          {t(
            'Keyhearth (Apache License 2.0) includes the packages below. Licenses of Electron and Chromium are in files beside the app.',
          )}
        </Text>
        {!asked && (
          <Group>
            <Button
              variant="default"
              onClick={() => {
                setAsked(true);
              }}
            >
              {t('Show licenses')}
            </Button>
          </Group>
        )}
        {isFetching && <LoadingRows label={t('Loading the licenses')} />}
        <Failure title={t('Couldn’t load the licenses')} error={error} onRetry={() => void refetch()} />
        {data?.length === 0 && (
          <Text size="sm">{t('Keyhearth runs from source: the licenses are in node_modules.')}</Text>
        )}
        {data !== undefined && data.length > 0 && (
          <>
            <TextInput label={t('Find a package')} value={wanted} maw={420} onChange={onText(setWanted)} />
            <Text size="sm" role="status">
              {t('{{count}} packages', { count: found?.length ?? 0 })}
            </Text>
            <ul className="kh-licences" aria-label={t('Licenses')}>
              {found?.map((licence) => (
                <li key={`${licence.name} ${licence.version}`}>
                  <LicenceText licence={licence} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Stack>
    </Panel>
  );
}

/** Its text is in the page once it is opened: there are hundreds. */
function LicenceText({
  licence: { name, version, identifier, text },
}: {
  readonly licence: Licence;
}): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <span className="kh-row-name">{name}</span>{' '}
        <span className="kh-row-more">
          {version}, {identifier ?? t('see text')}
        </span>
      </summary>
      {open && (
        <pre>
          {text === ''
            ? t('No license text; the license is {{identifier}}.', {
                identifier: identifier ?? '',
              })
            : text}
        </pre>
      )}
    </details>
  );
}
