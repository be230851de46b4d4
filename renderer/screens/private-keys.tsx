import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Checkbox, Fieldset, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus, IconSignature } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressRow } from '../parts/address-row.tsx';
import { curveLabel, curves, formatsFor } from '../parts/chains.ts';
import type { Curve } from '../parts/chains.ts';
import { count } from '../parts/bytes.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Grouped, ShortId } from '../parts/identifier.tsx';
import { Moment } from '../parts/moment.tsx';
import { freeName, longestName, nameProblem } from '../parts/names.ts';
import { Facts, Outcomes, PageHead, Panel } from '../parts/page.tsx';
import type { PrivateKey as PrivateKeyRecord } from '../parts/resources.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import { Origin } from './wallets.tsx';
import '../parts/rows.css';

export function PrivateKeys(): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ privateKeys: readonly PrivateKeyRecord[] }>(
    'list_private_keys',
  );
  const newKey = (
    <Button component={Link} href="/private-keys/new" leftSection={<IconPlus size={16} aria-hidden />}>
      New private key
    </Button>
  );
  return (
    <>
      <PageHead
        title="Private keys"
        lead="Single keys that belong to no wallet: for one purpose each, such as signing releases."
        action={data !== undefined && data.privateKeys.length > 0 ? newKey : undefined}
      />
      <Panel kind="plain">
        {isPending && <LoadingRows what="private keys" />}
        <Failure title="The private keys could not be read" error={error} onRetry={() => void refetch()} />
        {data?.privateKeys.length === 0 && (
          <Empty title="No private key yet" action={newKey}>
            <p>
              For accounts on chains a wallet is simpler: one seed, many accounts. Make a single key where
              something asks for exactly one, or where it must have nothing in common with your other keys.
            </p>
          </Empty>
        )}
        {data !== undefined && data.privateKeys.length > 0 && (
          <ul className="lk-rows" aria-label="Private keys">
            {data.privateKeys.map((key) => (
              <li key={key.privateKeyId}>
                <Link href={`/private-keys/${key.privateKeyId}`} className="lk-row">
                  <span>
                    <span className="lk-row-name">{key.privateKeyName}</span> <Origin of={key} />
                    <br />
                    <span className="lk-row-more">
                      {curveLabel(key.curve)}
                      {key.addresses.length > 0 && (
                        <> · {count(key.addresses.length, 'address', 'addresses')}</>
                      )}
                    </span>
                  </span>
                  <span className="lk-row-side">
                    Made <Moment at={key.createdAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

const createPrivateKeys = {
  operation: 'create_private_keys',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
  result: 'createPrivateKeysResultV2',
} as const;

export function NewPrivateKey(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useAsk<{ privateKeys: readonly PrivateKeyRecord[] }>('list_private_keys');
  const taken = existing?.privateKeys.map((key) => key.privateKeyName) ?? [];
  const suggested = freeName('Key', taken);
  const [typedName, setTypedName] = useState<string | null>(null);
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [formats, setFormats] = useState<readonly string[]>([]);
  const create = useSubmit<
    {
      privateKeys: readonly {
        privateKeyName: string;
        curve: Curve;
        privateKeyTags: readonly string[];
        addressFormats: readonly string[];
      }[];
    },
    { privateKeys: readonly { privateKeyId: string }[] }
  >(createPrivateKeys);
  const name = typedName ?? suggested;
  // Once the key is made its own name is taken, while this form is still on the screen.
  const problem = create.isSuccess ? null : nameProblem(name, 'key', taken);
  const fitting = formatsFor(curve);
  const chosen = fitting.filter((row) => formats.includes(row.format));

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    create.mutate(
      {
        privateKeys: [
          {
            privateKeyName: name.trim(),
            curve,
            privateKeyTags: [],
            addressFormats: chosen.map((row) => row.format),
          },
        ],
      },
      {
        onSuccess({ result }) {
          notifications.show({
            title: `“${name.trim()}” is made`,
            message: 'The key is sealed in the vault.',
          });
          const [made] = result.privateKeys;
          navigate(made === undefined ? '/private-keys' : `/private-keys/${made.privateKeyId}`, {
            replace: true,
          });
        },
      },
    );
  };

  return (
    <>
      <PageHead title="New private key" back={{ to: '/private-keys', label: 'Private keys' }} />
      <form onSubmit={submit} noValidate className="lk-beside">
        <Panel>
          <Stack gap="lg">
            <TextInput
              label="Name"
              description="For you and your scripts; names are unique in the vault."
              autoComplete="off"
              required
              value={name}
              maxLength={longestName}
              error={problem}
              onChange={(event) => {
                setTypedName(event.currentTarget.value);
              }}
            />
            <Fieldset legend="Curve" variant="unstyled">
              <SegmentedControl
                aria-label="Curve"
                value={curve}
                onChange={setCurve}
                data={(Object.keys(curves) as Curve[]).map((value) => ({
                  value,
                  label: curves[value].label,
                }))}
              />
              <Text size="sm" c="dimmed" mt="xs">
                {curves[curve].use}. A key stays on its curve for good.
              </Text>
            </Fieldset>
            <Fieldset legend="Addresses (optional)" variant="unstyled">
              <Text size="sm" c="dimmed" mb="sm">
                Only the forms that fit the curve are listed. Leave all out for a key that signs and has no
                address.
              </Text>
              <Checkbox.Group value={[...formats]} onChange={setFormats} aria-label="Addresses">
                <Stack gap="xs">
                  {fitting.map((row) => (
                    <Checkbox key={row.format} value={row.format} label={row.label} description={row.about} />
                  ))}
                </Stack>
              </Checkbox.Group>
            </Fieldset>
            <Failure title="The key was not made" error={create.error} />
            <Group gap="sm">
              <Button type="submit" loading={create.isPending}>
                Make the key
              </Button>
              <Button variant="subtle" color="gray" component={Link} href="/private-keys">
                Cancel
              </Button>
            </Group>
          </Stack>
        </Panel>
        <aside>
          <Outcomes
            items={[
              `A key on the curve ${curves[curve].label} is drawn on this computer and sealed in the vault.`,
              chosen.length === 0
                ? 'It gets no address; you sign with it by its id.'
                : `It gets ${count(chosen.length, 'address', 'addresses')}: ${chosen.map((row) => row.label).join(', ')}.`,
              'It cannot be found again from a seed phrase: this vault holds the only copy.',
            ]}
          />
        </aside>
      </form>
    </>
  );
}

export function PrivateKey({ privateKeyId }: { readonly privateKeyId: string }): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ privateKey: PrivateKeyRecord }>('get_private_key', {
    privateKeyId,
  });
  const key = data?.privateKey;
  return (
    <>
      <PageHead
        title={key?.privateKeyName ?? 'Private key'}
        back={{ to: '/private-keys', label: 'Private keys' }}
        action={
          <Button
            component={Link}
            href={`/sign/key/${privateKeyId}`}
            leftSection={<IconSignature size={16} aria-hidden />}
          >
            Sign with it
          </Button>
        }
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows what="the private key" />
        </Panel>
      )}
      <Failure title="The private key could not be read" error={error} onRetry={() => void refetch()} />
      {key !== undefined && (
        <>
          <Panel>
            <Facts
              rows={[
                ['Id', <ShortId key="id" text={key.privateKeyId} what="private key id" />],
                ['Curve', curveLabel(key.curve)],
                [
                  'Public key',
                  <Group key="public" gap="xs" wrap="nowrap">
                    <Grouped text={key.publicKey} />
                    <CopyButton text={key.publicKey} what="public key" />
                  </Group>,
                ],
                ['Made', <Moment key="made" at={key.createdAt} />],
                ['Outside this vault', originWords(key)],
              ]}
            />
          </Panel>
          <Panel title="Addresses" kind={key.addresses.length > 0 ? 'plain' : 'usual'}>
            {key.addresses.length === 0 ? (
              <Text c="dimmed">It was made without an address. Sign with it by its id.</Text>
            ) : (
              <ul className="lk-rows" aria-label="Addresses">
                {key.addresses.map(({ format = '', address = '' }) => (
                  <li key={format}>
                    <AddressRow format={format} address={address} detail={curveLabel(key.curve)} />
                  </li>
                ))}
              </ul>
            )}
          </Panel>
        </>
      )}
    </>
  );
}

function originWords({ exported, imported }: PrivateKeyRecord): string {
  if (imported) return exported ? 'Imported, and exported since' : 'Imported, so a copy may exist elsewhere';
  return exported ? 'Exported, so a copy exists' : 'Never: it was drawn here and not exported';
}
