import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Select, Stack, Switch, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { DeleteForm, DialogButton } from '../../ui/danger-zone.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useDraftState } from '../../app/drafts.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { Deliveries } from './webhook-deliveries.tsx';
import type { Endpoint } from '../../app/rpc/resources.ts';
import { onText } from '../../ui/on-text.ts';
import '../../ui/rows.css';

/** Webhook endpoints, and the delivery log. */
export function Webhooks(): ReactNode {
  const endpoints = useApiQuery('list_webhook_endpoints');
  const list = endpoints.data?.webhookEndpoints ?? [];
  return (
    <>
      <PageHead
        title={t('Webhooks')}
        lead={t('Your programs receive every activity, signed and in order.')}
      />
      <Panel title={t('Endpoints')} kind="plain">
        {endpoints.isPending && <LoadingRows label={t('Loading the endpoints')} rows={2} />}
        <Failure
          title={t('Couldn’t load the endpoints')}
          error={endpoints.error}
          onRetry={() => void endpoints.refetch()}
        />
        {endpoints.data !== undefined && list.length === 0 && (
          <Empty title={t('No endpoints')} level={3}>
            <p>
              {t(
                'A URL that receives events by POST. Under Organization, the feature “Webhook URL” sets one more.',
              )}
            </p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="kh-rows" aria-label={t('Endpoints')}>
            {list.map((endpoint) => (
              <EndpointRow key={endpoint.endpointId} endpoint={endpoint} />
            ))}
          </ul>
        )}
      </Panel>
      <NewEndpoint taken={list.map(({ name }) => name)} />
      <Deliveries endpoints={list} />
    </>
  );
}

/** @returns what is wrong with it, or null. */
function urlProblem(text: string): string | null {
  if (text.trim() === '') return t('Enter a URL.');
  const url = URL.parse(text.trim());
  return url !== null && /^https?:$/.test(url.protocol)
    ? null
    : t('Enter a URL that begins with https:// or http://.');
}

function NewEndpoint({ taken }: { readonly taken: readonly string[] }): ReactNode {
  const [name, setName] = useDraftState('name', '');
  const [url, setUrl] = useDraftState('url', '');
  const [tried, setTried] = useState(false);
  const creating = useSubmit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT');
  const problems = { name: nameProblem(name, taken), url: urlProblem(url) };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problems.name !== null || problems.url !== null) return;
    creating.mutate(
      { name: name.trim(), url: url.trim(), subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }] },
      {
        onSuccess() {
          setName('');
          setUrl('');
          setTried(false);
          notifications.show({
            title: t('Endpoint added'),
            message: t('This endpoint receives every activity from now on.'),
          });
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('New endpoint')}>
        <Stack gap="md" maw={480}>
          <NameField
            description={t('For your own use.')}
            value={name}
            problem={tried ? problems.name : null}
            others={taken}
            onType={setName}
          />
          <TextInput
            label={t('URL')}
            type="url"
            required
            placeholder="https://example.org/events"
            value={url}
            error={tried ? problems.url : null}
            onChange={onText(setUrl)}
          />
          <Failure title={t('Couldn’t add the endpoint')} error={creating.error} />
          <div>
            <Button type="submit" loading={creating.isPending}>
              {t('Add endpoint')}
            </Button>
          </div>
        </Stack>
      </Panel>
    </form>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: Endpoint }): ReactNode {
  const { endpointId, name, url, isActive } = endpoint;
  const updating = useSubmit('ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT');
  const removing = useSubmit('ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT');
  const testing = useSubmit('ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT');
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{visibleName(name)}</span>
        <br />
        <span className="kh-row-more">
          {visibleName(url)} <CopyButton text={url} copy={t('Copy the URL of {{name}}', { name })} />
        </span>
        <Failure title={t('Couldn’t change the endpoint')} error={updating.error ?? testing.error} />
      </div>
      <Group gap="xs">
        <Switch
          label={t('On')}
          aria-label={t('Send events to {{name}}', { name })}
          checked={isActive}
          disabled={updating.isPending}
          onChange={(event) => {
            updating.mutate({ endpointId, isActive: event.currentTarget.checked });
          }}
        />
        <Button
          variant="default"
          size="xs"
          aria-label={t('Send test to {{name}}', { name })}
          disabled={!isActive}
          loading={testing.isPending}
          onClick={() => {
            testing.mutate(
              { endpointId },
              {
                onSuccess() {
                  notifications.show({
                    title: t('Test started'),
                    message: t('See the result in the delivery log.'),
                  });
                },
              },
            );
          }}
        >
          {t('Send test')}
        </Button>
        <DialogButton
          name={t('Resend…')}
          label={t('Resend… earlier events to {{name}}', { name })}
          title={t('Resend earlier events to “{{name}}”', { name })}
        >
          {(close) => <ReplayForm endpoint={endpoint} close={close} />}
        </DialogButton>
        <DialogButton
          name={t('Delete…')}
          label={t('Delete endpoint {{name}}', { name })}
          title={t('Delete “{{name}}”', { name })}
          danger
        >
          {(close) => (
            <DeleteForm
              what="endpoint"
              outcomes={[
                t('Events to this endpoint stop, including waiting ones.'),
                t('The deliveries stay in the log.'),
              ]}
              confirm={{ text: name, as: 'name' }}
              submitting={removing}
              onCancel={close}
              onDelete={() => {
                removing.mutate(
                  { endpointId },
                  {
                    onSuccess() {
                      close();
                      notifications.show({
                        title: t('Endpoint deleted'),
                        message: t('“{{name}}” receives no more events.', { name }),
                      });
                    },
                  },
                );
              }}
            />
          )}
        </DialogButton>
      </Group>
    </li>
  );
}

const hourMs = 3_600_000;
const spans = [
  { value: String(hourMs), label: t('Last hour') },
  { value: String(24 * hourMs), label: t('Last day') },
  { value: String(7 * 24 * hourMs), label: t('Last week') },
] as const;

/** Every event of a time once more, for a receiver that lost some. */
function ReplayForm({
  endpoint: { endpointId, name },
  close,
}: {
  readonly endpoint: Endpoint;
  readonly close: () => void;
}): ReactNode {
  const [span, setSpan] = useState(String(hourMs));
  const replaying = useSubmit('ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERIES');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    replaying.mutate(
      { endpointId, sinceMs: String(Date.now() - Number(span)) },
      {
        onSuccess({ result: { count } }) {
          close();
          notifications.show({
            title: t('Resending events'),
            message: t('{{count}} events are on their way to “{{name}}” again.', { count, name }),
          });
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Select
          label={t('Period')}
          data={spans}
          value={span}
          allowDeselect={false}
          maw={240}
          onChange={(value) => {
            setSpan(value ?? span);
          }}
        />
        <Expectations
          items={[
            t('Each event keeps its ID, so a receiver can skip those it has.'),
            t('Events without a subscription are left out.'),
          ]}
        />
        <FormEnd
          failed={t('Couldn’t resend the events')}
          error={replaying.error}
          busy={replaying.isPending}
          does={t('Resend')}
          back={close}
        />
      </Stack>
    </form>
  );
}
