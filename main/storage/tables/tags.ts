/** Tags of users and of private keys. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

export type TagType = 'TAG_TYPE_USER' | 'TAG_TYPE_PRIVATE_KEY';

const tags = table('tags', {
  id: text,
  organizationId: text,
  type: text.of<TagType>(),
  name: text,
  createdAt: number,
  updatedAt: number,
});

export type TagRow = RowOf<typeof tags>;

/** A tag as the API shows one. */
export interface Tag {
  readonly tagId: string;
  readonly tagName: string;
  readonly tagType: TagType;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** The table and column of each type's attachments. */
const attachments = {
  TAG_TYPE_USER: { table: 'user_tags', column: 'user_id' },
  TAG_TYPE_PRIVATE_KEY: { table: 'private_key_tags', column: 'private_key_id' },
} as const satisfies Record<TagType, { table: string; column: string }>;

export const getTagRow = (
  tx: Reader,
  organizationId: string,
  type: TagType,
  id: string,
): TagRow | undefined =>
  tx.get<TagRow>(
    `SELECT ${tags.columns} FROM tags WHERE id = ? AND organization_id = ? AND type = ?`,
    id,
    organizationId,
    type,
  );

export const findTagByName = (
  tx: Reader,
  organizationId: string,
  type: TagType,
  name: string,
): TagRow | undefined =>
  tx.get<TagRow>(
    `SELECT ${tags.columns} FROM tags WHERE organization_id = ? AND type = ? AND name = ?`,
    organizationId,
    type,
    name,
  );

/** In the order of creation. */
export const listTagRows = (tx: Reader, organizationId: string, type: TagType): TagRow[] =>
  tx.all<TagRow>(
    `SELECT ${tags.columns} FROM tags WHERE organization_id = ? AND type = ? ORDER BY rowid`,
    organizationId,
    type,
  );

export const countTags = (tx: Reader, organizationId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM tags WHERE organization_id = ?', organizationId)
    ?.count ?? 0;

export const insertTag = tags.insert;

export function renameTag(tx: Writer, id: string, name: string, updatedAt: number): void {
  tx.run('UPDATE tags SET name = ?, updated_at = ? WHERE id = ?', name, updatedAt, id);
}

/** Lists the ids of what has a tag. */
export function listTagHolders(tx: Reader, { id, type }: Pick<TagRow, 'id' | 'type'>): string[] {
  const { table, column } = attachments[type];
  return tx
    .all<{ id: string }>(`SELECT ${column} AS id FROM ${table} WHERE tag_id = ?`, id)
    .map(({ id }) => id);
}

/** Removes a tag and takes it off everything. @returns the ids of what had it. */
export function deleteTag(tx: Writer, tag: Pick<TagRow, 'id' | 'type'>): string[] {
  const holders = listTagHolders(tx, tag);
  tx.run(`DELETE FROM ${attachments[tag.type].table} WHERE tag_id = ?`, tag.id);
  tx.run('DELETE FROM tags WHERE id = ?', tag.id);
  return holders;
}

/** Attaching twice is attaching once. */
export function attachTag(tx: Writer, { id, type }: Pick<TagRow, 'id' | 'type'>, holderId: string): void {
  const { table, column } = attachments[type];
  tx.run(`INSERT OR IGNORE INTO ${table} (${column}, tag_id) VALUES (?, ?)`, holderId, id);
}

export function detachTag(tx: Writer, { id, type }: Pick<TagRow, 'id' | 'type'>, holderId: string): void {
  const { table, column } = attachments[type];
  tx.run(`DELETE FROM ${table} WHERE ${column} = ? AND tag_id = ?`, holderId, id);
}

/** Takes every tag of a type off one holder. */
export function detachAllTags(tx: Writer, type: TagType, holderId: string): void {
  const { table, column } = attachments[type];
  tx.run(`DELETE FROM ${table} WHERE ${column} = ?`, holderId);
}

/** In the order of the tags' creation. */
export const listTagIdsOf = (tx: Reader, type: TagType, holderId: string): string[] => {
  const { table, column } = attachments[type];
  return tx
    .all<{
      id: string;
    }>(
      `SELECT tags.id FROM ${table} JOIN tags ON tags.id = tag_id WHERE ${column} = ? ORDER BY tags.rowid`,
      holderId,
    )
    .map(({ id }) => id);
};

/** Tags of all users of an organization, each user's in the order of the tags' creation. */
export const listUserTags = (
  tx: Reader,
  organizationId: string,
): readonly { readonly userId: string; readonly tagId: string }[] =>
  tx.keptAll(
    `SELECT user_id AS userId, tags.id AS tagId FROM tags JOIN user_tags ON tag_id = tags.id
     WHERE tags.organization_id = ? AND tags.type = 'TAG_TYPE_USER' ORDER BY tags.rowid`,
    organizationId,
  );

export const toTag = (row: TagRow): Tag => ({
  tagId: row.id,
  tagName: row.name,
  tagType: row.type,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});
