/** Looks at what is in the file and says what was changed outside Keyhearth. */
import type { Reader, Value } from '../connection.ts';
import { DamagedFileError } from '../file/damage.ts';
import { findDamage, findDamageOf } from '../file/find-damage.ts';
import { pagesByKey } from '../keyset.ts';
import { checkSchema, checkSchemaInUse, type RowFinding } from '../schema.ts';
import { checkLog, checkRecent } from './log.ts';
import { canonical, partOf, protectedTables, unprotected, type Mac, type ProtectedTable } from './row-mac.ts';
import { logEnd, readDigest, type IntegrityDigest, type TableHashes, type TableHash } from './digest.ts';
import { MultisetHash, multisetHashLength } from './multiset-hash.ts';

/** Told how far it is: each row counts twice, once for itself and once for what the indexes say of it. */
export type VerifyProgress = (checked: number, total: number) => void;

/** The findings, as plain data that travels between threads. */
export interface VerifiedFile {
  readonly findings: readonly RowFinding[];
  /** The digest, where there is nothing to find. */
  readonly sums: TableHashes;
  readonly seal: IntegrityDigest | undefined;
}

/** Schema, rows and the log's last rows: what is looked at before a file is used. A file that SQLite cannot read is a finding. */
export function verifyFile(tx: Reader, mac: Mac, onProgress?: VerifyProgress): VerifiedFile {
  const refused = (findings: readonly RowFinding[]): VerifiedFile => ({
    findings,
    sums: { tables: {} },
    seal: undefined,
  });
  try {
    // Rows of an unknown schema cannot be verified.
    const schema = checkSchemaInUse(tx);
    if (schema.length > 0) return refused(schema);
    const verified = verifyTables(tx, mac, onProgress);
    if (verified.findings.length > 0) return verified;
    return { ...verified, findings: checkRecent(tx, verified.sums.accepted) };
  } catch (error) {
    return refused(damageOf(tx, error));
  }
}

/** @returns what of the file SQLite cannot read, where that is why it threw. @throws the error, where it is not. */
function damageOf(tx: Reader, error: unknown): readonly RowFinding[] {
  if (!(error instanceof DamagedFileError)) throw error;
  const named = findDamage(tx);
  return named.length > 0 ? named : [error.finding];
}

/**
 * Verifies every row of every protected table, its index entries, and the end of the log. The time is
 * proportional to the rows. A caller that must not block others runs it within `Connection.view`.
 * @returns changes from outside Keyhearth; empty if all is as it was written.
 */
export function checkRows(tx: Reader, mac: Mac, onProgress?: VerifyProgress): readonly RowFinding[] {
  try {
    return verifyTables(tx, mac, onProgress).findings;
  } catch (error) {
    return damageOf(tx, error);
  }
}

/**
 * All that can be said of a file: its schema, its rows, and its log from the first row on.
 * @param schemaCheck That of a file in use, where it is.
 */
export function verifyQuickly(tx: Reader, mac: Mac, schemaCheck = checkSchema): readonly RowFinding[] {
  try {
    const schema = schemaCheck(tx);
    // Rows of an unknown schema cannot be verified.
    if (schema.length > 0) return schema;
    const { findings, seal } = verifyTables(tx, mac);
    return [...findings, ...checkLog(tx, seal?.sums.accepted)];
  } catch (error) {
    return damageOf(tx, error);
  }
}

function verifyTables(tx: Reader, mac: Mac, onProgress?: VerifyProgress): VerifiedFile {
  const seal = readDigest(tx, mac);
  const findings = [...checkIndexes(tx, 'integrity')];
  if (seal === undefined) {
    findings.push({
      table: 'integrity',
      row: '1',
      problem: 'it is missing or was changed: which rows of other tables are gone is not known',
    });
  }
  const total = 2 * rowsInDigest(seal);
  let checked = 0;
  const advance = (rows: number): void => {
    checked += rows;
    // An attacker may have added any number of rows.
    onProgress?.(Math.min(checked, total), total);
  };
  const tables: Record<string, TableHash> = {};
  for (const table of protectedTables(tx)) {
    const { rows, sum } = verifyTable(tx, mac, table, findings, advance);
    if (rows > 0) tables[table.name] = [rows, sum];
    if (seal !== undefined) findings.push(...compareSums(table.name, [rows, sum], seal));
    findings.push(...checkIndexes(tx, table.name));
    advance(rows);
  }
  findings.push(...checkEnd(tx, seal), ...checkUnprotected(tx));
  const accepted = seal?.sums.accepted;
  return { findings, sums: { tables, ...(accepted && { accepted }) }, seal };
}

