import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type {
  MessageChannelChange,
  MessagesStatus,
  MessageTest,
  ShownMessage,
} from '../../../preload/contract.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { MailForm } from './mail-form.tsx';
import { ConfirmForm, DialogButton } from '../../ui/danger-zone.tsx';
import { MessageLog } from './message-log.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { SmsForm } from './sms-form.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useMessageCall, useMessages, useShownMessages, useStatus } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';
import './messages.css';
import '../../ui/rows.css';

/** The channels for codes, and the delivery log. */
export function Messages(): ReactNode {
  const { data, error, isPending, refetch } = useMessages();
  return (
    <>
      <PageHead
        title={t('Messages')}
        lead={t('Sign-in codes and messages, by email, by SMS or on this computer.')}
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the message settings')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the message settings')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && (
        <>
          {(data.desktop || data.inboxOnly) && <Shown inboxOnly={data.inboxOnly} />}
          {!data.inboxOnly && <Ways of={data} />}
          <MessageLog deliveries={data.deliveries} />
        </>
      )}
    </>
  );
}

function Shown({ inboxOnly }: { readonly inboxOnly: boolean }): ReactNode {
  const { data, error, isPending, refetch } = useShownMessages();
  const askInbox = `curl ${useStatus().url}/dev/inbox`;
  return (
    <Panel title={inboxOnly ? t('Inbox') : t('On this computer')} kind="plain">
      {isPending && <LoadingRows label={t('Loading messages')} rows={1} />}
      <Failure title={t('Couldn’t load the messages')} error={error} onRetry={() => void refetch()} />
      {data?.length === 0 && (
        <Empty title={t('No messages')} level={3}>
          {inboxOnly ? (
            <>
              <p>
                {t(
                  'This vault is for tests and sends nothing. Its messages are here, and for your tests at:',
                )}
              </p>
              <p>
                <span className="kh-mono">{askInbox}</span>{' '}
                <CopyButton text={askInbox} copy={t('Copy command')} />
              </p>
            </>
          ) : (
            <p>{t('Sign-in codes appear here until they expire.')}</p>
          )}
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className="kh-rows" aria-label={t('Messages on this computer')}>
          {data.toReversed().map((message) => (
            <li key={message.id}>
              <ShownRow message={message} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function ShownRow({
  message: { to, subject, text, code, at },
}: {
  readonly message: ShownMessage;
}): ReactNode {
  return (
    <div className="kh-row kh-manage">
      <div>
        {code !== '' && <span className="kh-mono kh-message-code">{code}</span>}
        <span className="kh-row-more">
          {t('For {{to}}', { to })} · <RelativeTime at={timestampOf(at)} />
          {subject !== '' && <> · {subject}</>}
        </span>
        <details className="kh-message-text">
          <summary>{t('Full message')}</summary>
          <pre>{text}</pre>
        </details>
      </div>
      {code !== '' && <CopyButton text={code} copy={t('Copy code for {{to}}', { to })} />}
    </div>
  );
}

const useChange = () => useMessageCall((rpc, change: MessageChannelChange) => rpc.changeMessages(change));

function Ways({ of: { mail, sms, desktop } }: { readonly of: MessagesStatus }): ReactNode {
  return (
    <Panel title={t('Channels')} kind="plain">
      <ul className="kh-rows" aria-label={t('Channels')}>
        <Way
          channel="mail"
          isSet={mail !== null}
          about={
            mail === null
              ? t('No mail server.')
              : t('Through {{host}}, port {{port}}, from {{address}}.', {
                  host: mail.host,
                  port: mail.port,
                  address: mail.from.address,
                })
          }
          form={(close) => <MailForm mail={mail} onDone={close} />}
        />
        <Way
          channel="sms"
          isSet={sms !== null}
          about={
            sms === null
              ? t('No SMS gateway.')
              : sms.kind === 'http'
                ? t('Through the gateway at {{origin}}.', { origin: sms.origin })
                : t('Through Twilio, from {{from}}.', { from: sms.from })
          }
          form={(close) => <SmsForm sms={sms} onDone={close} />}
        />
        <Desktop isOn={desktop} />
      </ul>
    </Panel>
  );
}

function Desktop({ isOn }: { readonly isOn: boolean }): ReactNode {
  const change = useChange();
  const test = useMessageCall((rpc, wish: MessageTest) => rpc.testMessages(wish));
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{t('On this computer')}</span>
        <Text size="sm" c="dimmed">
          {t('Codes without another channel appear here. Anyone at this computer can sign in with them.')}
        </Text>
        <Failure title={t('Couldn’t change the setting')} error={change.error} />
        <Failure title={t('Couldn’t show the test')} error={test.error} />
      </div>
      <Group gap="xs">
        {isOn && (
          <Button
            variant="default"
            size="xs"
            loading={test.isPending}
            onClick={() => {
              test.mutate({ channel: 'desktop' });
            }}
          >
            {t('Show test')}
          </Button>
        )}
        <Switch
          aria-label={t('Show codes on this computer')}
          checked={isOn}
          disabled={change.isPending}
          onChange={(event) => {
            change.mutate({ channel: 'desktop', on: event.currentTarget.checked });
          }}
        />
      </Group>
    </li>
  );
}

interface WayProps {
  readonly channel: 'mail' | 'sms';
  readonly isSet: boolean;
  readonly about: string;
  readonly form: (close: () => void) => ReactNode;
}

const ways = {
  mail: {
    name: t('Email'),
    isOff: t('Email is off'),
    notOff: t('Couldn’t turn off email'),
    test: t('Send test by email'),
    testButton: t('Send test by email…'),
    change: t('Change email'),
    changeButton: t('Change email…'),
    setUp: t('Set up email'),
    setUpButton: t('Set up email…'),
    turnOff: t('Turn off email'),
    turnOffButton: t('Turn off email…'),
  },
  sms: {
    name: t('SMS'),
    isOff: t('SMS is off'),
    notOff: t('Couldn’t turn off SMS'),
    test: t('Send test by SMS'),
    testButton: t('Send test by SMS…'),
    change: t('Change SMS'),
    changeButton: t('Change SMS…'),
    setUp: t('Set up SMS'),
    setUpButton: t('Set up SMS…'),
    turnOff: t('Turn off SMS'),
    turnOffButton: t('Turn off SMS…'),
  },
} as const;

function Way({ channel, isSet, about, form }: WayProps): ReactNode {
  const texts = ways[channel];
  const change = useChange();
  const turnOff = (close: () => void) => {
    change.mutate(
      { channel, settings: null },
      {
        onSuccess() {
          close();
          notifications.show({
            title: texts.isOff,
            message: t('The settings were erased from the vault.'),
          });
        },
      },
    );
  };
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{texts.name}</span>
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      </div>
      <Group gap="xs">
        {isSet && (
          <DialogButton name={t('Send test…')} label={texts.testButton} title={texts.test}>
            {(close) => <Test channel={channel} onDone={close} />}
          </DialogButton>
        )}
        <DialogButton
          name={isSet ? t('Change…') : t('Set up…')}
          label={isSet ? texts.changeButton : texts.setUpButton}
          title={isSet ? texts.change : texts.setUp}
        >
          {form}
        </DialogButton>
        {isSet && (
          <DialogButton name={t('Turn off…')} label={texts.turnOffButton} title={texts.turnOff} danger>
            {(close) => (
              <ConfirmForm
                does={t('Turn off')}
                failed={texts.notOff}
                outcomes={[
                  t('Users who sign in with these codes need another way.'),
                  t('The settings and the password are erased from the vault.'),
                ]}
                submitting={change}
                onCancel={close}
                onConfirm={() => {
                  turnOff(close);
                }}
              />
            )}
          </DialogButton>
        )}
      </Group>
    </li>
  );
}

function Test({
  channel,
  onDone,
}: {
  readonly channel: 'mail' | 'sms';
  readonly onDone: () => void;
}): ReactNode {
  const [to, setTo] = useState('');
  const [tried, setTried] = useState(false);
  const test = useMessageCall((rpc, wish: MessageTest) => rpc.testMessages(wish));
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (to.trim() !== '') test.mutate({ channel, to: to.trim() });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          label={channel === 'mail' ? t('Address') : t('Phone number')}
          description={
            channel === 'mail' ? t('One of your own.') : t('One of your own, such as +15551234567.')
          }
          type={channel === 'mail' ? 'email' : 'tel'}
          autoComplete="off"
          required
          data-autofocus
          value={to}
          error={tried && to.trim() === '' && t('Enter a recipient.')}
          onChange={onText(setTo)}
        />
        <div role="status">
          {test.data !== undefined && <Text>{t('Test sent: {{note}}.', { note: test.data.note })}</Text>}
        </div>
        <FormEnd
          failed={t('Couldn’t send the test')}
          error={test.error}
          busy={test.isPending}
          does={t('Send test')}
          back={onDone}
          done={test.data === undefined ? undefined : t('Done')}
        />
      </Stack>
    </form>
  );
}
