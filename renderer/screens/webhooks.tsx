import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Select, Stack, Switch, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { describeType } from '../parts/activity-words.ts';
import { DeleteForm, DialogButton } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { NameField } from '../parts/name-field.tsx';
import { nameProblem } from '../parts/names.ts';
import { Outcomes, PageHead, Panel } from '../parts/page.tsx';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { t, Trans } from '../parts/text.ts';
import type { Timestamp } from '../parts/time.ts';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import '../parts/rows.css';

interface Endpoint {
  readonly endpointId: string;
  readonly url: string;
  readonly name: string;
  readonly isActive: boolean;
}

interface Delivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly activityType: string;
  readonly state: 'waiting' | 'delivered' | 'refused' | 'parked' | 'expired';
  readonly attempts: number;
  readonly lastResult?: string;
  readonly nextAttemptAt?: Timestamp;
  readonly createdAt: Timestamp;
}

const submitOf = (operation: string, result: string) =>
  ({ operation, type: `ACTIVITY_TYPE_${operation.toUpperCase()}`, result }) as const;
const create = submitOf('create_webhook_endpoint', 'createWebhookEndpointResult');
const update = submitOf('update_webhook_endpoint', 'updateWebhookEndpointResult');
const remove = submitOf('delete_webhook_endpoint', 'deleteWebhookEndpointResult');
const test = submitOf('test_webhook_endpoint', 'testWebhookEndpointResult');
const replay = submitOf('replay_webhook_deliveries', 'replayWebhookDeliveriesResult');

const shownDeliveries = '50';

/** Where events are sent, and what became of the last of them. */
export function Webhooks(): ReactNode {
  const endpoints = useAsk<{ webhookEndpoints: readonly Endpoint[] }>('list_webhook_endpoints');
  const list = endpoints.data?.webhookEndpoints ?? [];
  return (
    <>
      <PageHead
        title={t('Webhooks')}
        lead={t(
          'Every activity, sent to your own programs as it comes about: signed, in order, and again until they have it.',
        )}
      />
      <NewEndpoint taken={list.map(({ name }) => name)} />
      <Panel title={t('Endpoints')} kind="plain">
        {endpoints.isPending && <LoadingRows label={t('Loading endpoints')} rows={2} />}
        <Failure
          title={t('The endpoints could not be read')}
          error={endpoints.error}
          onRetry={() => void endpoints.refetch()}
        />
        {endpoints.data !== undefined && list.length === 0 && (
          <Empty title={t('None yet')} level={3}>
            <p>
              {t(
                'An endpoint is a URL that takes each event as a POST. The feature FEATURE_NAME_WEBHOOK of the organization is one more, which scripts set.',
              )}
            </p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="lk-rows" aria-label={t('Endpoints')}>
            {list.map((endpoint) => (
              <EndpointRow key={endpoint.endpointId} endpoint={endpoint} />
            ))}
          </ul>
        )}
      </Panel>
      <Deliveries endpoints={list} />
    </>
  );
}

/** @returns what is wrong with it, or null. */
function urlProblem(text: string): string | null {
  if (text.trim() === '') return t('Enter the URL that takes the events.');
  const url = URL.parse(text.trim());
  return url !== null && /^https?:$/.test(url.protocol)
    ? null
    : t('Enter a URL that begins with https:// or http://.');
}

