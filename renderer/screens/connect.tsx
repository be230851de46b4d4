import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Alert, Button, Group, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { IconEye, IconEyeOff, IconPlus } from '@tabler/icons-react';
import { CopyButton } from '../parts/copy-button.tsx';
import { ShortId } from '../parts/identifier.tsx';
import { drawKeyPair } from '../parts/key-pair.ts';
import type { ApiKeyPair } from '../parts/key-pair.ts';
import { Moment } from '../parts/moment.tsx';
import { freeName, longestName, nameProblem } from '../parts/names.ts';
import { Facts, Outcomes, PageHead, Panel } from '../parts/page.tsx';
import type { ApiKey, User } from '../parts/resources.ts';
import { commandLines, environmentLines, sdkExample } from '../parts/snippets.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { millisecondsOf } from '../parts/time.ts';
import { useAsk, useStatus, useSubmit } from '../parts/vault.tsx';
import '../parts/rows.css';

const createApiKeys = {
  operation: 'create_api_keys',
  type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
  result: 'createApiKeysResult',
} as const;

interface NamedPair extends ApiKeyPair {
  readonly name: string;
}

/** Lets a script in: a key pair of its own, what it needs to know, and code to start from. */
export function Connect(): ReactNode {
  const { owner } = useStatus();
  const [made, setMade] = useState<NamedPair | null>(null);
  const userId = owner?.userId ?? '';
  const user = useAsk<{ user: User }>('get_user', { userId }, owner !== null);
  const keys = user.data?.user.apiKeys ?? [];
  return (
    <>
      <PageHead
        title="Connect"
        lead="Let a script or program on this computer use the vault. Each gets a key of its own, so that you can tell them apart."
      />
      {made === null ? (
        <NewApiKey taken={keys.map((key) => key.apiKeyName)} userId={userId} onMade={setMade} />
      ) : (
        <MadeApiKey
          pair={made}
          onDone={() => {
            setMade(null);
          }}
        />
      )}
      <Panel title="Your API keys" kind="plain">
        {user.isPending && <LoadingRows what="your API keys" />}
        <Failure
          title="Your API keys could not be read"
          error={user.error}
          onRetry={() => void user.refetch()}
        />
        {user.isSuccess && keys.length === 0 && (
          <Empty title="No key yet">
            <p>Keys that scripts use to act for you are listed here.</p>
          </Empty>
        )}
        {keys.length > 0 && (
          <ul className="lk-rows" aria-label="Your API keys">
            {keys.map((key) => (
              <li key={key.apiKeyId} className="lk-row">
                <span>
                  <span className="lk-row-name">{key.apiKeyName}</span>
                  <br />
                  <ShortId text={key.credential.publicKey} what={`public key of ${key.apiKeyName}`} />
                </span>
                <span className="lk-row-side">
                  Made <Moment at={key.createdAt} />
                  <br />
                  <Expiry of={key} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

function Expiry({ of: { createdAt, expirationSeconds } }: { readonly of: ApiKey }): ReactNode {
  if (expirationSeconds === undefined) return 'Does not expire';
  const seconds = String(Math.floor(millisecondsOf(createdAt) / 1000) + Number(expirationSeconds));
  return (
    <>
      Expires <Moment at={{ seconds, nanos: '0' }} />
    </>
  );
}

interface NewProps {
  readonly taken: readonly string[];
  readonly userId: string;
  readonly onMade: (pair: NamedPair) => void;
}

function NewApiKey({ taken, userId, onMade }: NewProps): ReactNode {
  const { owner } = useStatus();
  const [typedName, setTypedName] = useState<string | null>(null);
  const register = useSubmit<
    {
      userId: string;
      apiKeys: readonly { apiKeyName: string; publicKey: string; curveType: 'API_KEY_CURVE_P256' }[];
    },
    { apiKeyIds: readonly string[] }
  >(createApiKeys);
  const name = (typedName ?? freeName('Script', taken)).trim();
  const make = useMutation({
    mutationFn: async () => {
      const pair = await drawKeyPair();
      await register.mutateAsync({
        userId,
        apiKeys: [{ apiKeyName: name, publicKey: pair.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      });
      return { ...pair, name };
    },
    networkMode: 'always',
    onSuccess: onMade,
  });
  const problem = make.isIdle || make.isError ? nameProblem(name, 'key', taken) : null;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem === null) make.mutate();
  };
  return (
    <form onSubmit={submit} noValidate className="lk-beside">
      <Panel title="A key for a script">
        <Stack gap="lg">
          <TextInput
            label="Name"
            description="What will use it: you find it by this name later."
            autoComplete="off"
            maxLength={longestName}
            required
            value={typedName ?? name}
            error={problem}
            onChange={(event) => {
              setTypedName(event.currentTarget.value);
            }}
          />
          <Failure title="The key was not made" error={make.error} />
          <div>
            <Button type="submit" leftSection={<IconPlus size={16} aria-hidden />} loading={make.isPending}>
              Make a key
            </Button>
          </div>
        </Stack>
      </Panel>
      <aside>
        <Outcomes
          items={[
            'A key pair is drawn in this window. Its public half is registered in the vault.',
            'The private half is shown to you once and kept nowhere here.',
            `Whoever holds it can do everything that ${owner?.userName ?? 'you'} may do, while the vault is unlocked.`,
          ]}
        />
      </aside>
    </form>
  );
}

function MadeApiKey({ pair, onDone }: { readonly pair: NamedPair; readonly onDone: () => void }): ReactNode {
  const { url, organization } = useStatus();
  const [shown, setShown] = useState(false);
  const access = { url, organizationId: organization?.id ?? '', ...pair };
  const hidden = '•'.repeat(24);
  const environment = environmentLines(access);
  return (
    <Panel
      title={`“${pair.name}” is ready`}
      aside={
        <Button variant="default" size="xs" onClick={onDone}>
          I have saved it
        </Button>
      }
    >
      <Stack gap="lg">
        <Alert color="brass" variant="light" title="Save the private key now" className="lk-brass-alert">
          It is not kept: when you leave this screen it is gone, and you make another key instead.
        </Alert>
        <Facts
          rows={[
            ['API address', <Value key="url" text={url} what="API address" />],
            [
              'Organization id',
              <Value key="organization" text={access.organizationId} what="organization id" />,
            ],
            ['Public key', <Value key="public" text={pair.publicKey} what="public key" />],
            [
              'Private key',
              <Value
                key="private"
                text={pair.privateKey}
                shown={shown ? pair.privateKey : hidden}
                what="private key"
              />,
            ],
          ]}
        />
        <div>
          <Button
            variant="default"
            size="xs"
            leftSection={shown ? <IconEyeOff size={16} aria-hidden /> : <IconEye size={16} aria-hidden />}
            onClick={() => {
              setShown(!shown);
            }}
          >
            {shown ? 'Hide the private key' : 'Show the private key'}
          </Button>
        </div>
        <Tabs defaultValue="environment">
          <Tabs.List>
            <Tabs.Tab value="environment">Environment</Tabs.Tab>
            <Tabs.Tab value="sdk">TypeScript</Tabs.Tab>
            <Tabs.Tab value="command">Command line</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="environment" pt="md">
            <Snippet
              note="For a .env file that only you can read. The names are those that the SDK’s own examples use."
              text={environment}
              shown={shown ? environment : environmentLines({ ...access, privateKey: hidden })}
              what="environment lines"
            />
          </Tabs.Panel>
          <Tabs.Panel value="sdk" pt="md">
            <Snippet
              note="The published SDK as it is; only the address differs. It reads the lines of the first tab."
              text={sdkExample}
              what="TypeScript example"
            />
          </Tabs.Panel>
          <Tabs.Panel value="command" pt="md">
            <Snippet
              note="The command keeps keys in files of its own, so it makes one for itself and registers it for you."
              text={commandLines}
              what="command lines"
            />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </Panel>
  );
}

interface ValueProps {
  readonly text: string;
  /** What is on the screen instead of the text. */
  readonly shown?: string;
  readonly what: string;
}

function Value({ text, shown = text, what }: ValueProps): ReactNode {
  return (
    <span className="lk-value">
      <span className="lk-mono">{shown}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
}

interface SnippetProps extends ValueProps {
  readonly note: string;
}

function Snippet({ note, text, shown = text, what }: SnippetProps): ReactNode {
  return (
    <>
      <Group justify="space-between" align="start" mb="xs">
        <Text size="sm" c="dimmed" flex="1 1 16rem">
          {note}
        </Text>
        <CopyButton text={text} what={what} wide />
      </Group>
      <pre className="lk-json" tabIndex={0} role="region" aria-label={what}>
        {shown}
      </pre>
    </>
  );
}
