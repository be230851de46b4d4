import { memo, useCallback, useDeferredValue, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { KnownAddress } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import { useSubmit } from '../../app/rpc/vault.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DeleteForm } from '../../ui/danger-zone.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { Empty } from '../../ui/feedback.tsx';
import { Grouped } from '../../ui/identifier.tsx';
import { ListSearch } from '../../ui/list-search.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import { Panel } from '../../ui/page.tsx';
import '../../ui/rows.css';
import './address-list.css';

/** Up to here one sees all of them at a glance. */
const fewAddresses = 8;

const nothing = (): void => undefined;

/** An address is pasted with the gaps in which it is shown, and found without them. */
const isFound = ({ name, address, knownAddressId }: KnownAddress, text: string): boolean =>
  [name, knownAddressId].some((each) => each.toLowerCase().includes(text)) ||
  address.toLowerCase().includes(text.replaceAll(/\s/g, ''));

/** Named addresses, by name. The service gives all of them at once; what is in sight is laid out. */
export function AddressList({ list }: { readonly list: readonly KnownAddress[] }): ReactNode {
  const [typed, setTyped] = useState('');
  const text = useDeferredValue(typed).trim().toLowerCase();
  const found = useMemo(() => list.filter((each) => isFound(each, text)), [list, text]);
  // One dialog for all: its row may come to stand elsewhere while it is open.
  const [leaving, setLeaving] = useState<KnownAddress | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const ask = useCallback((known: KnownAddress) => {
    setLeaving(known);
    setIsAsking(true);
  }, []);
  return (
    <>
      {list.length > fewAddresses && (
        <>
          <ListSearch
            label={t('Address book')}
            placeholder={t('Name, address or ID')}
            typed={typed}
            onType={setTyped}
          />
          <div className="kh-list-foot">
            <span role="status">{t('{{count}} addresses', { count: found.length })}</span>
          </div>
        </>
      )}
      <Panel kind="plain">
        {found.length === 0 ? (
          <Empty
            title={t('No matching address')}
            action={
              <Button
                variant="default"
                onClick={() => {
                  setTyped('');
                }}
              >
                {t('Show all')}
              </Button>
            }
          >
            <p>{t('No address has this in its name, address or ID.')}</p>
          </Empty>
        ) : (
          <LongRows
            key={text}
            count={found.length}
            label={t('Address book')}
            height={{ wide: 6.25, narrow: 12.5 }}
            isComplete
            onShow={nothing}
            row={(index) => {
              const known = found[index];
              return known === undefined ? null : (
                <Row key={known.knownAddressId} of={known} onDelete={ask} />
              );
            }}
          />
        )}
      </Panel>
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
