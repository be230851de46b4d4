import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileCode } from '@tabler/icons-react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DialogButton } from '../../ui/danger-zone.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import type { SmartContractInterface } from '../../app/rpc/resources.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

const kinds = {
  SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM: {
    label: t('Ethereum contract'),
    address: t('Address of the contract, in hex.'),
    interface: t('The contract’s ABI: a JSON array, as compilers and block explorers give it.'),
  },
  SMART_CONTRACT_INTERFACE_TYPE_SOLANA: {
    label: t('Solana program'),
    address: t('Address of the program, in Base58.'),
    interface: t('The program’s Anchor IDL: a JSON object.'),
  },
} as const;

type Kind = keyof typeof kinds;

/** By what the calls in transactions are read: kept here, one for each address. */
export function ContractInterfaces(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_smart_contract_interfaces');
  const list = data?.smartContractInterfaces ?? [];
  return (
    <>
      <PageHead
        title={t('Contract interfaces')}
        lead={t(
          'What a transaction calls is bytes. With the contract’s interface its name and arguments are shown before you sign, and policies can tell them apart.',
        )}
        back={{ to: '/sign', label: t('Sign') }}
      />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading contract interfaces')} rows={2} />}
        <Failure title={t('The interfaces could not be read')} error={error} onRetry={() => void refetch()} />
        {data !== undefined && list.length === 0 && (
          <Empty title={t('No contract interface yet')} icon={IconFileCode}>
            <p>
              {t(
                'Transfers of coins and of usual tokens are read without one. Add the interfaces of the other contracts and programs that you call.',
              )}
            </p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="kh-rows" aria-label={t('Contract interfaces')}>
            {list.map((each) => (
              <InterfaceRow key={each.smartContractInterfaceId} of={each} />
            ))}
          </ul>
        )}
      </Panel>
      <NewInterface />
    </>
  );
}

function InterfaceRow({ of }: { readonly of: SmartContractInterface }): ReactNode {
  const { label, smartContractAddress, smartContractInterface, smartContractInterfaceId, type } = of;
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE');
  return (
    <li className="kh-row kh-manage">
      <div style={{ minWidth: 0 }}>
        <span className="kh-row-name">{visibleName(label)}</span>{' '}
        <span className="kh-badge">{kinds[type].label}</span>
        <br />
        <span className="kh-row-more">
          <ShortId text={smartContractAddress} copy={t('Copy the address of {{label}}', { label })} />
        </span>
      </div>
      <Group gap="xs" wrap="nowrap">
        <CopyButton text={smartContractInterface} copy={t('Copy interface of {{label}}', { label })} />
        <DialogButton
          name={t('Delete…')}
          label={t('Delete the interface {{label}}', { label })}
          title={t('Delete the interface “{{label}}”', { label })}
          danger
        >
          {(close) => (
            <DeleteForm
              what="interface"
              outcomes={[
                t('Calls of this address are no longer read by it, neither for you nor for policies.'),
                t('It can be added again.'),
              ]}
              submitting={remove}
              onCancel={close}
              onDelete={() => {
                remove.mutate(
                  { smartContractInterfaceId },
                  {
                    onSuccess() {
                      close();
                      notifications.show({
                        title: t('The interface is deleted'),
                        message: t('“{{label}}” is gone.', { label }),
                      });
                    },
                  },
                );
              }}
            />
          )}
        </DialogButton>
      </Group>
    </li>
  );
}

function NewInterface(): ReactNode {
  const [type, setType] = useState<Kind>('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM');
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const [text, setText] = useState('');
  const [tried, setTried] = useState(false);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE');
  const problems = {
    name: nameProblem(name, 'interface', []),
    address: address.trim() === '' ? t('Paste the address that is called.') : null,
    text: text.trim() === '' ? t('Paste the interface.') : null,
  };
  // The reason stands at the button; the field that it is about is marked.
  const refused = /^invalid parameters\.(\w+)/.exec(create.error?.message ?? '')?.[1];

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== null)) return;
    create.mutate(
      {
        type,
        label: name.trim(),
        smartContractAddress: address.trim(),
        smartContractInterface: text,
      },
      {
        onSuccess() {
          notifications.show({
            title: t('The interface is added'),
            message: t('Calls of “{{name}}” can be read.', { name: name.trim() }),
          });
          setName('');
          setAddress('');
          setText('');
          setTried(false);
        },
      },
    );
  };

  return (
    <form onSubmit={submit} noValidate className="kh-beside">
      <Panel title={t('New interface')}>
        <Stack gap="lg">
          <SegmentedControl
            aria-label={t('What it is of')}
            value={type}
            onChange={(value) => {
              setType(value);
              create.reset();
            }}
            data={Object.entries(kinds).map(([value, { label }]) => ({ value: value as Kind, label }))}
          />
          <NameField
            description={t('For you: how the list above calls it.')}
            value={name}
            problem={tried ? problems.name : null}
            onType={setName}
          />
          <TextInput
            label={t('Address')}
            description={kinds[type].address}
            autoComplete="off"
            spellCheck={false}
            required
            className="kh-mono-input"
            value={address}
            error={(tried ? problems.address : null) ?? refused === 'smartContractAddress'}
            onChange={(event) => {
              setAddress(event.currentTarget.value);
              create.reset();
            }}
          />
          <Textarea
            label={t('Interface')}
            description={kinds[type].interface}
            autosize
            minRows={4}
            maxRows={14}
            autoComplete="off"
            spellCheck={false}
            required
            className="kh-mono-input"
            value={text}
            error={(tried ? problems.text : null) ?? refused === 'smartContractInterface'}
            onChange={(event) => {
              setText(event.currentTarget.value);
              create.reset();
            }}
          />
          <Failure title={t('The interface was not added')} error={create.error} />
          <div>
            <Button type="submit" loading={create.isPending}>
              {t('Add the interface')}
            </Button>
          </div>
        </Stack>
      </Panel>
      <aside>
        <Expectations
          items={[
            t('The interface is checked and kept in the vault. It is written to the activity log.'),
            t('Calls of this address are read by it: on the Sign screen, under Approvals, and by policies.'),
            t('A wrong interface shows a call as what it is not: take it from where you trust the contract.'),
          ]}
        />
      </aside>
    </form>
  );
}
