/** Organization features: settings by name, each with a text. */
import type { Reader, Writer } from '../connection.ts';

/** A feature as the API shows one. */
export interface Feature {
  readonly name: string;
  readonly value: string;
}

export const getFeature = (tx: Reader, organizationId: string, name: string): Feature | undefined =>
  tx.get<Feature>(
    'SELECT name, value FROM organization_features WHERE organization_id = ? AND name = ?',
    organizationId,
    name,
  );

/** In the order in which they were first set. */
export const listFeatures = (tx: Reader, organizationId: string): Feature[] =>
  tx.all<Feature>(
    'SELECT name, value FROM organization_features WHERE organization_id = ? ORDER BY rowid',
    organizationId,
  );

export function setFeature(tx: Writer, organizationId: string, { name, value }: Feature, now: number): void {
  tx.run(
    `INSERT INTO organization_features (organization_id, name, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
    organizationId,
    name,
    value,
    now,
    now,
  );
}

export function removeFeature(tx: Writer, organizationId: string, name: string): void {
  tx.run('DELETE FROM organization_features WHERE organization_id = ? AND name = ?', organizationId, name);
}
