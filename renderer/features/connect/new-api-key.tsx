import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { generateApiKeyPair } from './key-pair.ts';
import type { ApiKeyPair } from './key-pair.ts';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { Expectations, Panel } from '../../ui/page.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useStatus, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';

type ApiKeyCurve = 'API_KEY_CURVE_P256' | 'API_KEY_CURVE_SECP256K1' | 'API_KEY_CURVE_ED25519';

interface NewKey {
  readonly apiKeyName: string;
  readonly publicKey: string;
  readonly curveType: ApiKeyCurve;
  /** Digits. */
  readonly expirationSeconds?: string;
}

/** The public keys that a script may come with, and how long each is in hex digits. */
const apiKeyCurves: readonly {
  readonly value: ApiKeyCurve;
  readonly label: string;
  readonly digits: number;
}[] = [
  { value: 'API_KEY_CURVE_P256', label: t('P-256, as the SDKs make'), digits: 66 },
  { value: 'API_KEY_CURVE_SECP256K1', label: 'secp256k1', digits: 66 },
  { value: 'API_KEY_CURVE_ED25519', label: 'Ed25519', digits: 64 },
];

const day = 86_400;
const lifetimes = [
  { value: '', label: t('Never') },
  { value: String(day), label: t('After a day') },
  { value: String(7 * day), label: t('After a week') },
  { value: String(30 * day), label: t('After 30 days') },
  { value: String(365 * day), label: t('After a year') },
] as const;

export interface NamedPair extends ApiKeyPair {
  readonly name: string;
}

interface Props {
  readonly title: string;
  readonly userId: string;
  readonly userName: string;
  readonly taken: readonly string[];
  /** Called when a key pair was generated here; nothing else has its private half. */
  readonly onMade: (pair: NamedPair) => void;
  /** Called when a public key from elsewhere was registered; without it the form does not offer that. */
  readonly onRegistered?: (name: string) => void;
  readonly cancel?: ReactNode;
}

/** Gives a user an API key: a pair generated in this window, or the public half of a script's own key. */
export function NewApiKey({
  title,
  userId,
  userName,
  taken,
  onMade,
  onRegistered,
  cancel,
}: Props): ReactNode {
  const { owner } = useStatus();
  const [typedName, setTypedName] = useState<string | null>(null);
  const [source, setSource] = useState<'here' | 'elsewhere'>('here');
  const [publicKey, setPublicKey] = useState('');
  const [curve, setCurve] = useState<ApiKeyCurve>('API_KEY_CURVE_P256');
  const [lifetime, setLifetime] = useState('');
  const [tried, setTried] = useState(false);
  const [done, setDone] = useState(false);
  const register = useSubmit('ACTIVITY_TYPE_CREATE_API_KEYS_V2');
  const task = useAsyncAction();
  const name = (typedName ?? freeName('Script', taken)).trim();
  const problem = done || task.isPending ? null : nameProblem(name, 'key', taken);
  const given = publicKey.trim().replace(/^0x/i, '');
  const digits = apiKeyCurves.find(({ value }) => value === curve)?.digits ?? 0;
  const keyProblem =
    source === 'here' || (given.length === digits && /^[0-9a-f]*$/i.test(given))
      ? null
      : given === ''
        ? t('A compressed public key of this curve has {{digits}} hex digits.', { digits })
        : t(
            'A compressed public key of this curve has {{digits}} hex digits; here are {{given}} characters.',
            {
              digits,
              given: given.length,
            },
          );

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || keyProblem !== null) return;
    const expiring = lifetime === '' ? {} : { expirationSeconds: lifetime };
    const send = (key: Pick<NewKey, 'publicKey' | 'curveType'>) =>
      register.mutateAsync({ userId, apiKeys: [{ apiKeyName: name, ...key, ...expiring }] });
    task.run(async () => {
      if (source === 'here') {
        const pair = await generateApiKeyPair();
        await send({ publicKey: pair.publicKey, curveType: 'API_KEY_CURVE_P256' });
        setDone(true);
        onMade({ ...pair, name });
      } else {
        await send({ publicKey: given, curveType: curve });
        setDone(true);
        onRegistered?.(name);
      }
    });
  };

  return (
    <form onSubmit={submit} noValidate className="kh-beside">
      <Panel title={title}>
        <Stack gap="lg">
          <NameField
            description={t('What will use it: you find it by this name later.')}
            value={typedName ?? name}
            problem={problem}
            others={taken}
            onType={setTypedName}
          />
          {onRegistered !== undefined && (
            <div>
              <SegmentedControl
                aria-label={t('Where the key pair is made')}
                value={source}
                onChange={setSource}
                data={[
                  { value: 'here', label: t('Make a pair here') },
                  { value: 'elsewhere', label: t('I have a public key') },
                ]}
              />
            </div>
          )}
          {source === 'elsewhere' && (
            <>
              <Select
                label={t('Kind of key')}
                data={apiKeyCurves.map(({ value, label }) => ({ value, label }))}
                value={curve}
                allowDeselect={false}
                onChange={(value) => {
                  setCurve(apiKeyCurves.find((each) => each.value === value)?.value ?? curve);
                }}
              />
              <TextInput
                label={t('Public key')}
                description={t('Compressed, {{digits}} hex digits. Never give the private one away.', {
                  digits,
                })}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                required
                className="kh-mono-input"
                value={publicKey}
                error={tried && keyProblem}
                onChange={onText(setPublicKey)}
              />
            </>
          )}
          <Select
            label={t('Expires')}
            data={lifetimes}
            value={lifetime}
            allowDeselect={false}
            maw={240}
            onChange={(value) => {
              setLifetime(value ?? '');
            }}
          />
          <Failure title={t('The key was not made')} error={task.error} />
          <Group gap="sm">
            <Button type="submit" loading={task.isPending}>
              {source === 'here' ? t('Make the key') : t('Register the key')}
            </Button>
            {cancel}
          </Group>
        </Stack>
      </Panel>
      <aside>
        <Expectations
          items={[
            ...(source === 'here'
              ? [
                  t('A key pair is drawn in this window. Its public half is registered in the vault.'),
                  t('The private half is shown to you once and kept nowhere here.'),
                ]
              : [t('The public key is registered in the vault. Its private half stays where it is.')]),
            userId === owner?.userId
              ? t(
                  'Whoever holds it can do everything that {{userName}} may do, while the vault is unlocked.',
                  { userName },
                )
              : t(
                  'Whoever holds it acts as {{userName}}, within what policies allow, while the vault is unlocked.',
                  { userName },
                ),
            ...(lifetime === '' ? [] : [t('Once it has expired, requests that it signs are refused.')]),
          ]}
        />
      </aside>
    </form>
  );
}
