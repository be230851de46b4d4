import type { ReactNode } from 'react';
import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../../main/operations/api.ts';
import { intentOf } from '../../../main/lib/text/to-be-signed.ts';
import { t } from '../../app/i18n/text.ts';
import type { Activity } from '../../app/rpc/resources.ts';
import { queryApi, useRpc } from '../../app/rpc/vault.tsx';
import { Exact } from '../../ui/text/exact.tsx';
import './node-says.css';

type Preview = Answer<'preview_activity'>['preview'];

/** Shows the preview by the owner's node, apart from the vault's own reading. Empty where no node is asked. */
export function NodeSays({ activity }: { readonly activity: Activity }): ReactNode {
  const rpc = useRpc();
  const { status, canApprove, canReject, id } = activity;
  const isAsked =
    status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' &&
    (canApprove || canReject) &&
    intentOf(activity)['type'] === 'TRANSACTION_TYPE_ETHEREUM';
  const { data, error, isFetching } = useQuery({
    // Apart from the queries that each event asks again: this one leaves the vault.
    queryKey: ['preview', id],
    queryFn: () => queryApi(rpc, 'preview_activity', { activityId: id }),
    enabled: isAsked,
    ...{ staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false },
  });
  if (!isAsked) return null;
  if (data?.preview.outcome === 'PREVIEW_OUTCOME_OFF') return null;
  return (
    <section className="kh-node-says" aria-label={t('The node says')} aria-busy={isFetching}>
      <Stack gap="xs">
        <Title order={3} size="h4">
          {t('The node says')}
        </Title>
        <Text size="sm" c="dimmed">
          {t('Not verified by the vault: a node or a contract can lie.')}
        </Text>
        {isFetching && <Text size="sm">{t('Loading the preview…')}</Text>}
        {error !== null && <Text size="sm">{error.message}</Text>}
        {data !== undefined && <Said preview={data.preview} />}
      </Stack>
    </section>
  );
}

function Said({ preview: { outcome, reason, said, gas, moves } }: { readonly preview: Preview }): ReactNode {
  const isAnswer = outcome !== 'PREVIEW_OUTCOME_NO_ANSWER';
  return (
    <>
      <Text fw={600}>
        {isAnswer
          ? outcome === 'PREVIEW_OUTCOME_SUCCESS'
            ? t('The transaction succeeds.')
            : t('The transaction fails.')
          : t('No preview: {{reason}}.', { reason: reason ?? '' })}
      </Text>
      <dl className="kh-facts">
        {said !== undefined && <Row name={t('In its words')} text={said} />}
        {moves?.leaves.map(({ text }, index) => (
          <Row key={index} name={t('Leaves')} text={text} />
        ))}
        {moves?.arrives.map(({ text }, index) => (
          <Row key={index} name={t('Arrives')} text={text} />
        ))}
        {moves?.allows.map(({ text, spender }, index) => (
          <Row key={index} name={t('Others may take')} text={`${text}: ${spender}`} />
        ))}
        {gas !== undefined && <Row name={t('Gas')} text={gas} />}
      </dl>
      {isAnswer &&
        restOf(moves).map((text) => (
          <Text key={text} size="sm">
            {text}
          </Text>
        ))}
    </>
  );
}

function restOf(moves: Preview['moves']): readonly string[] {
  if (moves === undefined) return [t('The node doesn’t say what moves.')];
  const { leaves, arrives, allows, left, unread } = moves;
  const isNone = leaves.length + arrives.length + allows.length + unread === 0;
  return [
    ...(isNone ? [t('No transfers of this account.')] : []),
    ...(left > 0 ? [t('{{count}} more aren’t shown.', { count: left })] : []),
    ...(unread > 0 ? [t('{{count}} token events can’t be read.', { count: unread })] : []),
  ];
}

const Row = ({ name, text }: { readonly name: string; readonly text: string }): ReactNode => (
  <div>
    <dt>{name}</dt>
    <dd>
      <code>
        <Exact text={text} />
      </code>
    </dd>
  </div>
);
