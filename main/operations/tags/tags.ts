/** Tags of users and of private keys: the same life twice, under the names that each has on the wire. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { getPrivateKeyRow } from '../../storage/tables/private-keys.ts';
import {
  attachTag,
  countTags,
  deleteTag,
  detachTag,
  findTagByName,
  insertTag,
  listTagHolders,
  listTagRows,
  renameTag,
  toTag,
  type TagRow,
  type TagType,
} from '../../storage/tables/tags.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { limits } from '../shared/limits.ts';
import {
  checkDistinct,
  checkLimit,
  checkUnmistakable,
  id,
  ids,
  name,
  nameTaken,
} from '../shared/parameters.ts';
import { findTag, tagNouns, type TagContext } from './tag-holders.ts';
import { shownTag, uuid, uuids } from '../shared/resources.ts';

const holderExists = {
  TAG_TYPE_USER: getUserRow,
  TAG_TYPE_PRIVATE_KEY: getPrivateKeyRow,
} as const satisfies Record<TagType, (tx: Reader, organizationId: string, id: string) => unknown>;

export const createUserTag = activity({
  path: 'create_user_tag',
  summary: 'Makes a user tag and attaches it to users.',
  title: 'Create a user tag',
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  intent: 'createUserTagIntent',
  result: 'createUserTagResult',
  authority: { resource: 'USER', action: 'CREATE', concerns: ({ params: { userIds } }) => userIds },
  params: z.object({ userTagName: name, userIds: ids }),
  returns: z.object({ userTagId: uuid, userIds: uuids }),
  run(context) {
    const { userTagName, userIds } = context.params;
    const tag = createTag(context, 'TAG_TYPE_USER', userTagName, 'parameters.userTagName');
    attach(context, tag, userIds, 'parameters.userIds');
    return { userTagId: tag.id, userIds };
  },
});

export const createPrivateKeyTag = activity({
  path: 'create_private_key_tag',
  summary: 'Makes a private key tag and attaches it to keys.',
  title: 'Create a private key tag',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
  intent: 'createPrivateKeyTagIntent',
  result: 'createPrivateKeyTagResult',
  authority: { resource: 'PRIVATE_KEY', action: 'CREATE' },
  params: z.object({ privateKeyTagName: name, privateKeyIds: ids }),
  returns: z.object({ privateKeyTagId: uuid, privateKeyIds: uuids }),
  run(context) {
    const { privateKeyTagName, privateKeyIds } = context.params;
    const tag = createTag(context, 'TAG_TYPE_PRIVATE_KEY', privateKeyTagName, 'parameters.privateKeyTagName');
    attach(context, tag, privateKeyIds, 'parameters.privateKeyIds');
    return { privateKeyTagId: tag.id, privateKeyIds };
  },
});

export const updateUserTag = activity({
  path: 'update_user_tag',
  summary: 'Renames a user tag, attaches it and detaches it, all at once.',
  title: 'Update a user tag',
  type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
  intent: 'updateUserTagIntent',
  result: 'updateUserTagResult',
  authority: {
    resource: 'USER',
    action: 'UPDATE',
    changesRights: true,
    concerns: ({ params: { addUserIds, removeUserIds } }) => [...addUserIds, ...removeUserIds],
  },
  params: z.object({
    userTagId: id,
    newUserTagName: name.optional(),
    addUserIds: ids.default([]),
    removeUserIds: ids.default([]),
  }),
  returns: z.object({ userTagId: uuid }),
  run(context) {
    const { userTagId, newUserTagName, addUserIds, removeUserIds } = context.params;
    const tag = findTag(context, 'TAG_TYPE_USER', userTagId, 'parameters.userTagId');
    rename(context, tag, newUserTagName, 'parameters.newUserTagName');
    attach(context, tag, addUserIds, 'parameters.addUserIds');
    detach(context, tag, removeUserIds, 'parameters.removeUserIds');
    return { userTagId };
  },
});

export const updatePrivateKeyTag = activity({
  path: 'update_private_key_tag',
  summary: 'Renames a private key tag, attaches it and detaches it, all at once.',
  title: 'Update a private key tag',
  type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
  intent: 'updatePrivateKeyTagIntent',
  result: 'updatePrivateKeyTagResult',
  authority: { resource: 'PRIVATE_KEY', action: 'UPDATE', changesRights: true },
  params: z.object({
    privateKeyTagId: id,
    newPrivateKeyTagName: name.optional(),
    addPrivateKeyIds: ids.default([]),
    removePrivateKeyIds: ids.default([]),
  }),
  returns: z.object({ privateKeyTagId: uuid }),
  run(context) {
    const { privateKeyTagId, newPrivateKeyTagName, addPrivateKeyIds, removePrivateKeyIds } = context.params;
    const tag = findTag(context, 'TAG_TYPE_PRIVATE_KEY', privateKeyTagId, 'parameters.privateKeyTagId');
    rename(context, tag, newPrivateKeyTagName, 'parameters.newPrivateKeyTagName');
    attach(context, tag, addPrivateKeyIds, 'parameters.addPrivateKeyIds');
    detach(context, tag, removePrivateKeyIds, 'parameters.removePrivateKeyIds');
    return { privateKeyTagId };
  },
});

export const deleteUserTags = activity({
  path: 'delete_user_tags',
  summary: 'Deletes user tags; the users stay.',
  title: 'Delete user tags',
  type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
  intent: 'deleteUserTagsIntent',
  result: 'deleteUserTagsResult',
  authority: {
    resource: 'USER',
    action: 'DELETE',
    changesRights: true,
    concerns: ({ tx, params: { userTagIds } }) =>
      userTagIds.flatMap((tagId) => listTagHolders(tx, { id: tagId, type: 'TAG_TYPE_USER' })),
  },
  params: z.object({ userTagIds: ids.min(1) }),
  returns: z.object({ userTagIds: uuids, userIds: uuids }),
  run(context) {
    const { userTagIds } = context.params;
    return { userTagIds, userIds: deleteTags(context, 'TAG_TYPE_USER', userTagIds, 'parameters.userTagIds') };
  },
});

export const deletePrivateKeyTags = activity({
  path: 'delete_private_key_tags',
  summary: 'Deletes private key tags; the keys stay.',
  title: 'Delete private key tags',
  type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
  intent: 'deletePrivateKeyTagsIntent',
  result: 'deletePrivateKeyTagsResult',
  authority: { resource: 'PRIVATE_KEY', action: 'DELETE', changesRights: true },
  params: z.object({ privateKeyTagIds: ids.min(1) }),
  returns: z.object({ privateKeyTagIds: uuids, privateKeyIds: uuids }),
  run(context) {
    const { privateKeyTagIds } = context.params;
    const at = 'parameters.privateKeyTagIds';
    return {
      privateKeyTagIds,
      privateKeyIds: deleteTags(context, 'TAG_TYPE_PRIVATE_KEY', privateKeyTagIds, at),
    };
  },
});

export const listUserTags = query({
  path: 'list_user_tags',
  summary: 'Lists all user tags.',
  params: z.object({}),
  returns: z.object({ userTags: z.array(shownTag) }),
  run: ({ tx, organizationId }) => ({
    userTags: listTagRows(tx, organizationId, 'TAG_TYPE_USER').map(toTag),
  }),
});

export const listPrivateKeyTags = query({
  path: 'list_private_key_tags',
  summary: 'Lists all private key tags.',
  params: z.object({}),
  returns: z.object({ privateKeyTags: z.array(shownTag) }),
  run: ({ tx, organizationId }) => ({
    privateKeyTags: listTagRows(tx, organizationId, 'TAG_TYPE_PRIVATE_KEY').map(toTag),
  }),
});

function createTag(context: TagContext, type: TagType, tagName: string, at: string): TagRow {
  const { tx, organizationId, random, now } = context;
  const isSubOrganization = (getOrganization(tx, organizationId)?.parentId ?? null) !== null;
  const limit = isSubOrganization ? limits.tagsPerSubOrganization : limits.tagsPerOrganization;
  checkLimit(tx, 'tags', countTags(tx, organizationId), 1, limit);
  checkNameFree(context, type, tagName, at);
  const tag = {
    id: uuidV4(random('tag', 16)),
    organizationId,
    type,
    name: tagName,
    createdAt: now,
    updatedAt: now,
  };
  insertTag(tx, tag);
  return tag;
}

function checkNameFree({ tx, organizationId }: TagContext, type: TagType, tagName: string, at: string): void {
  const label = `${tagNouns[type]} tag name`;
  if (findTagByName(tx, organizationId, type, tagName)) throw nameTaken(at, label, tagName);
  checkUnmistakable(at, label, tagName, () => listTagRows(tx, organizationId, type));
}

function rename(context: TagContext, tag: TagRow, newName: string | undefined, at: string): void {
  if (newName === undefined || newName === tag.name) return;
  checkNameFree(context, tag.type, newName, at);
  renameTag(context.tx, tag.id, newName, context.now);
}

function attach(context: TagContext, tag: TagRow, holderIds: readonly string[], at: string): void {
  checkHolders(context, tag.type, holderIds, at);
  for (const holderId of holderIds) attachTag(context.tx, tag, holderId);
}

function detach(context: TagContext, tag: TagRow, holderIds: readonly string[], at: string): void {
  checkHolders(context, tag.type, holderIds, at);
  for (const holderId of holderIds) detachTag(context.tx, tag, holderId);
}

function checkHolders(
  { tx, organizationId }: TagContext,
  type: TagType,
  holderIds: readonly string[],
  at: string,
): void {
  const missing = holderIds.findIndex(
    (holderId) => holderExists[type](tx, organizationId, holderId) === undefined,
  );
  if (missing === -1) return;
  throw new KeyhearthError(
    'NOT_FOUND',
    `invalid ${at}[${String(missing)}]: unable to find ${tagNouns[type]} ${String(holderIds[missing])}`,
  );
}

/** @returns the ids of what had one of the tags, each once. */
function deleteTags(context: TagContext, type: TagType, tagIds: readonly string[], at: string): string[] {
  checkDistinct(at, tagIds);
  const holders = tagIds.flatMap((tagId, index) =>
    deleteTag(context.tx, findTag(context, type, tagId, `${at}[${String(index)}]`)),
  );
  return [...new Set(holders)];
}
