import type { ReactNode } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import { clientEntry, clientFile, httpEntry } from '../../../main/lib/policies/mcp-programs.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { HoldButton, useReveal } from '../../ui/secret.tsx';
import { t } from '../../app/i18n/text.ts';
import { useStatus } from '../../app/rpc/vault.tsx';

interface Props {
  readonly name: string;
  /** Empty where the agent has none. */
  readonly token: string;
  readonly close: () => void;
}

const hidden = '•'.repeat(24);
const json = (value: object): string => JSON.stringify(value, null, 2);

/**
 * The configuration of an agent's client. That of a client that starts programs has no secret. The token for HTTP is shown on demand
 * alone, and is kept nowhere.
 */
export function ClientSetUp({ name, token, close }: Props): ReactNode {
  const { url, directory, program } = useStatus();
  const reveal = useReveal(token);
  const file = json(clientFile(name, clientEntry(program, name, directory ?? '')));
  const overHttp = (secret: string): string => json(clientFile(name, httpEntry(`${url}/mcp`, secret)));
  return (
    <Stack gap="md">
      <Text size="sm">
        {t('Add this to your MCP client’s configuration. It has no secret: the vault keeps the key.')}
      </Text>
      <pre className="kh-json" tabIndex={0} role="region" aria-label={t('Configuration')}>
        {file}
      </pre>
      <Group>
        <CopyButton text={file} copy={t('Copy configuration')} wide />
      </Group>
      {token !== '' && (
        <>
          <Text size="sm">
            {t('For clients that use HTTP. The token is shown once; anyone with it acts as the agent.')}
          </Text>
          <pre className="kh-json" tabIndex={0} role="region" aria-label={t('Configuration over HTTP')}>
            {overHttp(reveal.shown ? token : hidden)}
          </pre>
          <Group align="start">
            <CopyButton text={overHttp(token)} copy={t('Copy configuration over HTTP')} wide secret />
            {reveal.shown ? (
              <Button variant="default" size="xs" onClick={reveal.hide}>
                {t('Hide the token')}
              </Button>
            ) : (
              <HoldButton onHeld={reveal.show}>{t('Show the token')}</HoldButton>
            )}
          </Group>
          {reveal.ending}
        </>
      )}
      <Group justify="end">
        <Button onClick={close}>{t('Done')}</Button>
      </Group>
    </Stack>
  );
}
