import { useRef, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { ActionIcon, Autocomplete, Button, Group, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { longestName } from '../../ui/text/names.ts';
import { Panel } from '../../ui/page.tsx';
import type { Tag } from '../../app/rpc/resources.ts';
import { Failure } from '../../ui/feedback.tsx';
import { holdersOf, tagKinds, useCreateTag, useRemoveTag, useTags, useUpdateTag } from './tag-queries.ts';
import type { TagKind } from './tag-queries.ts';
import { t } from '../../app/i18n/text.ts';
import { areSame } from '../../app/meanwhile.tsx';
import { useRpc } from '../../app/rpc/vault.tsx';
import { sayDone } from '../../app/shell/undo.tsx';
import '../../ui/rows.css';

interface EditorProps {
  readonly kind: TagKind;
  readonly tagIds: readonly string[];
  readonly holderId: string;
}

/** The tags of one key or user, put on and taken off one at a time. */
export function TagEditor({ kind, holderId, tagIds }: EditorProps): ReactNode {
  const { already, none } = tagKinds[kind];
  const rpc = useRpc();
  const tags = useTags(kind);
  const create = useCreateTag(kind);
  const update = useUpdateTag(kind);
  const remove = useRemoveTag(kind);
  const [typed, setTyped] = useState('');
  const [listed, setListed] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const present = tags.list.filter(({ tagId }) => tagIds.includes(tagId));
  const others = tags.list.filter(({ tagId }) => !tagIds.includes(tagId));
  const name = typed.trim();
  const known = tags.list.find(({ tagName }) => tagName === name);
  const problem = known !== undefined && tagIds.includes(known.tagId) ? already : null;

  const isTagged = async (tagId: string): Promise<boolean> =>
    (await holdersOf(rpc, kind, tagId)).includes(holderId);
  const put = (event: SyntheticEvent) => {
    event.preventDefault();
    if (name === '') field.current?.focus();
    if (name === '' || problem !== null) return;
    // It would stand before the notice of what was done.
    setListed(false);
    if (known === undefined) {
      create.mutate(
        { name, holderIds: [holderId] },
        {
          onSuccess(tagId) {
            setTyped('');
            sayDone({
              title: t('Tag {{name}} added.', { name }),
              message: t('The tag is new.'),
              // The whole tag goes: another person may have put it on others since.
              isAsDone: async () => areSame(await holdersOf(rpc, kind, tagId), [holderId]),
              undo: () => remove.mutateAsync(tagId),
            });
          },
        },
      );
      return;
    }
    const { tagId } = known;
    update.mutate(
      { tagId, add: [holderId] },
      {
        onSuccess() {
          setTyped('');
          sayDone({
            title: t('Tag {{name}} added.', { name }),
            isAsDone: () => isTagged(tagId),
            undo: () => update.mutateAsync({ tagId, remove: [holderId] }),
          });
        },
      },
    );
  };
  const takeOff = ({ tagId, tagName }: Tag) => {
    update.mutate(
      { tagId, remove: [holderId] },
      {
        onSuccess() {
          sayDone({
            title: t('Tag {{tagName}} removed.', { tagName }),
            isAsDone: async () => !(await isTagged(tagId)),
            undo: () => update.mutateAsync({ tagId, add: [holderId] }),
          });
          // The button that had the focus is gone.
          field.current?.focus();
        },
      },
    );
  };

  return (
    <Panel title={t('Tags')}>
      <Stack gap="md">
        {present.length === 0 ? (
          <Text c="dimmed" size="sm">
            {tags.isPending ? t('Loading tags…') : none}
          </Text>
        ) : (
          <ul className="kh-tags" aria-label={t('Tags')}>
            {present.map((tag) => (
              <li key={tag.tagId} className="kh-badge kh-tag">
                {visibleName(tag.tagName)}
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={24}
                  aria-label={t('Remove tag {{tagName}}', { tagName: tag.tagName })}
                  data-hint={t('Remove tag')}
                  disabled={update.isPending}
                  onClick={() => {
                    takeOff(tag);
                  }}
                >
                  <IconX size={14} aria-hidden />
                </ActionIcon>
              </li>
            ))}
          </ul>
        )}
        <form onSubmit={put} noValidate>
          <Group gap="sm" align="end">
            <Autocomplete
              label={t('Add tag')}
              placeholder={t('Existing or new')}
              autoComplete="off"
              maxLength={longestName}
              flex="1 1 14rem"
              maw={360}
              ref={field}
              data={others.map(({ tagName }) => tagName)}
              dropdownOpened={listed}
              onDropdownOpen={() => {
                setListed(true);
              }}
              onDropdownClose={() => {
                setListed(false);
              }}
              value={typed}
              error={problem}
              onChange={setTyped}
            />
            <Button type="submit" variant="default" loading={create.isPending || update.isPending}>
              {known === undefined && name !== '' ? t('Create and add') : t('Add tag')}
            </Button>
          </Group>
        </form>
        <Failure title={t('Couldn’t load the tags')} error={tags.error} onRetry={tags.retry} />
        <Failure title={t('Couldn’t change the tags')} error={create.error ?? update.error} />
      </Stack>
    </Panel>
  );
}
