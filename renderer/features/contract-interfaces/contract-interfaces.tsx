import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileCode } from '@tabler/icons-react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DialogButton } from '../../ui/danger-zone.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import type { SmartContractInterface } from '../../app/rpc/resources.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

const kinds = {
  SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM: {
    label: t('Ethereum contract'),
    address: t('Contract address in hex.'),
    interface: t('The ABI as a JSON array, from a compiler or block explorer.'),
  },
  SMART_CONTRACT_INTERFACE_TYPE_SOLANA: {
    label: t('Solana program'),
    address: t('Program address in Base58.'),
    interface: t('The Anchor IDL as a JSON object.'),
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
        lead={t('Interfaces decode contract calls, for you and for policies.')}
        back={{ to: '/sign', label: t('Sign') }}
      />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading contract interfaces')} rows={2} />}
        <Failure title={t('Couldn’t load the interfaces')} error={error} onRetry={() => void refetch()} />
        {data !== undefined && list.length === 0 && (
          <Empty title={t('No contract interfaces yet')} icon={IconFileCode}>
            <p>
              {t(
                'Coin and common token transfers need none. Add interfaces for other contracts and programs.',
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
          <ShortId text={smartContractAddress} copy={t('Copy address of {{label}}', { label })} />
        </span>
      </div>
      <Group gap="xs" wrap="nowrap">
        <CopyButton text={smartContractInterface} copy={t('Copy interface of {{label}}', { label })} />
        <DialogButton
          name={t('Delete…')}
          label={t('Delete interface {{label}}', { label })}
          title={t('Delete interface “{{label}}”', { label })}
          danger
        >
          {(close) => (
            <DeleteForm
              what="interface"
              outcomes={[
                t('Calls to this address are no longer decoded.'),
                t('You can add the interface again.'),
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
                        title: t('Interface deleted'),
                        message: t('“{{label}}”', { label }),
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
    name: nameProblem(name),
    address: address.trim() === '' ? t('Enter an address.') : null,
    text: text.trim() === '' ? t('Enter an interface.') : null,
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
            title: t('Interface added'),
            message: t('Calls to “{{name}}” can be decoded.', { name: name.trim() }),
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
    <OutcomeForm
      title={t('Add interface')}
      onSubmit={submit}
      outcomes={[
        t('The vault checks and stores the interface.'),
        t('Sign, Approvals and policies use the interface to decode calls.'),
        t('A wrong interface misrepresents calls. Use a source you trust.'),
      ]}
    >
      <SegmentedControl
        aria-label={t('Type')}
        value={type}
        onChange={(value) => {
          setType(value);
          create.reset();
        }}
        data={Object.entries(kinds).map(([value, { label }]) => ({ value: value as Kind, label }))}
      />
      <NameField
        description={t('Shown in the list above.')}
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
      <Failure title={t('Couldn’t add the interface')} error={create.error} />
      <div>
        <Button type="submit" loading={create.isPending}>
          {t('Add interface')}
        </Button>
      </div>
    </OutcomeForm>
  );
}
