import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { curves, formatsFor } from '../accounts/chains.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import type { Curve } from '../accounts/chains.ts';
import { KeyChoices } from '../accounts/key-choices.tsx';
import { KeyFileField } from './key-file-field.tsx';
import { readKey } from '../accounts/key-text.ts';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { PageHead } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { leadTo } from '../../app/lead-to.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useImport } from '../accounts/transfer.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';

const forms: Readonly<Record<Curve, string>> = {
  CURVE_SECP256K1: t('64 hex digits, with or without 0x in front.'),
  CURVE_ED25519: t('64 hex digits, or base58 as Solana wallets show it.'),
  CURVE_P256: t('64 hex digits, with or without 0x in front.'),
};

export function ImportPrivateKey(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useApiQuery('list_private_keys');
  const taken = existing?.privateKeys.map((key) => key.privateKeyName) ?? [];
  const [typedName, setTypedName] = useState<string | null>(null);
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [formats, setFormats] = useState<readonly string[]>([]);
  const [done, setDone] = useState(false);
  const begin = useSubmit('ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY');
  const finish = useSubmit('ACTIVITY_TYPE_IMPORT_PRIVATE_KEY');
  const bring = useImport();
  const task = useAsyncAction();
  const name = typedName ?? freeName('Key', taken);
  // Once the key is there its own name is taken, while this form is still on the screen.
  const problem = done || task.isPending ? null : nameProblem(name, taken);
  const chosen = formatsFor(curve).filter((row) => formats.includes(row.format));

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    const reading = readKey(text, curve);
    setWrong(reading.ok ? null : reading.problem);
    if (!reading.ok) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
    task.run(() =>
      leadTo(navigate, async () => {
        const { result } = await bring(reading.bytes, {
          begin: begin.mutateAsync,
          finish: (sealed) =>
            finish.mutateAsync({
              ...sealed,
              privateKeyName: name.trim(),
              curve,
              addressFormats: chosen.map((row) => row.format),
            }),
        });
        setDone(true);
        setText('');
        notifications.show({
          title: t('Imported “{{name}}”', { name: name.trim() }),
          message: t('The key is sealed in the vault.'),
        });
        return `/private-keys/${result.privateKeyId}`;
      }),
    );
  };

  return (
    <>
      <PageHead title={t('Import private key')} back={{ to: '/private-keys', label: t('Private keys') }} />
      <OutcomeForm
        onSubmit={submit}
        secret
        outcomes={[
          t('Encrypted before it leaves this window, and sealed in the vault.'),
          chosen.length === 0
            ? t('{{label}} key without an address: sign with its ID.', {
                label: curves[curve].label,
              })
            : t('{{label}} key with {{count}} addresses: {{chosen}}.', {
                label: curves[curve].label,
                count: chosen.length,
                chosen: chosen.map((row) => row.label).join(', '),
              }),
          t('Marked as imported: a copy may exist elsewhere.'),
        ]}
      >
        <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
        <KeyFileField
          onRead={(key) => {
            setCurve(key.curve);
            setText(key.hex);
            setWrong(null);
            if (typedName === null && key.comment !== '') setTypedName(key.comment);
            notifications.show({ message: t('The key from the file is in the form.') });
          }}
        />
        <KeyChoices
          curve={curve}
          onCurve={(next) => {
            setCurve(next);
            setWrong(null);
          }}
          formats={formats}
          onFormats={setFormats}
        >
          <PasswordField
            label={t('Private key')}
            description={forms[curve]}
            autoComplete="new-password"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            required
            className="kh-mono-input"
            visibilityToggleButtonProps={{ 'aria-label': t('Show the private key'), tabIndex: 0 }}
            value={text}
            error={wrong}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setWrong(null);
            }}
          />
        </KeyChoices>
        <FormEnd
          failed={t('Couldn’t import the key')}
          error={task.error}
          busy={task.isPending}
          does={t('Import private key')}
          back="/private-keys"
        />
      </OutcomeForm>
    </>
  );
}
