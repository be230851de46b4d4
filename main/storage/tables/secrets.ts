/** Secrets: values that programs need, such as a password or a token; sealed, with what policies may know of them. */
import type { Reader, Writer } from '../connection.ts';
import { isBackwards, type Page } from '../page.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const secrets = table('secrets', {
  id: text,
  organizationId: text,
  name: text.orNull,
  /** JSON of pairs of `key` and `value`, in the order of the request. */
  staticProperties: text,
  /** The value, sealed. */
  sealed: blob,
  createdAt: number,
  updatedAt: number,
});

export type SecretRow = RowOf<typeof secrets>;

/** The columns of lists: values are long, and stay where they are. */
export type ListedSecret = Omit<SecretRow, 'sealed' | 'organizationId' | 'updatedAt'>;

const listed = 'id, name, static_properties AS staticProperties, created_at AS createdAt';

export const secretsTable = 'secrets';

export const getSecretRow = (tx: Reader, organizationId: string, id: string): SecretRow | undefined =>
  tx.get<SecretRow>(
    `SELECT ${secrets.columns} FROM secrets WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );

export const countSecrets = (tx: Reader, organizationId: string): number =>
  tx.get<{ count: number }>('SELECT count(*) AS count FROM secrets WHERE organization_id = ?', organizationId)
    ?.count ?? 0;

/** The names that are taken. */
export const listSecretNames = (tx: Reader, organizationId: string): { readonly name: string }[] =>
  tx.all<{ readonly name: string }>(
    'SELECT name FROM secrets WHERE organization_id = ? AND name IS NOT NULL',
    organizationId,
  );

/** Any secret of an organization; undefined where there is none. */
export const getAnySecretId = (tx: Reader, organizationId: string): string | undefined =>
  tx.get<{ readonly id: string }>('SELECT id FROM secrets WHERE organization_id = ? LIMIT 1', organizationId)
    ?.id;

/**
 * The newest first.
 * @returns undefined if the page's cursor is not a secret of the organization.
 */
export function listSecretRows(tx: Reader, organizationId: string, page: Page): ListedSecret[] | undefined {
  const below = page.after === undefined ? Number.MAX_SAFE_INTEGER : placeOf(tx, organizationId, page.after);
  const above = page.before === undefined ? 0 : placeOf(tx, organizationId, page.before);
  if (below === undefined || above === undefined) return undefined;
  // Before a cursor means the rows next to it, so they are taken from the end and put back in order.
  const backwards = isBackwards(page);
  const rows = tx.all<ListedSecret>(
    `SELECT ${listed} FROM secrets WHERE organization_id = ? AND sequence < ? AND sequence > ?
     ORDER BY sequence ${backwards ? 'ASC' : 'DESC'} LIMIT ?`,
    organizationId,
    below,
    above,
    page.limit,
  );
  return backwards ? rows.reverse() : rows;
}

const placeOf = (tx: Reader, organizationId: string, id: string): number | undefined =>
  tx.get<{ sequence: number }>(
    'SELECT sequence FROM secrets WHERE id = ? AND organization_id = ?',
    id,
    organizationId,
  )?.sequence;

export const insertSecret = secrets.insert;

/** Gives a secret another value, sealed in the same context. */
export function updateSecretValue(tx: Writer, id: string, sealed: Uint8Array, updatedAt: number): void {
  tx.run('UPDATE secrets SET sealed = ?, updated_at = ? WHERE id = ?', sealed, updatedAt, id);
}

export function deleteSecret(tx: Writer, id: string): void {
  tx.run('DELETE FROM secrets WHERE id = ?', id);
}