function NewEndpoint({ taken }: { readonly taken: readonly string[] }): ReactNode {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [tried, setTried] = useState(false);
  const creating = useSubmit<object, unknown>(create);
  const problems = { name: nameProblem(name, 'endpoint', taken), url: urlProblem(url) };
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
            title: t('The endpoint is added'),
            message: t('It is sent every activity from now on.'),
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
            description={t('What you know it by.')}
            value={name}
            problem={tried ? problems.name : null}
            onType={setName}
          />
          <TextInput
            label={t('URL')}
            type="url"
            placeholder="https://example.org/events"
            value={url}
            error={tried ? problems.url : null}
            onChange={(event) => {
              setUrl(event.currentTarget.value);
            }}
          />
          <Failure title={t('The endpoint was not added')} error={creating.error} />
          <div>
            <Button
              type="submit"
              leftSection={<IconPlus size={16} aria-hidden />}
              loading={creating.isPending}
            >
              {t('Add the endpoint')}
            </Button>
          </div>
        </Stack>
      </Panel>
    </form>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: Endpoint }): ReactNode {
  const { endpointId, name, url, isActive } = endpoint;
  const updating = useSubmit<object, unknown>(update);
  const removing = useSubmit<object, unknown>(remove);
  const testing = useSubmit<object, unknown>(test);
  return (
    <li className="lk-row lk-manage">
      <div>
        <span className="lk-row-name">{name}</span>
        <br />
        <span className="lk-row-more">{url}</span>
        <Failure title={t('The endpoint was not changed')} error={updating.error ?? testing.error} />
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
          aria-label={t('Send a test to {{name}}', { name })}
          disabled={!isActive}
          loading={testing.isPending}
          onClick={() => {
            testing.mutate(
              { endpointId },
              {
                onSuccess() {
                  notifications.show({
                    title: t('A test is on its way'),
                    message: t('Below you see what becomes of it.'),
                  });
                },
              },
            );
          }}
        >
          {t('Send a test')}
        </Button>
        <DialogButton
          name={t('Send again…')}
          label={t('Send again… earlier events to {{name}}', { name })}
          title={t('Send earlier events to “{{name}}” again', { name })}
        >
          {(close) => <ReplayForm endpoint={endpoint} close={close} />}
        </DialogButton>
        <DialogButton
          name={t('Delete…')}
          label={t('Delete the endpoint {{name}}', { name })}
          title={t('Delete “{{name}}”', { name })}
          danger
        >
          {(close) => (
            <DeleteForm
              what="endpoint"
              outcomes={[
                t('It is sent nothing more, also not what is still on its way.'),
                t('What became of its deliveries stays in the list; they can be sent to it no more.'),
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
                        title: t('The endpoint is deleted'),
                        message: t('“{{name}}” is gone.', { name }),
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
  { value: String(hourMs), label: t('The last hour') },
  { value: String(24 * hourMs), label: t('The last day') },
  { value: String(7 * 24 * hourMs), label: t('The last week') },
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
  const replaying = useSubmit<object, { readonly count: number }>(replay);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    replaying.mutate(
      { endpointId, sinceMs: String(Date.now() - Number(span)) },
      {
        onSuccess({ result: { count } }) {
          close();
          notifications.show({
            title: t('Events are sent again'),
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
          label={t('Which events')}
          data={spans}
          value={span}
          allowDeselect={false}
          maw={240}
          onChange={(value) => {
            setSpan(value ?? span);
          }}
        />
        <Outcomes
          items={[
            t('Each event is sent with the id that it had, so that a receiver knows those it has already.'),
            t('What the endpoint has not subscribed to is left out.'),
          ]}
        />
        <Failure title={t('The events were not sent again')} error={replaying.error} />
        <Group gap="sm">
          <Button type="submit" loading={replaying.isPending}>
            {t('Send them again')}
          </Button>
          <Button variant="subtle" color="gray" onClick={close}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const stateWords: Readonly<Record<Delivery['state'], string>> = {
  waiting: t('On its way'),
  delivered: t('Delivered'),
  refused: t('Refused'),
  parked: t('Given up'),
  expired: t('Given up'),
};

const filterStates = ['waiting', 'delivered', 'refused', 'parked'] as const;

const tones: Readonly<Partial<Record<Delivery['state'], string>>> = {
  waiting: 'waiting',
  refused: 'failed',
  parked: 'failed',
  expired: 'failed',
};

function Deliveries({ endpoints }: { readonly endpoints: readonly Endpoint[] }): ReactNode {
  const [state, setState] = useState('');
  const [endpointId, setEndpointId] = useState('');
  const { data, error, isPending, refetch } = useAsk<{ deliveries: readonly Delivery[] }>(
    'list_webhook_deliveries',
    {
      paginationOptions: { limit: shownDeliveries },
      ...(state === '' ? {} : { state }),
      ...(endpointId === '' ? {} : { endpointId }),
    },
  );
  const filtered = state !== '' || endpointId !== '';
  const names = new Map(endpoints.map(({ endpointId, name }) => [endpointId, name]));
  return (
    <Panel
      title={t('Deliveries')}
      kind="plain"
      aside={
        <Group gap="xs">
          <Select
            aria-label={t('Endpoint')}
            size="xs"
            w={170}
            data={[
              { value: '', label: t('To every endpoint') },
              ...endpoints.map((each) => ({ value: each.endpointId, label: each.name })),
            ]}
            value={endpointId}
            allowDeselect={false}
            onChange={(value) => {
              setEndpointId(value ?? '');
            }}
          />
          <Select
            aria-label={t('State')}
            size="xs"
            w={140}
            data={[
              { value: '', label: t('In any state') },
              ...filterStates.map((value) => ({ value, label: stateWords[value] })),
            ]}
            value={state}
            allowDeselect={false}
            onChange={(value) => {
              setState(value ?? '');
            }}
          />
        </Group>
      }
    >
      {isPending && <LoadingRows label={t('Loading deliveries')} rows={2} />}
      <Failure title={t('The deliveries could not be read')} error={error} onRetry={() => void refetch()} />
      {data?.deliveries.length === 0 && (
        <Empty title={filtered ? t('No delivery of this kind') : t('Nothing was sent yet')} level={3}>
          <p>{t('Each event that is sent to an endpoint is here, with what became of it.')}</p>
        </Empty>
      )}
      {data !== undefined && data.deliveries.length > 0 && (
        <ul className="lk-rows" aria-label={t('Deliveries')}>
          {data.deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.deliveryId}
              delivery={delivery}
              to={names.get(delivery.endpointId) ?? t('FEATURE_NAME_WEBHOOK, or an endpoint that is gone')}
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function DeliveryRow({ delivery, to }: { readonly delivery: Delivery; readonly to: string }): ReactNode {
  const { deliveryId, endpointId, activityType, state, attempts, lastResult, nextAttemptAt, createdAt } =
    delivery;
  const replaying = useSubmit<object, unknown>(replay);
  const what = describeType(activityType);
  return (
    <li className="lk-row lk-manage">
      <div>
        <span className="lk-row-name">{what}</span>{' '}
        <span className="lk-badge" data-tone={tones[state]}>
          {stateWords[state]}
        </span>
        <br />
        <span className="lk-row-more">
          {to} · <Moment at={createdAt} exact />
          {attempts > 1 && ` · ${t('tried {{count}} times', { count: attempts })}`}
          {nextAttemptAt !== undefined && (
            <>
              {' · '}
              <Trans
                i18nKey="next try <moment/>"
                components={{ moment: <Moment at={nextAttemptAt} ahead exact /> }}
              />
            </>
          )}
        </span>
        {lastResult !== undefined && state !== 'delivered' && (
          <>
            <br />
            <span className="lk-row-more">{lastResult}</span>
          </>
        )}
        <Failure title={t('It was not sent again')} error={replaying.error} />
      </div>
      <Button
        variant="default"
        size="xs"
        aria-label={t('Send again: {{what}} to {{to}}', { what, to })}
        loading={replaying.isPending}
        onClick={() => {
          replaying.mutate({ endpointId, deliveryId });
        }}
      >
        {t('Send again')}
      </Button>
    </li>
  );
}
