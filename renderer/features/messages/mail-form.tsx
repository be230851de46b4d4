import { useState } from 'react';
import type { ChangeEvent, ReactNode, SyntheticEvent } from 'react';
import { Fieldset, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import type { MailSettings } from '../../../preload/contract.ts';
import { emailProblem } from '../users/contact.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { t } from '../../app/i18n/text.ts';
import { useMessageCall } from '../../app/rpc/vault.tsx';

const securities = [
  { value: 'starttls', label: t('STARTTLS') },
  { value: 'tls', label: t('TLS from the start') },
  { value: 'none', label: t('None') },
] as const satisfies readonly { readonly value: MailSettings['security']; readonly label: string }[];

const usualPorts = { starttls: '587', tls: '465', none: '25' } as const;

interface Typed {
  readonly host: string;
  readonly port: string | null;
  readonly security: MailSettings['security'];
  readonly user: string;
  readonly password: string;
  readonly from: string;
  readonly fromName: string;
  readonly replyTo: string;
  readonly otherSenders: string;
  readonly certificates: string;
}

const typedOf = (mail: MailSettings | null): Typed => ({
  host: mail?.host ?? '',
  port: mail === null ? null : String(mail.port),
  security: mail?.security ?? 'starttls',
  user: mail?.user ?? '',
  password: '',
  from: mail?.from.address ?? '',
  fromName: mail?.from.name ?? '',
  replyTo: mail?.replyTo ?? '',
  otherSenders: mail?.otherSenders.join('\n') ?? '',
  certificates: mail?.certificates ?? '',
});

const given = (text: string): string | null => (text.trim() === '' ? null : text.trim());

interface Props {
  /** As it is set up; null where it is not. */
  readonly mail: MailSettings | null;
  readonly onDone: () => void;
}

/** Sets up the server that mail leaves through. */
export function MailForm({ mail, onDone }: Props): ReactNode {
  const [typed, setTyped] = useState(typedOf(mail));
  const [tried, setTried] = useState(false);
  const save = useMessageCall((rpc, settings: MailSettings & { readonly password?: string }) =>
    rpc.changeMessages({ channel: 'mail', settings }),
  );
  const port = typed.port ?? usualPorts[typed.security];
  const problems = {
    host: typed.host.trim() === '' ? t('Enter the server name.') : null,
    port: /^[1-9][0-9]{0,4}$/.test(port) ? null : t('Enter a number from 1 to 65535.'),
    from: typed.from.trim() === '' ? t('Enter the sender’s address.') : emailProblem(typed.from),
    replyTo: emailProblem(typed.replyTo),
  };
  const set = (change: Partial<Typed>) => {
    setTyped({ ...typed, ...change });
  };
  const field = (name: Exclude<keyof Typed, 'security' | 'port'>) => ({
    value: typed[name],
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      set({ [name]: currentTarget.value });
    },
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) return;
    const settings = {
      host: typed.host.trim(),
      port: Number(port),
      security: typed.security,
      user: given(typed.user),
      ...(typed.password === '' ? {} : { password: typed.password }),
      from: { address: typed.from.trim(), name: given(typed.fromName) },
      replyTo: given(typed.replyTo),
      otherSenders: typed.otherSenders.split(/[\s,]+/).filter((each) => each !== ''),
      certificates: given(typed.certificates),
    };
    save.mutate(settings, { onSuccess: onDone });
  };
  const plain = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          label={t('Server')}
          description={t('The outgoing mail server of your provider, or your own.')}
          placeholder="smtp.example.com"
          required
          {...plain}
          data-autofocus
          {...field('host')}
          error={tried && problems.host}
        />
        <Fieldset legend={t('Encryption')} variant="unstyled">
          <SegmentedControl
            aria-label={t('Encryption')}
            value={typed.security}
            data={[...securities]}
            onChange={(security) => {
              set({ security, port: null });
            }}
          />
        </Fieldset>
        <TextInput
          label={t('Port')}
          inputMode="numeric"
          required
          {...plain}
          value={port}
          error={tried && problems.port}
          onChange={(event) => {
            set({ port: event.currentTarget.value });
          }}
        />
        <TextInput
          label={t('User (optional)')}
          description={t('Leave empty if the server needs none.')}
          {...plain}
          {...field('user')}
        />
        {typed.user.trim() !== '' && (
          <PasswordField
            label={t('Password')}
            description={
              mail?.user == null
                ? t('Sealed in the vault and never shown.')
                : t('Leave empty to keep the current password.')
            }
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
            {...field('password')}
          />
        )}
        <TextInput
          label={t('From')}
          description={t('The address that email comes from.')}
          type="email"
          required
          {...plain}
          {...field('from')}
          error={tried && problems.from}
        />
        <TextInput
          label={t('Sender name (optional)')}
          autoComplete="off"
          maxLength={64}
          {...field('fromName')}
        />
        <TextInput
          label={t('Reply to (optional)')}
          type="email"
          {...plain}
          {...field('replyTo')}
          error={tried && problems.replyTo}
        />
        <Textarea
          label={t('Other senders (optional)')}
          description={t('Addresses or domains (@example.com) that requests may send from, one per line.')}
          autosize
          minRows={2}
          className="kh-mono-input"
          {...plain}
          {...field('otherSenders')}
        />
        <Textarea
          label={t('Certificates (optional)')}
          description={t('PEM, for a server without a publicly trusted certificate.')}
          autosize
          minRows={2}
          maxRows={8}
          className="kh-mono-input"
          {...plain}
          {...field('certificates')}
        />
        <Expectations
          items={[
            t('Codes by email leave through this server.'),
            t('The server’s operator can read the codes and sign in with them.'),
          ]}
        />
        <FormEnd
          failed={t('Couldn’t set up email')}
          error={save.error}
          busy={save.isPending}
          does={t('Save')}
          back={onDone}
        />
      </Stack>
    </form>
  );
}
