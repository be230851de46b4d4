/** Policies: rules that allow or deny activities, in the policy language. */
import { timestamp, type Timestamp } from '../../lib/clock.ts';
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const policies = table('policies', {
  id: text,
  organizationId: text,
  name: text,
  effect: text.of<'EFFECT_ALLOW' | 'EFFECT_DENY'>(),
  /** Expressions; empty for one that always holds. */
  condition: text,
  consensus: text,
  /** When the policy is in force; null for always. */
  time: text.orNull,
  notes: text,
  createdAt: number,
  updatedAt: number,
});

export type PolicyRow = RowOf<typeof policies>;

/** A policy as the API shows one. */
export interface Policy {
  readonly policyId: string;
  readonly policyName: string;
  readonly effect: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly notes: string;
  readonly consensus: string;
  readonly condition: string;
  readonly time?: string;
}

export const getPolicyRow = (tx: Reader, organizationId: string, id: string): PolicyRow | undefined =>
  tx.get<PolicyRow>(
    `SELECT ${policies.columns} FROM policies WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

/** In the order of creation. */
export const listPolicyRows = (tx: Reader, organizationId: string): PolicyRow[] =>
  tx.all<PolicyRow>(
    `SELECT ${policies.columns} FROM policies WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

/** Of all organizations. */
export const listPolicyRowsWithNotes = (tx: Reader, notes: string): PolicyRow[] =>
  tx.all<PolicyRow>(`SELECT ${policies.columns} FROM policies WHERE notes = ?`, notes);

export const insertPolicy = policies.insert;

/** Writes what of a policy can change. */
export function updatePolicyRow(tx: Writer, row: PolicyRow): void {
  tx.run(
    `UPDATE policies SET name = ?, effect = ?, condition = ?, consensus = ?, time = ?, notes = ?, updated_at = ?
     WHERE id = ?`,
    row.name,
    row.effect,
    row.condition,
    row.consensus,
    row.time,
    row.notes,
    row.updatedAt,
    row.id,
  );
}

export function deletePolicyRow(tx: Writer, id: string): void {
  tx.run('DELETE FROM policies WHERE id = ?', id);
}

export const findPolicyByName = (tx: Reader, organizationId: string, name: string): PolicyRow | undefined =>
  tx.get<PolicyRow>(
    `SELECT ${policies.columns} FROM policies WHERE organization_id = ? AND name = ?`,
    organizationId,
    name,
  );

export const toPolicy = (row: PolicyRow): Policy => ({
  policyId: row.id,
  policyName: row.name,
  effect: row.effect,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
  notes: row.notes,
  consensus: row.consensus,
  condition: row.condition,
  ...(row.time === null ? {} : { time: row.time }),
});
