/** The webhook endpoints of an organization: named ones, and the one of its feature. */
import type { Reader, Writer } from '../connection.ts';
import { getOrganization } from './organizations.ts';
import { getVault } from './vault.ts';

export interface NewWebhookEndpoint {
  readonly id: string;
  readonly organizationId: string;
  /** 1 for the one that FEATURE_NAME_WEBHOOK names. */
  readonly feature: 0 | 1;
  readonly url: string;
  readonly name: string;
  readonly active: 0 | 1;
  /** JSON of its `WebhookSubscription`s. */
  readonly subscriptions: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface WebhookEndpointRow extends NewWebhookEndpoint {
  /**
   * Up to where in the log its events have come to an end, or have a row in `webhook_deliveries`; all it wants of what is
   * beyond waits. Null in a vault that was not unlocked since its version changed.
   */
  readonly position: number | null;
  /** The log's end when it was switched off. */
  readonly switchedOffAt: number | null;
  /** Since when it is known not to take anything; null where it does. */
  readonly failingSince: number | null;
}

export interface WebhookSubscription {
  readonly eventType: string;
  readonly filtersJson?: string | undefined;
  readonly isActive: boolean;
}

const columns = `id, organization_id AS organizationId, feature, url, name, active, subscriptions,
  created_at AS createdAt, updated_at AS updatedAt, place AS position, switched_off_at AS switchedOffAt, failing_since AS failingSince`;

const logEnd = '(SELECT coalesce(max(sequence), 0) FROM activities)';

export const getWebhookEndpoint = (tx: Reader, id: string): WebhookEndpointRow | undefined =>
  tx.get<WebhookEndpointRow>(`SELECT ${columns} FROM webhook_endpoints WHERE id = ?`, id);

/** Those of an organization, in the order of creation. */
export const listWebhookEndpoints = (tx: Reader, organizationId: string): WebhookEndpointRow[] =>
  tx.all<WebhookEndpointRow>(
    `SELECT ${columns} FROM webhook_endpoints WHERE organization_id = ? ORDER BY rowid`,
    organizationId,
  );

/**
 * Those that an organization's events go to: its own, and its parent's. An organization that was deleted just now was a
 * sub-organization of the vault's own.
 */
export function listEndpointsFor(tx: Reader, organizationId: string): WebhookEndpointRow[] {
  // This runs whenever the log grows, so it uses small queries: one in a vault without endpoints, and none
  // scans a table.
  if (tx.get('SELECT 1 FROM webhook_endpoints LIMIT 1') === undefined) return [];
  const own = listWebhookEndpoints(tx, organizationId);
  const organization = getOrganization(tx, organizationId);
  const above = organization === undefined ? getVault(tx)?.organizationId : organization.parentId;
  return above == null ? own : [...listWebhookEndpoints(tx, above), ...own];
}

/** It begins at the log's end. */
export function insertWebhookEndpoint(tx: Writer, row: NewWebhookEndpoint): void {
  tx.run(
    `INSERT INTO webhook_endpoints (id, organization_id, feature, url, name, active, subscriptions, created_at, updated_at, place)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ${logEnd})`,
    row.id,
    row.organizationId,
    row.feature,
    row.url,
    row.name,
    row.active,
    row.subscriptions,
    row.createdAt,
    row.updatedAt,
  );
}

/** Switched on again, it begins at the log's end. */
export function updateWebhookEndpoint(
  tx: Writer,
  {
    id,
    url,
    name,
    active,
    updatedAt,
  }: Pick<WebhookEndpointRow, 'id' | 'url' | 'name' | 'active' | 'updatedAt'>,
): void {
  tx.run(
    `UPDATE webhook_endpoints SET
       place = CASE WHEN active < ? THEN ${logEnd} ELSE place END,
       switched_off_at = CASE WHEN active > ? THEN ${logEnd} ELSE switched_off_at END
     WHERE id = ?`,
    active,
    active,
    id,
  );
  tx.run(
    'UPDATE webhook_endpoints SET url = ?, name = ?, active = ?, updated_at = ? WHERE id = ?',
    url,
    name,
    active,
    updatedAt,
    id,
  );
}

/**
 * Those of an organization, or all, whose events may wait, and when the first that failed of each is tried next; none that only
 * follows the log.
 */
export const listEndpointQueues = (
  tx: Reader,
  organizationId?: string,
): { readonly id: string; readonly organizationId: string; readonly nextAt: number | null }[] =>
  tx.all(
    // SQLite takes the other columns from the row that has the minimum.
    `SELECT e.id AS id, e.organization_id AS organizationId, d.next_at AS nextAt, min(d.sequence) AS first
     FROM webhook_endpoints AS e
     LEFT JOIN webhook_deliveries AS d INDEXED BY webhook_deliveries_waiting ON d.endpoint_id = e.id AND d.state = 'waiting'
     WHERE e.organization_id = coalesce(?, e.organization_id)
     GROUP BY e.id ORDER BY e.rowid`,
    organizationId ?? null,
  );

/** Those in use whose first event was tried and not taken. */
export const listFailingEndpoints = (tx: Reader): string[] =>
  tx
    .all<{ readonly id: string }>(
      'SELECT id FROM webhook_endpoints WHERE failing_since IS NOT NULL AND active = 1',
    )
    .map(({ id }) => id);

/**
 * Notes how far an endpoint has got, unless it was sent elsewhere since.
 * @returns whether it was noted.
 */
export const moveEndpoint = (
  tx: Writer,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): boolean => tx.run('UPDATE webhook_endpoints SET place = ? WHERE id = ? AND place = ?', to, id, from) > 0;

/** Moves an endpoint back to a position, unless it is there or before it: the later events are sent again. */
export const sendBack = (tx: Writer, id: string, position: number): void => {
  tx.run('UPDATE webhook_endpoints SET place = min(place, ?) WHERE id = ?', position, id);
};

export function noteFailing(tx: Writer, id: string, since: number | null): void {
  tx.run('UPDATE webhook_endpoints SET failing_since = ? WHERE id = ?', since, id);
}

/** Organizations whose feature names a URL, with that URL. */
export const listWebhookFeatures = (
  tx: Reader,
): { readonly organizationId: string; readonly url: string }[] =>
  tx.all(
    `SELECT organization_id AS organizationId, value AS url FROM organization_features WHERE name = 'FEATURE_NAME_WEBHOOK'`,
  );
