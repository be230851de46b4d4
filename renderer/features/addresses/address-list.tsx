import { memo, useCallback, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { KnownAddress } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import { useSubmit } from '../../app/rpc/vault.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DeleteForm } from '../../ui/danger-zone.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { Grouped } from '../../ui/identifier.tsx';
import { hasText, SearchedList } from '../../ui/lists/searched-list.tsx';
import '../../ui/rows.css';
import './address-list.css';

/** An address is pasted with the gaps in which it is shown, and found without them. */
const isFound = ({ name, address, knownAddressId }: KnownAddress, text: string): boolean =>
  hasText([name, knownAddressId], text) || hasText([address], text.replaceAll(/\s/g, ''));

/** Named addresses, by name. */
export function AddressList({ list }: { readonly list: readonly KnownAddress[] }): ReactNode {
  // One dialog for all: its row may come to stand elsewhere while it is open.
  const [leaving, setLeaving] = useState<KnownAddress | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const ask = useCallback((known: KnownAddress) => {
    setLeaving(known);
    setIsAsking(true);
  }, []);
  return (
    <>
      <SearchedList
        items={list}
        idOf={({ knownAddressId }) => knownAddressId}
        label={t('Address book')}
        placeholder={t('Name, address or ID')}
        isFound={isFound}
        counted={(count) => t('{{count}} addresses', { count })}
        nothingFound={{
          title: t('No matching address'),
          text: t('No address has this in its name, address or ID.'),
        }}
        height={{ wide: 6.25, narrow: 12.5 }}
        row={(known) => <Row key={known.knownAddressId} of={known} onDelete={ask} />}
      />
      {leaving !== null && (
        <DeleteName
          of={leaving}
          opened={isAsking}
          onClose={() => {
            setIsAsking(false);
          }}
        />
      )}
    </>
  );
}

/** It stays as it is while the list moves. */
const Row = memo(function Row({
  of,
  onDelete,
}: {
  readonly of: KnownAddress;
  readonly onDelete: (known: KnownAddress) => void;
}): ReactNode {
  const { name, address } = of;
  return (
    <div className="kh-row kh-manage">
      <div>
        <span className="kh-clamp kh-known-name kh-row-name">{visibleName(name)}</span>
        <span className="kh-known-address">
          <Grouped text={address} />
        </span>
      </div>
      <Group gap="xs" wrap="nowrap">
        <CopyButton text={address} copy={t('Copy address of {{name}}', { name })} />
        <Button
          variant="default"
          size="xs"
          flex="none"
          aria-label={t('Delete name {{name}}', { name })}
          aria-haspopup="dialog"
          className="kh-danger-button"
          onClick={() => {
            onDelete(of);
          }}
        >
          {t('Delete…')}
        </Button>
      </Group>
    </div>
  );
});

function DeleteName({
  of: { knownAddressId, name },
  opened,
  onClose,
}: {
  readonly of: KnownAddress;
  readonly opened: boolean;
  readonly onClose: () => void;
}): ReactNode {
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_KNOWN_ADDRESS');
  const close = () => {
    remove.reset();
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('Delete name “{{name}}”', { name })} size="lg">
      <DeleteForm
        what="name"
        outcomes={[t('Requests show the address without a name.'), t('You can name the address again.')]}
        submitting={remove}
        onCancel={close}
        onDelete={() => {
          remove.mutate({ knownAddressId }, { onSuccess: close });
        }}
      />
    </Dialog>
  );
}
