/** Tags, of which there are two kinds with one life: what each is called on the wire, and how React uses them. */

import type { Tag } from './resources.ts';
import { t } from './text.ts';
import { useAsk, useSubmit } from './vault.tsx';
import type { Submit, UseSubmit } from './vault.tsx';

export type TagKind = 'privateKey' | 'user';

interface Change {
  readonly newName?: string;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

interface MadeTag {
  readonly privateKeyTagId?: string;
  readonly userTagId?: string;
}

interface KindOfTag {
  /** What is said of it where its kind matters. */
  readonly lesson: string;
  readonly unique: string;
  readonly made: (name: string) => string;
  readonly nobody: string;
  readonly already: string;
  readonly none: string;
  readonly list: string;
  /** The key of the list in its answer. */
  readonly listed: string;
  readonly create: Submit;
  readonly createWith: (name: string, holderIds: readonly string[]) => object;
  /** Of the tag that `create` answers. */
  readonly madeTagId: (result: MadeTag) => string;
  readonly update: Submit;
  readonly updateWith: (tagId: string, change: Change) => object;
  readonly remove: Submit;
  readonly removeWith: (tagId: string) => object;
}

export const tagKinds: Readonly<Record<TagKind, KindOfTag>> = {
  privateKey: {
    lesson: t(
      'A tag lets you name several private keys at once, and find them again in a list. Make one below, or on a private key’s own page.',
    ),
    unique: t('Unique among the tags of private keys.'),
    made: (name) => t('“{{name}}”, for private keys.', { name }),
    nobody: t('No private key has it'),
    already: t('This private key has this tag already.'),
    none: t('No tag yet. Tags sort private keys into groups.'),
    list: 'list_private_key_tags',
    listed: 'privateKeyTags',
    create: {
      operation: 'create_private_key_tag',
      type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
      result: 'createPrivateKeyTagResult',
    },
    createWith: (privateKeyTagName, privateKeyIds) => ({ privateKeyTagName, privateKeyIds }),
    madeTagId: ({ privateKeyTagId = '' }) => privateKeyTagId,
    update: {
      operation: 'update_private_key_tag',
      type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
      result: 'updatePrivateKeyTagResult',
    },
    updateWith: (privateKeyTagId, { newName, add = [], remove = [] }) => ({
      privateKeyTagId,
      ...(newName === undefined ? {} : { newPrivateKeyTagName: newName }),
      addPrivateKeyIds: add,
      removePrivateKeyIds: remove,
    }),
    remove: {
      operation: 'delete_private_key_tags',
      type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
      result: 'deletePrivateKeyTagsResult',
    },
    removeWith: (tagId) => ({ privateKeyTagIds: [tagId] }),
  },
  user: {
    lesson: t(
      'A tag lets you name several users at once, and find them again in a list. Make one below, or on a user’s own page.',
    ),
    unique: t('Unique among the tags of users.'),
    made: (name) => t('“{{name}}”, for users.', { name }),
    nobody: t('No user has it'),
    already: t('This user has this tag already.'),
    none: t('No tag yet. Tags sort users into groups.'),
    list: 'list_user_tags',
    listed: 'userTags',
    create: {
      operation: 'create_user_tag',
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      result: 'createUserTagResult',
    },
    createWith: (userTagName, userIds) => ({ userTagName, userIds }),
    madeTagId: ({ userTagId = '' }) => userTagId,
    update: {
      operation: 'update_user_tag',
      type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
      result: 'updateUserTagResult',
    },
    updateWith: (userTagId, { newName, add = [], remove = [] }) => ({
      userTagId,
      ...(newName === undefined ? {} : { newUserTagName: newName }),
      addUserIds: add,
      removeUserIds: remove,
    }),
    remove: {
      operation: 'delete_user_tags',
      type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
      result: 'deleteUserTagsResult',
    },
    removeWith: (tagId) => ({ userTagIds: [tagId] }),
  },
};

interface Tags {
  readonly list: readonly Tag[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function useTags(kind: TagKind): Tags {
  const { data, error, isPending, refetch } = useAsk<Readonly<Record<string, readonly Tag[]>>>(
    tagKinds[kind].list,
  );
  return {
    list: data?.[tagKinds[kind].listed] ?? [],
    isPending,
    error,
    retry: () => void refetch(),
  };
}

export const useCreateTag = (kind: TagKind): UseSubmit<object, MadeTag> =>
  useSubmit<object, MadeTag>(tagKinds[kind].create);
export const useUpdateTag = (kind: TagKind): UseSubmit<object, unknown> =>
  useSubmit<object, unknown>(tagKinds[kind].update);
export const useRemoveTag = (kind: TagKind): UseSubmit<object, unknown> =>
  useSubmit<object, unknown>(tagKinds[kind].remove);
