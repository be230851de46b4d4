import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { GrowingFile } from '../../app/rpc/growing-file.ts';
import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { NamedPair } from './new-api-key.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { PrivateKeySwitch, useReveal } from '../../ui/secret.tsx';
import { commandLines, curlExample, environmentLines, sdkExample } from './snippets.ts';
import { t } from '../../app/i18n/text.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { useStatus } from '../../app/rpc/vault.tsx';

interface Props {
  readonly pair: NamedPair;
  readonly onDone: () => void;
}

/** A new API key with its private half, what a script needs beside it, and code to start from. */
export function MadeApiKey({ pair, onDone }: Props): ReactNode {
  const { url, organization } = useStatus();
  const reveal = useReveal(pair);
  const access = { url, organizationId: organization?.id ?? '', ...pair };
  const hidden = '•'.repeat(24);
  const environment = environmentLines(access);
  useEffect(() => {
    // The browser asks before the page goes: nothing else has the private key.
    const ask = (event: BeforeUnloadEvent): void => {
      event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => {
      window.removeEventListener('beforeunload', ask);
    };
  }, []);
  return (
    <Panel
      title={t('“{{name}}” is ready', { name: pair.name })}
      aside={
        <Button variant="default" size="xs" onClick={onDone}>
          {t('I saved the key')}
        </Button>
      }
    >
      <Stack gap="lg">
        <Alert color="brass" variant="light" title={t('Save the private key now')} className="kh-brass-alert">
          {t('The private key is shown only once.')}
        </Alert>
        <Facts
          rows={[
            [t('API address'), <Copyable key="url" text={url} copy={t('Copy API address')} />],
            [
              t('Organization ID'),
              <Copyable key="organization" text={access.organizationId} copy={t('Copy organization ID')} />,
            ],
            [t('Public key'), <Copyable key="public" text={pair.publicKey} copy={t('Copy public key')} />],
            [
              t('Private key'),
              <Copyable
                key="private"
                text={pair.privateKey}
                shown={reveal.shown ? pair.privateKey : hidden}
                copy={t('Copy private key')}
                secret
              />,
            ],
          ]}
        />
        <div>
          <Group gap="md">
            <PrivateKeySwitch reveal={reveal} />
            <Button
              variant="default"
              size="xs"
              onClick={() => {
                const file = new GrowingFile('text/plain');
                file.add(`${environment}\n`);
                file.save('keyhearth.env');
              }}
            >
              {t('Download .env file')}
            </Button>
          </Group>
          {reveal.ending}
        </div>
        <Tabs defaultValue="environment">
          <Tabs.List>
            <Tabs.Tab value="environment">{t('Environment')}</Tabs.Tab>
            <Tabs.Tab value="sdk">{t('TypeScript')}</Tabs.Tab>
            <Tabs.Tab value="curl">curl</Tabs.Tab>
            <Tabs.Tab value="command">{t('Command line')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="environment" pt="md">
            <Snippet
              note={t('For a .env file that only you can read. The names match the SDK’s examples.')}
              text={environment}
              shown={reveal.shown ? environment : environmentLines({ ...access, privateKey: hidden })}
              secret
              name={t('Environment lines')}
              copy={t('Copy environment lines')}
            />
          </Tabs.Panel>
          <Tabs.Panel value="sdk" pt="md">
            <Snippet
              note={t('The published SDK with your API address. Reads the Environment lines.')}
              text={sdkExample}
              name={t('TypeScript example')}
              copy={t('Copy TypeScript example')}
            />
          </Tabs.Panel>
          <Tabs.Panel value="curl" pt="md">
            <Snippet
              note={t('Bash, OpenSSL and curl, without an SDK. Reads the Environment lines.')}
              text={curlExample}
              name={t('curl example')}
              copy={t('Copy curl example')}
            />
          </Tabs.Panel>
          <Tabs.Panel value="command" pt="md">
            <Snippet
              note={t('Creates a user with a budget, and a key in the command’s own files.')}
              text={commandLines}
              name={t('Command lines')}
              copy={t('Copy command lines')}
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
  /** Shown on the screen instead of the text. */
  readonly shown?: string;
  readonly name: string;
  readonly copy: string;
  readonly secret?: boolean;
}

function Snippet({ note, text, shown = text, name, copy, secret = false }: SnippetProps): ReactNode {
  return (
    <>
      <Group justify="space-between" align="start" mb="xs">
        <Text size="sm" c="dimmed" flex="1 1 16rem">
          {note}
        </Text>
        <CopyButton text={text} copy={copy} wide secret={secret} />
      </Group>
      <pre className="kh-json" tabIndex={0} role="region" aria-label={name}>
        {shown}
      </pre>
    </>
  );
}
