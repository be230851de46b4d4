import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { DoorNode } from '../../../preload/contract.ts';
import { ConfirmForm, DialogButton } from '../../ui/danger-zone.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { onText } from '../../ui/on-text.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useDoorsCall } from '../../app/rpc/vault.tsx';

/** The owner's nodes, one for each chain. The rest of an address may be a secret, so that the origin alone is shown. */
export function Nodes({ nodes }: { readonly nodes: readonly DoorNode[] }): ReactNode {
  return (
    <>
      <div className="kh-row kh-manage">
        <div>
          <Text size="sm">{t('Nodes complete transactions and send them.')}</Text>
          {nodes.length === 0 && (
            <Text size="sm" c="dimmed">
              {t('No nodes yet: programs can sign, and not send.')}
            </Text>
          )}
        </div>
        <DialogButton name={t('Set node…')} label={t('Set node of a chain…')} title={t('Set a node')}>
          {(close) => <NodeForm close={close} />}
        </DialogButton>
      </div>
      {nodes.length > 0 && (
        <ul className="kh-rows" aria-label={t('Nodes')}>
          {nodes.map((node) => (
            <Node key={node.chainId} of={node} />
          ))}
        </ul>
      )}
    </>
  );
}

function Node({ of: { chainId, chain, origin, previews } }: { readonly of: DoorNode }): ReactNode {
  const change = useDoorsCall();
  const previewing = useDoorsCall();
  const task = useAsyncAction();
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{chain}</span>
        <br />
        <span className="kh-row-more">{origin}</span>
        <Switch
          mt="xs"
          size="sm"
          label={t('Previews')}
          aria-label={t('Previews by the node of {{chain}}', { chain })}
          description={t('Asks it what Ethereum transactions that need approval would do.')}
          checked={previews}
          disabled={previewing.isPending}
          onChange={({ currentTarget }) => {
            previewing.mutate({ change: 'previews', door: 'ethereum', chainId, on: currentTarget.checked });
          }}
        />
        <Failure title={t('Couldn’t change the previews')} error={previewing.error} />
      </div>
      <Group gap="xs">
        <DialogButton
          name={t('Change…')}
          label={t('Change the node of {{chain}}…', { chain })}
          title={t('Node of {{chain}}', { chain })}
        >
          {(close) => <NodeForm chainId={chainId} close={close} />}
        </DialogButton>
        <DialogButton
          name={t('Remove…')}
          label={t('Remove the node of {{chain}}…', { chain })}
          title={t('Remove the node of {{chain}}', { chain })}
          danger
        >
          {(close) => (
            <ConfirmForm
              does={t('Remove')}
              failed={t('Couldn’t remove the node')}
              outcomes={[t('Programs can send nothing on this chain.')]}
              submitting={task}
              onCancel={close}
              onConfirm={() => {
                task.run(async () => {
                  await change.mutateAsync({ change: 'node', door: 'ethereum', chainId, url: null });
                  close();
                });
              }}
            />
          )}
        </DialogButton>
      </Group>
    </li>
  );
}

interface FormProps {
  /** Of a node that is there. */
  readonly chainId?: string;
  readonly close: () => void;
}

function NodeForm({ chainId, close }: FormProps): ReactNode {
  const [chain, setChain] = useState(chainId ?? '');
  const [url, setUrl] = useState('');
  const [tried, setTried] = useState(false);
  const change = useDoorsCall();
  const task = useAsyncAction();
  const isChain = /^[1-9][0-9]{0,14}$/.test(chain);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isChain || url === '') return;
    task.run(async () => {
      await change.mutateAsync({ change: 'node', door: 'ethereum', chainId: chain, url });
      close();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {chainId === undefined && (
          <TextInput
            label={t('Chain ID')}
            description={t('1 is Ethereum, 11155111 is Sepolia.')}
            inputMode="numeric"
            autoComplete="off"
            required
            data-autofocus
            value={chain}
            error={tried && !isChain && t('Enter a number, such as 1.')}
            onChange={onText(setChain)}
          />
        )}
        <TextInput
          label={t('Address')}
          description={t('Kept encrypted, as it may hold a secret. A node elsewhere needs https.')}
          type="url"
          autoComplete="off"
          spellCheck={false}
          required
          {...(chainId !== undefined && { 'data-autofocus': true })}
          value={url}
          error={tried && url === '' && t('Enter the address of its JSON-RPC.')}
          onChange={onText(setUrl)}
        />
        <FormEnd
          failed={t('Couldn’t set the node')}
          error={task.error}
          busy={task.isPending}
          does={t('Set node')}
          back={close}
        />
      </Stack>
    </form>
  );
}
