import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAddressBook } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { KnownAddress } from '../../app/rpc/resources.ts';
import { useDraftState } from '../../app/drafts.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DeleteForm, DialogButton } from '../../ui/danger-zone.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { Grouped } from '../../ui/identifier.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { onText } from '../../ui/on-text.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import '../../ui/rows.css';

/** Names for addresses of others. @param props.address One to be named. */
export function Addresses({ address = '' }: { readonly address: string | undefined }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_known_addresses');
  const list = data?.knownAddresses ?? [];
  return (
    <>
      <PageHead
        title={t('Address book')}
        lead={t('Names for others’ addresses. Sign and Approvals show them beside the address.')}
      />
      <NewAddress given={fromPlace(address)} />
      <Panel kind="plain">
        {isPending && <LoadingRows label={t('Loading the address book')} rows={2} />}
        <Failure title={t('Couldn’t load the address book')} error={error} onRetry={() => void refetch()} />
        {data !== undefined && list.length === 0 && (
          <Empty title={t('No addresses yet')} icon={IconAddressBook}>
            <p>{t('Name an address here, or from a request that sends to it.')}</p>
          </Empty>
        )}
        {list.length > 0 && (
          <ul className="kh-rows" aria-label={t('Address book')}>
            {list.map((each) => (
              <AddressOfOther key={each.knownAddressId} of={each} />
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

/** Decodes what the router leaves as it is: the characters that have a meaning in an address of the window. */
const fromPlace = (text: string): string =>
  text.replaceAll(/%(?:2[346BCF]|3[ABDF]|40)/gi, decodeURIComponent);

function AddressOfOther({ of: { knownAddressId, name, address } }: { readonly of: KnownAddress }): ReactNode {
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_KNOWN_ADDRESS');
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{visibleName(name)}</span>
        <br />
        <Grouped text={address} />
      </div>
      <Group gap="xs" wrap="nowrap">
        <CopyButton text={address} copy={t('Copy address of {{name}}', { name })} />
        <DialogButton
          name={t('Delete…')}
          label={t('Delete name {{name}}', { name })}
          title={t('Delete name “{{name}}”', { name })}
          danger
        >
          {(close) => (
            <DeleteForm
              what="name"
              outcomes={[
                t('Requests show the address without a name.'),
                t('You can name the address again.'),
              ]}
              submitting={remove}
              onCancel={close}
              onDelete={() => {
                remove.mutate({ knownAddressId }, { onSuccess: close });
              }}
            />
          )}
        </DialogButton>
      </Group>
    </li>
  );
}

function NewAddress({ given }: { readonly given: string }): ReactNode {
  const [, navigate] = useLocation();
  const [name, setName] = useDraftState('name', '');
  const [address, setAddress] = useDraftState('address', given);
  const [tried, setTried] = useState(false);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_KNOWN_ADDRESS');
  const problems = {
    name: nameProblem(name),
    address: address.trim() === '' ? t('Enter an address.') : null,
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problems.name !== null || problems.address !== null) return;
    create.mutate(
      { name: name.trim(), address: address.trim() },
      {
        onSuccess() {
          notifications.show({ title: t('Address named'), message: t('“{{name}}”', { name: name.trim() }) });
          setName('');
          setAddress('');
          setTried(false);
          navigate('/addresses');
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('Name an address')}>
        <Stack gap="lg">
          <NameField
            description={t('Shown beside the address.')}
            value={name}
            problem={tried ? problems.name : null}
            onType={setName}
          />
          <TextInput
            label={t('Address')}
            description={t('Compare every character with the receiver.')}
            autoComplete="off"
            spellCheck={false}
            required
            className="kh-mono-input"
            value={address}
            error={tried ? problems.address : null}
            onChange={onText((text) => {
              setAddress(text);
              create.reset();
            })}
          />
          <Failure title={t('Couldn’t name the address')} error={create.error} />
          <div>
            <Button type="submit" loading={create.isPending}>
              {t('Name address')}
            </Button>
          </div>
        </Stack>
      </Panel>
    </form>
  );
}
