/** Organizations: the top one of the vault and, under it, its sub-organizations. */
import type { Reader, Writer } from './connection.ts';

export interface OrganizationRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly rootQuorumThreshold: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a decision begins with, in one row. */
export interface OrganizationRule {
  readonly parentId: string | null;
  readonly rootQuorumThreshold: number;
  /** Another whenever a policy is; null while there never was one. */
  readonly policiesMark: string | null;
}

export const getOrganizationRule = (tx: Reader, id: string): OrganizationRule | undefined =>
  tx.get<OrganizationRule>(
    `SELECT parent_id AS parentId, root_quorum_threshold AS rootQuorumThreshold, policies_mark AS policiesMark
     FROM organizations WHERE id = ?`,
    id,
  );

export const getOrganization = (tx: Reader, id: string): OrganizationRow | undefined =>
  tx.get<OrganizationRow>(
    `SELECT id, parent_id AS parentId, name, root_quorum_threshold AS rootQuorumThreshold,
       created_at AS createdAt, updated_at AS updatedAt
     FROM organizations WHERE id = ?`,
    id,
  );

export function renameOrganization(tx: Writer, id: string, name: string, updatedAt: number): void {
  tx.run('UPDATE organizations SET name = ?, updated_at = ? WHERE id = ?', name, updatedAt, id);
}

export function insertOrganization(tx: Writer, row: OrganizationRow): void {
  tx.run(
    `INSERT INTO organizations (id, parent_id, name, root_quorum_threshold, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    row.id,
    row.parentId,
    row.name,
    row.rootQuorumThreshold,
    row.createdAt,
    row.updatedAt,
  );
}
