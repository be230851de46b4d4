/** Tags, of which there are two kinds with one life: what each is called on the wire, and how React uses them. */

import { useMutation } from '@tanstack/react-query';
import type { UseMutationResult } from '@tanstack/react-query';
import type { WindowRpc } from '../../../preload/contract.ts';
import type { Tag } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import { queryApi, useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';

export type TagKind = 'privateKey' | 'user';

interface KindOfTag {
  /** Texts that depend on its kind. */
  readonly lesson: string;
  readonly unique: string;
  readonly made: (name: string) => string;
  readonly nobody: string;
  readonly already: string;
  readonly none: string;
}

export const tagKinds: Readonly<Record<TagKind, KindOfTag>> = {
  privateKey: {
    lesson: t('Tags group private keys. Create one here or on a private key’s page.'),
    unique: t('A unique name.'),
    made: (name) => t('“{{name}}”, for private keys.', { name }),
    nobody: t('Not used'),
    already: t('This private key already has this tag.'),
    none: t('No tags yet.'),
  },
  user: {
    lesson: t('Tags group users. Create one here or on a user’s page.'),
    unique: t('A unique name.'),
    made: (name) => t('“{{name}}”, for users.', { name }),
    nobody: t('Not used'),
    already: t('This user already has this tag.'),
    none: t('No tags yet.'),
  },
};

interface Tags {
  readonly list: readonly Tag[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function useTags(kind: TagKind): Tags {
  const ofKeys = useApiQuery('list_private_key_tags', kind === 'privateKey' ? {} : null);
  const ofUsers = useApiQuery('list_user_tags', kind === 'user' ? {} : null);
  const { error, isPending, refetch } = kind === 'user' ? ofUsers : ofKeys;
  return {
    list: (kind === 'user' ? ofUsers.data?.userTags : ofKeys.data?.privateKeyTags) ?? [],
    isPending,
    error,
    retry: () => void refetch(),
  };
}

/** The name that the tag has now, asked of the vault; undefined where it is gone. */
export async function tagNameOf(rpc: WindowRpc, kind: TagKind, tagId: string): Promise<string | undefined> {
  const tags =
    kind === 'user'
      ? (await queryApi(rpc, 'list_user_tags', {})).userTags
      : (await queryApi(rpc, 'list_private_key_tags', {})).privateKeyTags;
  return tags.find((tag) => tag.tagId === tagId)?.tagName;
}

/** The ids of all that have the tag, asked of the vault. */
export async function holdersOf(rpc: WindowRpc, kind: TagKind, tagId: string): Promise<readonly string[]> {
  if (kind === 'user') {
    const { users } = await queryApi(rpc, 'list_users', {});
    return users.filter(({ userTags }) => userTags.includes(tagId)).map(({ userId }) => userId);
  }
  const { privateKeys } = await queryApi(rpc, 'list_private_keys', {});
  return privateKeys
    .filter(({ privateKeyTags }) => privateKeyTags.includes(tagId))
    .map(({ privateKeyId }) => privateKeyId);
}

interface NewTag {
  readonly name: string;
  readonly holderIds: readonly string[];
}

/** Answers the tag's id. */
export function useCreateTag(kind: TagKind): UseMutationResult<string, Error, NewTag> {
  const ofKeys = useSubmit('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG');
  const ofUsers = useSubmit('ACTIVITY_TYPE_CREATE_USER_TAG');
  return useMutation({
    mutationFn: async ({ name, holderIds }: NewTag) =>
      kind === 'user'
        ? (await ofUsers.mutateAsync({ userTagName: name, userIds: holderIds })).result.userTagId
        : (await ofKeys.mutateAsync({ privateKeyTagName: name, privateKeyIds: holderIds })).result
            .privateKeyTagId,
  });
}

/** A change of a tag: its name, or its holders. */
interface TagChange {
  readonly tagId: string;
  readonly newName?: string;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

export function useUpdateTag(kind: TagKind): UseMutationResult<unknown, Error, TagChange> {
  const ofKeys = useSubmit('ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG');
  const ofUsers = useSubmit('ACTIVITY_TYPE_UPDATE_USER_TAG');
  return useMutation({
    mutationFn: ({ tagId, newName, add, remove }: TagChange): Promise<unknown> =>
      kind === 'user'
        ? ofUsers.mutateAsync({
            userTagId: tagId,
            newUserTagName: newName,
            addUserIds: add,
            removeUserIds: remove,
          })
        : ofKeys.mutateAsync({
            privateKeyTagId: tagId,
            newPrivateKeyTagName: newName,
            addPrivateKeyIds: add,
            removePrivateKeyIds: remove,
          }),
  });
}

/** Takes a tag's id. */
export function useRemoveTag(kind: TagKind): UseMutationResult<unknown, Error, string> {
  const ofKeys = useSubmit('ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS');
  const ofUsers = useSubmit('ACTIVITY_TYPE_DELETE_USER_TAGS');
  return useMutation({
    mutationFn: (tagId: string): Promise<unknown> =>
      kind === 'user'
        ? ofUsers.mutateAsync({ userTagIds: [tagId] })
        : ofKeys.mutateAsync({ privateKeyTagIds: [tagId] }),
  });
}
