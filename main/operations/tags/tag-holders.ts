/** Finding tags, and putting them on users and private keys. */
import type { ActivityContext } from '../../activities/define.ts';
import { attachTag, getTagRow, type TagRow, type TagType } from '../../storage/tables/tags.ts';
import { KeyhearthError } from '../../lib/errors.ts';

/** The resource that each type of tag marks, in words. */
export const tagNouns = { TAG_TYPE_USER: 'user', TAG_TYPE_PRIVATE_KEY: 'private key' } as const;

export type TagContext = Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'random' | 'now'>;

export function findTag(
  { tx, organizationId }: TagContext,
  type: TagType,
  tagId: string,
  at: string,
): TagRow {
  const tag = getTagRow(tx, organizationId, type, tagId);
  if (tag) return tag;
  throw new KeyhearthError('NOT_FOUND', `invalid ${at}: there is no ${tagNouns[type]} tag ${tagId}`);
}

/**
 * Puts tags on something new or changed.
 * @param at The name of `tagIds` in the request, for errors.
 */
export function tagHolder(
  context: TagContext,
  type: TagType,
  holderId: string,
  tagIds: readonly string[],
  at: string,
): void {
  tagIds.forEach((tagId, index) => {
    attachTag(context.tx, findTag(context, type, tagId, `${at}[${String(index)}]`), holderId);
  });
}
