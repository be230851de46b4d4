import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { NativeSelect, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { HttpGatewaySettings, MessagesStatus, TwilioSettings } from '../../../preload/contract.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { headerProblem, headersOf } from './headers.ts';
import { PasswordField } from '../../ui/password-field.tsx';
import { t } from '../../app/i18n/text.ts';
import { useMessageCall } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';

type Kind = HttpGatewaySettings['kind'] | TwilioSettings['kind'];

const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'http', label: t('HTTP gateway') },
  { value: 'twilio', label: t('Twilio') },
];

const plain = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

interface Props {
  readonly sms: MessagesStatus['sms'];
  readonly onDone: () => void;
}

/** Sets up the gateway that text messages leave through. */
export function SmsForm({ sms, onDone }: Props): ReactNode {
  const [kind, setKind] = useState<Kind>(sms?.kind ?? 'http');
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label={t('Type of gateway')}
        value={kind}
        data={[...kinds]}
        fullWidth
        onChange={setKind}
      />
      {kind === 'http' ? (
        <GatewayForm onDone={onDone} isSet={sms?.kind === 'http'} />
      ) : (
        <TwilioForm onDone={onDone} account={sms?.kind === 'twilio' ? sms : null} />
      )}
    </Stack>
  );
}

type SmsSettings = HttpGatewaySettings | (TwilioSettings & { readonly password?: string });

const useSave = () =>
  useMessageCall((rpc, settings: SmsSettings) => rpc.changeMessages({ channel: 'sms', settings }));

function GatewayForm({ isSet, onDone }: { readonly isSet: boolean; readonly onDone: () => void }): ReactNode {
  const [method, setMethod] = useState<HttpGatewaySettings['method']>('POST');
  const [url, setUrl] = useState('');
  const [headers, setHeaders] = useState('Content-Type: application/json');
  const [body, setBody] = useState('{"to":"{{to}}","text":"{{text}}"}');
  const [tried, setTried] = useState(false);
  const save = useSave();
  const problems = {
    url: url.trim() === '' ? t('Enter the gateway’s address.') : null,
    headers: headerProblem(headers),
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) return;
    save.mutate(
      { kind: 'http', method, url: url.trim(), headers: headersOf(headers), body },
      { onSuccess: onDone },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t(
            'Sent for each message. {{to}} is the number, {{text}} the text, and {{id}} an ID that a retry repeats.',
            { to: '{{to}}', text: '{{text}}', id: '{{id}}' },
          )}
          {isSet && ' '}
          {isSet && t('The current settings are not shown: enter all of them.')}
        </Text>
        <NativeSelect
          label={t('Method')}
          data={['POST', 'PUT', 'GET']}
          value={method}
          onChange={(event) => {
            setMethod(event.currentTarget.value as HttpGatewaySettings['method']);
          }}
        />
        <TextInput
          label={t('Address')}
          placeholder="https://gateway.example.com/send"
          className="kh-mono-input"
          required
          {...plain}
          value={url}
          error={tried && problems.url}
          onChange={onText(setUrl)}
        />
        <Textarea
          label={t('Headers')}
          description={t('One per line, as Name: value. Content-Type sets the encoding.')}
          className="kh-mono-input"
          autosize
          minRows={2}
          {...plain}
          value={headers}
          error={tried && problems.headers}
          onChange={onText(setHeaders)}
        />
        {method !== 'GET' && (
          <Textarea
            label={t('Body')}
            className="kh-mono-input"
            autosize
            minRows={3}
            {...plain}
            value={body}
            onChange={onText(setBody)}
          />
        )}
        <End error={save.error} busy={save.isPending} onCancel={onDone} />
      </Stack>
    </form>
  );
}

function TwilioForm({
  account,
  onDone,
}: {
  readonly account: TwilioSettings | null;
  readonly onDone: () => void;
}): ReactNode {
  const [accountSid, setAccountSid] = useState(account?.accountSid ?? '');
  const [apiKeySid, setApiKeySid] = useState(account?.apiKeySid ?? '');
  const [password, setPassword] = useState('');
  const [from, setFrom] = useState(account?.from ?? '');
  const [tried, setTried] = useState(false);
  const save = useSave();
  const problems = {
    account: accountSid.trim() === '' ? t('Enter the account SID.') : null,
    from: from.trim() === '' ? t('Enter a sender.') : null,
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) return;
    save.mutate(
      {
        kind: 'twilio',
        accountSid: accountSid.trim(),
        apiKeySid: apiKeySid.trim() === '' ? null : apiKeySid.trim(),
        from: from.trim(),
        url: account?.url ?? 'https://api.twilio.com',
        ...(password === '' ? {} : { password }),
      },
      { onSuccess: onDone },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          label={t('Account SID')}
          className="kh-mono-input"
          required
          {...plain}
          value={accountSid}
          error={tried && problems.account}
          onChange={onText(setAccountSid)}
        />
        <TextInput
          label={t('API key SID (optional)')}
          description={t('You can revoke this key without changing the account’s token.')}
          className="kh-mono-input"
          {...plain}
          value={apiKeySid}
          onChange={onText(setApiKeySid)}
        />
        <PasswordField
          label={apiKeySid.trim() === '' ? t('Auth token') : t('API key secret')}
          description={
            account === null
              ? t('Sealed in the vault and never shown.')
              : t('Leave empty to keep the current secret.')
          }
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('Show secret'), tabIndex: 0 }}
          value={password}
          onChange={onText(setPassword)}
        />
        <TextInput
          label={t('From')}
          description={t('A phone number of the account, or a messaging service SID.')}
          className="kh-mono-input"
          required
          {...plain}
          value={from}
          error={tried && problems.from}
          onChange={onText(setFrom)}
        />
        <End error={save.error} busy={save.isPending} onCancel={onDone} />
      </Stack>
    </form>
  );
}

function End({
  error,
  busy,
  onCancel,
}: {
  readonly error: Error | null;
  readonly busy: boolean;
  readonly onCancel: () => void;
}): ReactNode {
  return (
    <FormEnd
      failed={t('Couldn’t set up the gateway')}
      error={error}
      busy={busy}
      does={t('Save')}
      back={onCancel}
    />
  );
}
