import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAddressBook } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { useDraftState } from '../../app/drafts.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { onText } from '../../ui/on-text.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { AddressList } from './address-list.tsx';

/** Names for addresses of others. @param props.address One to be named. */
export function Addresses({ address = '' }: { readonly address: string | undefined }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_known_addresses');
  const list = data?.knownAddresses ?? [];
  const failure = (
    <Failure title={t('Couldn’t load the address book')} error={error} onRetry={() => void refetch()} />
  );
  return (
    <>
      <PageHead
        title={t('Address book')}
        lead={t('Names for others’ addresses, shown in Sign and Approvals.')}
      />
      <NewAddress given={fromPlace(address)} />
      {list.length > 0 ? (
        <>
          {failure}
          <AddressList list={list} />
        </>
      ) : (
        <Panel kind="plain">
          {isPending && <LoadingRows label={t('Loading the address book')} rows={2} />}
          {failure}
          {data !== undefined && (
            <Empty title={t('No addresses yet')} icon={IconAddressBook}>
              <p>{t('Name an address here, or from a request that sends to it.')}</p>
            </Empty>
          )}
        </Panel>
      )}
    </>
  );
}

/** Decodes what the router leaves as it is: the characters that have a meaning in an address of the window. */
const fromPlace = (text: string): string =>
  text.replaceAll(/%(?:2[346BCF]|3[ABDF]|40)/gi, decodeURIComponent);

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
