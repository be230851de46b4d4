/** Sub-organizations of an organization: finding them by what is in them, and taking one away with all that it holds. */
import type { Reader, Value, Writer } from '../connection.ts';
import type { Page } from '../page.ts';

const hasUser = (condition: string): string =>
  `EXISTS (SELECT 1 FROM users AS u WHERE u.organization_id = o.id AND ${condition})`;

/** Conditions on `o` that find them; each takes the values at its placeholders. */
const conditions = {
  all: 'TRUE',
  name: 'o.name = ?',
  userName: hasUser('u.name = ?'),
  email: hasUser('u.email = ? COLLATE NOCASE'),
  verifiedEmail: hasUser('u.email_verified_at IS NOT NULL AND u.email = ? COLLATE NOCASE'),
  anyVerifiedContact: hasUser('(u.email_verified_at IS NOT NULL OR u.phone_number_verified_at IS NOT NULL)'),
  phoneNumber: hasUser('u.phone_number = ?'),
  verifiedPhoneNumber: hasUser('u.phone_number_verified_at IS NOT NULL AND u.phone_number = ?'),
  credentialId: 'o.id IN (SELECT a.organization_id FROM authenticators AS a WHERE a.credential_id = ?)',
  publicKey: 'o.id IN (SELECT k.organization_id FROM api_keys AS k WHERE k.public_key = ?)',
  identity: `EXISTS (SELECT 1 FROM oauth_providers AS p
    WHERE p.organization_id = o.id AND p.issuer = ? AND p.audience = ? AND p.subject = ?)`,
  walletAccountAddress: `EXISTS (SELECT 1 FROM wallet_accounts AS w
    WHERE w.organization_id = o.id AND w.address = ?)`,
} as const;

/** 1 if a credential came with its sub-organization, by the parent's word; 0 if a user added it. */
export interface Founded {
  readonly founded: number;
}

/**
 * Makes the query for credentials in the sub-organizations of one, by their claim to what names them: those that came with
 * their sub-organization, then the oldest. A user who registers another's afterwards comes after it.
 * @param condition On the credential; its values come before the organization's id.
 */
export const belowByClaim = (
  table: 'api_keys' | 'authenticators',
  columns: string,
  condition: string,
  limit: number,
): string =>
  `SELECT ${columns},
     created_at = (SELECT o.created_at FROM organizations AS o WHERE o.id = organization_id) AS founded
   FROM ${table}
   WHERE ${condition} AND +organization_id IN (SELECT s.id FROM organizations AS s WHERE s.parent_id = ?)
   ORDER BY founded DESC, created_at, rowid LIMIT ${String(limit)}`;

/** The name of a condition, and its values. */
export type SubOrganizationFilter = readonly [by: keyof typeof conditions, ...values: readonly string[]];

/**
 * In the order of creation.
 * @returns undefined if the page's cursor is not a sub-organization of the organization.
 */
export function listSubOrganizationIds(
  tx: Reader,
  parentId: string,
  [by, ...values]: SubOrganizationFilter,
  page: Page,
): string[] | undefined {
  const after = page.after === undefined ? 0 : rowidOf(tx, parentId, page.after);
  const before = page.before === undefined ? Number.MAX_SAFE_INTEGER : rowidOf(tx, parentId, page.before);
  if (after === undefined || before === undefined) return undefined;
  // Before a cursor means the rows next to it, so they are taken from the end and put back in order.
  const backwards = page.before !== undefined && page.after === undefined;
  const ids = tx
    .all<{ id: string }>(
      `SELECT o.id AS id FROM organizations AS o
       WHERE o.parent_id = ? AND o.rowid > ? AND o.rowid < ? AND ${conditions[by]}
       ORDER BY o.rowid ${backwards ? 'DESC' : 'ASC'} LIMIT ?`,
      ...([parentId, after, before, ...values, page.limit] satisfies readonly Value[]),
    )
    .map(({ id }) => id);
  return backwards ? ids.reverse() : ids;
}

const rowidOf = (tx: Reader, parentId: string, id: string): number | undefined =>
  tx.get<{ position: number }>(
    'SELECT rowid AS position FROM organizations WHERE id = ? AND parent_id = ?',
    id,
    parentId,
  )?.position;

/**
 * Removes an organization and every row of it. Its activities stay, since the log is append-only. Deliveries
 * in progress continue.
 *
 * The schema says which tables have rows of it, so a table that is added later is included.
 */
export function deleteOrganization(tx: Writer, id: string): void {
  for (const { name } of tablesOfOrganizations(tx)) {
    tx.run(`DELETE FROM "${name}" WHERE organization_id = ?`, id);
  }
  tx.run('DELETE FROM organizations WHERE id = ?', id);
}

const tablesOfOrganizations = (tx: Reader): { readonly name: string }[] =>
  tx.all<{ name: string }>(
    `SELECT t.name AS name FROM pragma_table_list AS t
     WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT IN ('activities', 'vault', 'outbox', 'outbox_payloads')
       AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'organization_id')
     ORDER BY t.name`,
  );
