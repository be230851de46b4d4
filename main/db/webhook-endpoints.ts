/** Where an organization has its events sent: endpoints by name, and the one of its feature. */
import type { Reader, Writer } from './connection.ts';
import { getOrganization } from './organizations.ts';
import { getVault } from './vault.ts';

export interface WebhookEndpointRow {
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

export interface WebhookSubscription {
  readonly eventType: string;
  readonly filtersJson?: string | undefined;
  readonly isActive: boolean;
}

const columns = `id, organization_id AS organizationId, feature, url, name, active, subscriptions,
  created_at AS createdAt, updated_at AS updatedAt`;

/** The kind of its deliveries in the outbox, and the lane of one endpoint's. */
export const webhookKind = 'webhook';
export const webhookLane = (endpointId: string): string => `${webhookKind} ${endpointId}`;

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
  // Asked for each row of the log, so in small questions: a vault without endpoints is asked one, and none goes over a table.
  if (tx.get('SELECT 1 FROM webhook_endpoints LIMIT 1') === undefined) return [];
  const own = listWebhookEndpoints(tx, organizationId);
  const organization = getOrganization(tx, organizationId);
  const above = organization === undefined ? getVault(tx)?.organizationId : organization.parentId;
  return above == null ? own : [...listWebhookEndpoints(tx, above), ...own];
}

export function insertWebhookEndpoint(tx: Writer, row: WebhookEndpointRow): void {
  tx.run(
    `INSERT INTO webhook_endpoints (id, organization_id, feature, url, name, active, subscriptions, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    'UPDATE webhook_endpoints SET url = ?, name = ?, active = ?, updated_at = ? WHERE id = ?',
    url,
    name,
    active,
    updatedAt,
    id,
  );
}

export function deleteWebhookEndpoint(tx: Writer, id: string): void {
  tx.run('DELETE FROM webhook_endpoints WHERE id = ?', id);
}

/** Organizations whose feature names a URL, with that URL. */
export const listWebhookFeatures = (
  tx: Reader,
): { readonly organizationId: string; readonly url: string }[] =>
  tx.all(
    `SELECT organization_id AS organizationId, value AS url FROM organization_features WHERE name = 'FEATURE_NAME_WEBHOOK'`,
  );

/** What a delivery of a webhook brings: a revision of an activity, by its place in the log. */
export interface WebhookReference {
  readonly endpointId: string;
  readonly sequence: number;
  readonly activityId: string;
  readonly type: string;
  readonly status: string;
}

export const readWebhookReference = (reference: string): WebhookReference =>
  JSON.parse(reference) as WebhookReference;
