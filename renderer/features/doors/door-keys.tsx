import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Checkbox, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { DoorKind } from '../../../main/lib/policies/door-kind.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { useCreateTag, useTags, useUpdateTag } from '../tags/tag-queries.ts';

/** The private keys that a door can sign with, and those of them that it offers. */
function useDoorKeys({ keyTag, curves }: DoorKind) {
  const { data } = useApiQuery('list_private_keys');
  const tags = useTags('privateKey');
  const tagId = tags.list.find(({ tagName }) => tagName === keyTag)?.tagId;
  const keys = (data?.privateKeys ?? []).filter(({ curve }) => curves.includes(curve));
  const offered = keys.filter(({ privateKeyTags }) => tagId !== undefined && privateKeyTags.includes(tagId));
  return { isKnown: data !== undefined && !tags.isPending, keys, offered, tagId };
}

interface Props {
  readonly kind: DoorKind;
}

function Names({ kind }: Props): ReactNode {
  const { isKnown, offered } = useDoorKeys(kind);
  if (!isKnown) return null;
  return (
    <Text size="sm" c="dimmed">
      {offered.length === 0
        ? t('No keys offered yet.')
        : t('Keys: {{names}}', { names: offered.map((key) => visibleName(key.privateKeyName)).join(', ') })}
    </Text>
  );
}

function Form({ kind, close }: Props & { readonly close: () => void }): ReactNode {
  const { isKnown, keys, offered, tagId } = useDoorKeys(kind);
  // Others may change the rest while the dialog is open.
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const create = useCreateTag('privateKey');
  const update = useUpdateTag('privateKey');
  const task = useAsyncAction();
  const ids = keys.map(({ privateKeyId }) => privateKeyId);
  const before = offered.map(({ privateKeyId }) => privateKeyId);
  const chosen = ids.filter((id) => changed.get(id) ?? before.includes(id));
  if (keys.length === 0) {
    return !isKnown ? null : (
      <Text>
        <Trans
          i18nKey="<create>Create a private key</create> on Ed25519 or P-256 first."
          components={{ create: <Link href="/private-keys/new" className="kh-link" /> }}
        />
      </Text>
    );
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    task.run(async () => {
      const add = chosen.filter((id) => !before.includes(id));
      const remove = before.filter((id) => !chosen.includes(id));
      if (tagId === undefined) await create.mutateAsync({ name: kind.keyTag ?? '', holderIds: chosen });
      else if (add.length + remove.length > 0) await update.mutateAsync({ tagId, add, remove });
      close();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Checkbox.Group
          label={t('Private keys')}
          description={t('Every program of this door may sign with them.')}
          value={chosen}
          onChange={(next) => {
            const turned = ids.filter((id) => next.includes(id) !== chosen.includes(id));
            setChanged(new Map([...changed, ...turned.map((id) => [id, next.includes(id)] as const)]));
          }}
        >
          <Stack gap="xs" mt="xs">
            {keys.map(({ privateKeyId, privateKeyName }) => (
              <Checkbox key={privateKeyId} value={privateKeyId} label={visibleName(privateKeyName)} />
            ))}
          </Stack>
        </Checkbox.Group>
        <FormEnd
          failed={t('Couldn’t change the keys')}
          error={task.error}
          busy={task.isPending}
          does={t('Save keys')}
          back={close}
        />
      </Stack>
    </form>
  );
}

export const DoorKeys = { Names, Form };