function compareSums(
  table: string,
  [rows, sum]: TableHash,
  { sums }: IntegrityDigest,
): readonly RowFinding[] {
  const [rowsBefore, sumBefore] = sums.tables[table] ?? [0, emptySum];
  if (rows !== rowsBefore) {
    const difference = Math.abs(rows - rowsBefore);
    const problem = `${String(difference)} ${difference === 1 ? 'row' : 'rows'} ${rows < rowsBefore ? 'too few' : 'too many'}: there were ${String(rowsBefore)}`;
    return [{ table, row: null, problem }];
  }
  if (sum === sumBefore) return [];
  const problem = 'its rows are not the last that were written: one was put in the place of another';
  return [{ table, row: null, problem }];
}

/** Number of rows of protected tables by the digest. */
export const rowsInDigest = (seal: IntegrityDigest | undefined): number =>
  Object.values(seal?.sums.tables ?? {}).reduce((sum, [rows]) => sum + rows, 0);

/**
 * That the log ends where it ended, and has as many rows as its last number says. They are counted by the smallest index,
 * since the table of a long log is gigabytes; each row is looked at when the chain is followed.
 */
function checkEnd(tx: Reader, seal: IntegrityDigest | undefined): readonly RowFinding[] {
  const findings: RowFinding[] = [];
  const log = logEnd(tx);
  if (seal !== undefined && (log[0] !== seal.log[0] || log[1] !== seal.log[1])) {
    findings.push({
      table: 'activities',
      row: String(log[0]),
      problem: `the log ended with another entry ${String(seal.log[0])} when it was last written`,
    });
  }
  const first = seal?.sums.accepted?.[0] ?? 0;
  const kept = tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM activities WHERE +sequence > ?',
    first,
  );
  if (kept?.count !== log[0] - first) {
    findings.push({
      table: 'activities',
      row: null,
      problem: `there are ${String(kept?.count)} rows after number ${String(first)}, and the last is number ${String(log[0])}`,
    });
  }
  return findings;
}

/** Rows that are not authenticated are read too: a damaged page of theirs reveals a failing disk. */
function checkUnprotected(tx: Reader): readonly RowFinding[] {
  // The log itself is followed row by row. This index of it is asked for by nothing but a list.
  tx.get(
    `SELECT count(*) AS count FROM activities INDEXED BY activities_waiting
     WHERE status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'`,
  );
  return Object.entries(unprotected)
    .filter(([name, { columns }]) => name !== 'activities' && columns === undefined)
    .flatMap(([name]) => findDamageOf(tx, name));
}

const emptySum = '00'.repeat(multisetHashLength);

function verifyTable(
  tx: Reader,
  mac: Mac,
  table: ProtectedTable,
  findings: RowFinding[],
  advance: (rows: number) => void,
): { readonly rows: number; readonly sum: string } {
  const { name, columns, key, primaryKey } = table;
  const names = [...columns, 'mac'].map((column) => `"${column}"`).join(', ');
  // By the table itself and not by an index, which may have been changed to answer otherwise.
  const read =
    key[0] === 'rowid'
      ? { columns: `rowid AS rowid, ${names}`, from: `"${name}" NOT INDEXED` }
      : { columns: names, from: `"${name}"` };
  const sum = new MultisetHash();
  let rows = 0;
  for (const page of pagesByKey<Record<string, Value>>(tx, { ...read, key, pageSize: 1000 })) {
    for (const row of page) {
      const kept = row['mac'];
      const values = columns.map((column) => row[column] ?? null);
      const holds = kept instanceof Uint8Array && Buffer.compare(kept, mac(canonical(table, values))) === 0;
      if (kept instanceof Uint8Array) sum.add(partOf(mac, kept), 1);
      if (!holds) {
        findings.push({
          table: name,
          row: primaryKey.map((column) => String(row[column])).join('/'),
          problem: kept === null ? 'it was added, or never authenticated' : 'it was changed or added',
        });
      }
    }
    rows += page.length;
    advance(page.length);
  }
  return { rows, sum: Buffer.from(sum.bytes()).toString('hex') };
}

/** Rows are found by indexes: one that lies would show a row for another's key. */
function checkIndexes(tx: Reader, table: string): readonly RowFinding[] {
  return tx
    .all<{ integrity_check: string }>(`PRAGMA integrity_check("${table}")`)
    .filter(({ integrity_check: problem }) => problem !== 'ok')
    .map(({ integrity_check: problem }) => ({ table, row: null, problem }));
}
