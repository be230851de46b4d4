import type { ReactNode } from 'react';
import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { IconEyeOff } from '@tabler/icons-react';
import { CopyButton } from './copy-button.tsx';
import type { NamedPair } from './new-api-key.tsx';
import { Facts, Panel } from './page.tsx';
import { HoldButton, useReveal } from './secret.tsx';
import { commandLines, environmentLines, sdkExample } from './snippets.ts';
import { Value } from './value.tsx';
import { useStatus } from './vault.tsx';

interface Props {
  readonly pair: NamedPair;
  readonly onDone: () => void;
}

/** A new API key with its private half, what a script needs beside it, and code to start from. */
export function MadeApiKey({ pair, onDone }: Props): ReactNode {
  const { url, organization } = useStatus();
  const { shown, show, hide, ending } = useReveal(pair);
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
                secret
              />,
            ],
          ]}
        />
        <div>
          {shown ? (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconEyeOff size={16} aria-hidden />}
              onClick={hide}
            >
              Hide the private key
            </Button>
          ) : (
            <HoldButton onHeld={show}>Show the private key</HoldButton>
          )}
          {ending}
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
              secret
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

interface SnippetProps {
  readonly note: string;
  readonly text: string;
  /** What is on the screen instead of the text. */
  readonly shown?: string;
  readonly what: string;
  readonly secret?: boolean;
}

function Snippet({ note, text, shown = text, what, secret = false }: SnippetProps): ReactNode {
  return (
    <>
      <Group justify="space-between" align="start" mb="xs">
        <Text size="sm" c="dimmed" flex="1 1 16rem">
          {note}
        </Text>
        <CopyButton text={text} what={what} wide secret={secret} />
      </Group>
      <pre className="lk-json" tabIndex={0} role="region" aria-label={what}>
        {shown}
      </pre>
    </>
  );
}
