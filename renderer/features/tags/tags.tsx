import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, SegmentedControl, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { DeleteForm, DialogButton, RenameForm } from '../../ui/danger-zone.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import type { Tag } from '../../app/rpc/resources.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { tagKinds, tagNameOf, useCreateTag, useRemoveTag, useTags, useUpdateTag } from './tag-queries.ts';
import type { TagKind } from './tag-queries.ts';
import { t } from '../../app/i18n/text.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { useApiQuery, useRpc } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** A resource with a tag: its screen, and its name. */
interface Holder {
  readonly to: string;
  readonly name: string;
  readonly tagIds: readonly string[];
}

/** Every tag of both kinds, and what carries it. */
export function Tags(): ReactNode {
  const keys = useApiQuery('list_private_keys');
  const users = useApiQuery('list_users');
  const keyHolders = keys.data?.privateKeys.map((key) => ({
    to: `/private-keys/${key.privateKeyId}`,
    name: key.privateKeyName,
    tagIds: key.privateKeyTags,
  }));
  const userHolders = users.data?.users.map((user) => ({
    to: `/users/${user.userId}`,
    name: user.userName,
    tagIds: user.userTags,
  }));
  return (
    <>
      <PageHead title={t('Tags')} lead={t('Groups of private keys and users. Add tags on their pages.')} />
      <TagList kind="privateKey" title={t('Private key tags')} holders={keyHolders} />
      <TagList kind="user" title={t('User tags')} holders={userHolders} />
      <NewTag />
    </>
  );
}

function NewTag(): ReactNode {
  const [kind, setKind] = useState<TagKind>('privateKey');
  const [name, setName] = useState('');
  const [tried, setTried] = useState(false);
  const tags = { privateKey: useTags('privateKey').list, user: useTags('user').list };
  const create = { privateKey: useCreateTag('privateKey'), user: useCreateTag('user') }[kind];
  const taken = tags[kind].map(({ tagName }) => tagName);
  const problem = nameProblem(name, taken);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null) return;
    create.mutate(
      { name: name.trim(), holderIds: [] },
      {
        onSuccess() {
          setName('');
          setTried(false);
          notifications.show({
            title: t('Tag created'),
            message: tagKinds[kind].made(name.trim()),
          });
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('Create tag')}>
        <Stack gap="md" maw={480}>
          <SegmentedControl
            aria-label={t('Applies to')}
            value={kind}
            onChange={setKind}
            data={[
              { value: 'privateKey', label: t('Private keys') },
              { value: 'user', label: t('Users') },
            ]}
          />
          <NameField
            description={tagKinds[kind].unique}
            value={name}
            problem={tried || name !== '' ? problem : null}
            others={taken}
            onType={setName}
          />
          <Failure title={t('Couldn’t create the tag')} error={create.error} />
          <div>
            <Button type="submit" loading={create.isPending}>
              {t('Create tag')}
            </Button>
          </div>
        </Stack>
      </Panel>
    </form>
  );
}

interface ListProps {
  readonly kind: TagKind;
  readonly title: string;
  readonly holders: readonly Holder[] | undefined;
}

function TagList({ kind, title, holders }: ListProps): ReactNode {
  const tags = useTags(kind);
  return (
    <Panel title={title} kind="plain">
      {tags.isPending && <LoadingRows label={t('Loading tags')} rows={2} />}
      <Failure title={t('Couldn’t load the tags')} error={tags.error} onRetry={tags.retry} />
      {!tags.isPending && tags.error === null && tags.list.length === 0 && (
        <Empty title={t('None yet')} level={3}>
          <p>{tagKinds[kind].lesson}</p>
        </Empty>
      )}
      {tags.list.length > 0 && (
        <ul className="kh-rows" aria-label={title}>
          {tags.list.map((tag) => (
            <TagRow
              key={tag.tagId}
              kind={kind}
              tag={tag}
              taken={tags.list.map(({ tagName }) => tagName)}
              holders={holders?.filter(({ tagIds }) => tagIds.includes(tag.tagId))}
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface RowProps {
  readonly kind: TagKind;
  readonly tag: Tag;
  readonly taken: readonly string[];
  readonly holders: readonly Holder[] | undefined;
}

function TagRow({ kind, tag, taken, holders }: RowProps): ReactNode {
  const { tagId, tagName } = tag;
  const { nobody } = tagKinds[kind];
  const rpc = useRpc();
  const update = useUpdateTag(kind);
  const remove = useRemoveTag(kind);
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{visibleName(tagName)}</span>
        <br />
        <span className="kh-row-more">
          {holders?.length === 0 && nobody}
          {holders?.map(({ to, name }, index) => (
            <span key={to}>
              {index > 0 && ', '}
              <Link href={to} className="kh-link">
                {visibleName(name)}
              </Link>
            </span>
          ))}
        </span>
      </div>
      <Group gap="xs">
        <DialogButton
          name={t('Rename…')}
          label={t('Rename tag {{tagName}}', { tagName })}
          title={t('Rename tag')}
        >
          {(close) => (
            <RenameForm
              what="tag"
              name={tagName}
              taken={taken}
              submitting={update}
              onCancel={close}
              onRename={(newName) => {
                update.mutate(
                  { tagId, newName },
                  {
                    onSuccess() {
                      close();
                      sayDone({
                        title: t('Tag renamed'),
                        message: t('New name: “{{newName}}”', { newName }),
                        isAsDone: async () => (await tagNameOf(rpc, kind, tagId)) === newName,
                        undo: () => update.mutateAsync({ tagId, newName: tagName }),
                      });
                    },
                  },
                );
              }}
            />
          )}
        </DialogButton>
        <DialogButton
          name={t('Delete…')}
          label={t('Delete tag {{tagName}}', { tagName })}
          title={t('Delete “{{tagName}}”', { tagName })}
          danger
        >
          {(close) => (
            <DeleteForm
              what="tag"
              outcomes={[
                holders === undefined
                  ? t('The tag is removed everywhere.')
                  : holders.length === 0
                    ? t('The tag isn’t used.')
                    : kind === 'user'
                      ? t('Removed from {{count}} users, who stay as they are.', {
                          count: holders.length,
                        })
                      : t('Removed from {{count}} private keys, which stay as they are.', {
                          count: holders.length,
                        }),
                t('Policies that use this tag ignore a new tag with the same name.'),
              ]}
              {...(holders?.length === 0 ? {} : { confirm: { text: tagName, as: 'name' } })}
              submitting={remove}
              onCancel={close}
              onDelete={() => {
                remove.mutate(tagId, {
                  onSuccess() {
                    close();
                    notifications.show({
                      title: t('Tag deleted'),
                      message: t('“{{tagName}}”', { tagName }),
                    });
                  },
                });
              }}
            />
          )}
        </DialogButton>
      </Group>
    </li>
  );
}
