import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, SegmentedControl, Select, TextInput } from '@mantine/core';
import { LifetimeSelect } from './lifetime-select.tsx';
import { usualLifetime } from './lifetimes.ts';
import { generateApiKeyPair } from './key-pair.ts';
import type { ApiKeyPair } from './key-pair.ts';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { orFind } from '../../app/rpc/rpc-error.ts';
import { queryApi, useRpc, useStatus, useSubmit } from '../../app/rpc/vault.tsx';
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
  { value: 'API_KEY_CURVE_P256', label: t('P-256, the SDK default'), digits: 66 },
  { value: 'API_KEY_CURVE_SECP256K1', label: 'secp256k1', digits: 66 },
  { value: 'API_KEY_CURVE_ED25519', label: 'Ed25519', digits: 64 },
];

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
  const rpc = useRpc();
  const [typedName, setTypedName] = useState<string | null>(null);
  const [source, setSource] = useState<'here' | 'elsewhere'>('here');
  const [publicKey, setPublicKey] = useState('');
  const [curve, setCurve] = useState<ApiKeyCurve>('API_KEY_CURVE_P256');
  const [lifetime, setLifetime] = useState<string>(usualLifetime);
  const [tried, setTried] = useState(false);
  const [done, setDone] = useState(false);
  const register = useSubmit('ACTIVITY_TYPE_CREATE_API_KEYS_V2');
  const task = useAsyncAction();
  const name = (typedName ?? freeName('Script', taken)).trim();
  const problem = done || task.isPending ? null : nameProblem(name, taken);
  const given = publicKey.trim().replace(/^0x/i, '');
  const digits = apiKeyCurves.find(({ value }) => value === curve)?.digits ?? 0;
  const keyProblem =
    source === 'here' || (given.length === digits && /^[0-9a-f]*$/i.test(given))
      ? null
      : given === ''
        ? t('A compressed public key of this curve has {{digits}} hex digits.', { digits })
        : t(
            'A compressed public key of this curve has {{digits}} hex digits; this has {{given}} characters.',
            {
              digits,
              given: given.length,
            },
          );

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || keyProblem !== null) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
    const expiring = lifetime === '' ? {} : { expirationSeconds: lifetime };
    const send = (key: Pick<NewKey, 'publicKey' | 'curveType'>) =>
      orFind<unknown>(
        () => register.mutateAsync({ userId, apiKeys: [{ apiKeyName: name, ...key, ...expiring }] }),
        async () =>
          (await queryApi(rpc, 'get_user', { userId })).user.apiKeys.find(
            ({ credential }) => credential.publicKey === key.publicKey.toLowerCase(),
          ),
      );
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
    <OutcomeForm
      title={title}
      onSubmit={submit}
      outcomes={[
        ...(source === 'here'
          ? [
              t('This window generates the keys. The vault stores the public one.'),
              t('The private key is shown once and not stored.'),
            ]
          : [t('The vault stores the public key.')]),
        userId === owner?.userId
          ? t('While the vault is unlocked, anyone with the key can do everything {{userName}} may do.', {
              userName,
            })
          : t('While the vault is unlocked, anyone with the key acts as {{userName}}, as policies allow.', {
              userName,
            }),
        ...(lifetime === '' ? [] : [t('Requests signed after expiry are refused.')]),
      ]}
    >
      <NameField
        description={t('The program that will use the key.')}
        value={typedName ?? name}
        problem={problem}
        others={taken}
        onType={setTypedName}
      />
      {onRegistered !== undefined && (
        <div>
          <SegmentedControl
            aria-label={t('Key pair')}
            value={source}
            onChange={setSource}
            data={[
              { value: 'here', label: t('Generate here') },
              { value: 'elsewhere', label: t('Use my public key') },
            ]}
          />
        </div>
      )}
      {source === 'elsewhere' && (
        <>
          <Select
            label={t('Key type')}
            data={apiKeyCurves.map(({ value, label }) => ({ value, label }))}
            value={curve}
            allowDeselect={false}
            onChange={(value) => {
              setCurve(apiKeyCurves.find((each) => each.value === value)?.value ?? curve);
            }}
          />
          <TextInput
            label={t('Public key')}
            description={t('Compressed, {{digits}} hex digits. Keep the private key to yourself.', {
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
      <LifetimeSelect value={lifetime} onChange={setLifetime} />
      <Failure title={t('Couldn’t create the key')} error={task.error} />
      <Group gap="sm">
        <Button type="submit" loading={task.isPending}>
          {source === 'here' ? t('Create key') : t('Register key')}
        </Button>
        {cancel}
      </Group>
    </OutcomeForm>
  );
}
