/** Organizations: the top one of the vault and, under it, its sub-organizations. */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const organizations = table('organizations', {
  id: text,
  parentId: text.orNull,
  name: text,
  rootQuorumThreshold: number,
  createdAt: number,
  updatedAt: number,
});

export type OrganizationRow = RowOf<typeof organizations>;

/** The start of a decision, in one row. */
export interface OrganizationRule {
  readonly parentId: string | null;
  readonly rootQuorumThreshold: number;
  /** Another whenever a policy is; null while there never was one. */
  readonly policiesMark: string | null;
}

export const getOrganizationRule = (tx: Reader, id: string): OrganizationRule | undefined =>
  tx.kept<OrganizationRule>(
    `SELECT parent_id AS parentId, root_quorum_threshold AS rootQuorumThreshold, policies_mark AS policiesMark
     FROM organizations WHERE id = ?`,
    id,
  );

export const getOrganization = (tx: Reader, id: string): OrganizationRow | undefined =>
  tx.kept<OrganizationRow>(`SELECT ${organizations.columns} FROM organizations WHERE id = ?`, id);

export function renameOrganization(tx: Writer, id: string, name: string, updatedAt: number): void {
  tx.run('UPDATE organizations SET name = ?, updated_at = ? WHERE id = ?', name, updatedAt, id);
}

export const insertOrganization = organizations.insert;
