/** The API's incoming requests, live, for authors of clients. An invalid stamp is explained step by step. */

import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Code, Group, Switch, Text, VisuallyHidden } from '@mantine/core';
import {
  IconCheck,
  IconChevronDown,
  IconChevronRight,
  IconMinus,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugConnected,
  IconX,
} from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { ProofStep, SeenRequest } from '../../../preload/contract.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useRequests } from '../../app/rpc/vault.tsx';
import './request-inspector.css';
import '../../ui/rows.css';

/** As many as a person looks through. */
const shown = 50;

export function RequestInspector(): ReactNode {
  const [live, setLive] = useState(true);
  const [onlyRefused, setOnlyRefused] = useState(false);
  const { data, error, isPending, refetch } = useRequests(live);
  const requests = (data?.requests ?? []).filter(({ status }) => !onlyRefused || isRefused(status));
  return (
    <Panel
      title={t('Requests')}
      kind="plain"
      aside={
        <Group gap="md">
          <Switch
            label={t('Refused only')}
            checked={onlyRefused}
            onChange={(event) => {
              setOnlyRefused(event.currentTarget.checked);
            }}
          />
          <Button
            variant="default"
            size="xs"
            leftSection={
              live ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />
            }
            onClick={() => {
              setLive(!live);
            }}
          >
            {live ? t('Pause') : t('Resume')}
          </Button>
        </Group>
      }
    >
      {isPending && <LoadingRows label={t('Loading the last requests')} rows={2} />}
      <Failure title={t('Couldn’t load the requests')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && requests.length === 0 && (
        <Empty
          title={onlyRefused ? t('No refused requests') : t('No requests yet')}
          icon={IconPlugConnected}
          level={3}
        >
          <p>{t('API requests, live, without bodies. An invalid stamp is explained check by check.')}</p>
          <p>
            <Trans
              i18nKey="<command/> shows the same in a terminal."
              components={{ command: <Code>keyhearth requests --follow</Code> }}
            />
          </p>
        </Empty>
      )}
      {requests.length > 0 && (
        <ul className="kh-rows" aria-label={t('Requests')}>
          {requests.slice(0, shown).map((request) => (
            <RequestRow key={request.id} of={request} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

const isRefused = (status: number): boolean => status >= 400;

function RequestRow({ of }: { readonly of: SeenRequest }): ReactNode {
  const [open, setOpen] = useState(false);
  const more = useId();
  const { at, method, path, status, durationMs, caller } = of;
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <li>
      <button
        type="button"
        className="kh-row kh-request"
        aria-expanded={open}
        aria-controls={more}
        onClick={() => {
          setOpen(!open);
        }}
      >
        <span className="kh-badge" data-tone={isRefused(status) || status === 0 ? 'failed' : undefined}>
          {status === 0 ? t('Dropped') : status}
        </span>
        <span>
          <span className="kh-row-name kh-mono">
            {method === 'POST' ? '' : `${method} `}
            {visibleName(path)}
          </span>
          <br />
          <span className="kh-row-more">
            {caller !== null && <>{visibleName(caller.userName ?? t('A deleted user'))} · </>}
            <RelativeTime at={timestampOf(at)} /> ·{' '}
            {t('{{duration}} ms', { duration: durationMs.toFixed(1) })}
          </span>
        </span>
        <Chevron size={18} aria-hidden />
      </button>
      <div id={more} hidden={!open}>
        {open && <RequestMore of={of} />}
      </div>
    </li>
  );
}

function RequestMore({ of }: { readonly of: SeenRequest }): ReactNode {
  const { at, client, requestBytes, answerBytes, caller, activity, error, steps } = of;
  return (
    <div className="kh-request-more">
      {error !== null && (
        <div>
          <Text fw={600}>{visibleName(error.message)}</Text>
          <Text size="sm" c="dimmed" className="kh-mono">
            {error.code}
          </Text>
          {error.byPolicies && (
            <Text size="sm" mt="xs">
              <Trans
                i18nKey="Refused by policies. <policies>Recent refusals</policies> has the details."
                components={{ policies: <Link href="/policies" className="kh-link" /> }}
              />
            </Text>
          )}
        </div>
      )}
      {steps.length > 0 && (
        <ol className="kh-proof" aria-label={t('Checks')}>
          {steps.map((step) => (
            <Step key={step.check} of={step} />
          ))}
        </ol>
      )}
      <Facts
        rows={[
          ...(caller === null
            ? []
            : [
                [
                  t('User'),
                  <Link key="user" href={`/users/${caller.userId}`} className="kh-link">
                    {visibleName(caller.userName ?? t('a deleted user'))}
                  </Link>,
                ] as const,
              ]),
          ...(activity === null
            ? []
            : [
                [
                  t('Activity'),
                  <Link key="activity" href={`/activity/${activity.id}`} className="kh-link">
                    {t('Open activity')}
                  </Link>,
                ] as const,
              ]),
          ...(caller?.credentialId == null
            ? []
            : [
                [
                  t('Credential'),
                  <ShortId key="credential" text={caller.credentialId} copy={t('Copy credential ID')} />,
                ] as const,
              ]),
          [t('Time'), <RelativeTime key="when" at={timestampOf(at)} exact />],
          [t('Client'), client ?? t('Not given')],
          [
            t('Size'),
            t('{{request}} bytes in, {{answer}} bytes out', {
              request: requestBytes,
              answer: answerBytes,
            }),
          ],
        ]}
      />
    </div>
  );
}

const names: Readonly<Record<ProofStep['check'], string>> = {
  header: t('Header'),
  encoding: t('Encoding'),
  scheme: t('Scheme'),
  publicKey: t('Public key'),
  body: t('Body'),
  signature: t('Signature'),
  organization: t('Organization'),
  credential: t('Credential'),
  expiry: t('Expiry'),
  time: t('Time'),
};

const outcomes = {
  passed: { icon: IconCheck, word: t('OK') },
  failed: { icon: IconX, word: t('Failed') },
  skipped: { icon: IconMinus, word: t('Not checked') },
} as const;

function Step({ of: { check, outcome, text, advice } }: { readonly of: ProofStep }): ReactNode {
  const { icon: Mark, word } = outcomes[outcome];
  return (
    <li data-outcome={outcome}>
      <Mark size={18} aria-hidden />
      <span className="kh-proof-name">
        {names[check]} <VisuallyHidden>{word}</VisuallyHidden>
      </span>
      <span className="kh-proof-text">
        {visibleName(text)}
        {advice !== null && <span className="kh-proof-advice">{advice}</span>}
      </span>
    </li>
  );
}
