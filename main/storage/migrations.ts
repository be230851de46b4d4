/** Brings a file's schema up to date, and refuses what is newer. */
import type { Connection } from './connection.ts';
import { migrations } from './schema-history.ts';
import { ExplainedError } from '../lib/errors.ts';

export const schemaVersion = migrations.at(-1)?.version ?? 0;

/** The file was written by a newer Keyhearth than this one. */
export class NewerVaultError extends ExplainedError {
  override readonly name = 'NewerVaultError';

  constructor(found: number) {
    super(
      `The vault file has schema version ${String(found)}; this Keyhearth knows versions up to ${String(schemaVersion)}. ` +
        'Open it with the newer Keyhearth that last used it.',
    );
  }
}

/**
 * Brings the schema up to date, all steps in one transaction: a step that fails leaves the file to the earlier Keyhearth. It
 * runs before the vault is unlocked, and so cannot write rows that are authenticated: a step adds tables, columns that may be
 * null, indexes and triggers.
 * @param target The version to stop at.
 */
export function migrate(connection: Connection, target = schemaVersion): void {
  const found = Number(connection.pragma('user_version'));
  if (found > schemaVersion) throw new NewerVaultError(found);
  const missing = migrations.filter(({ version }) => version > found && version <= target);
  const last = missing.at(-1);
  if (last === undefined) return;
  connection.transaction(() => {
    for (const { sql } of missing) connection.exec(sql);
    connection.pragma(`user_version = ${String(last.version)}`);
  });
}
