/** Looks at what is in the file and says what was changed outside Latchkey. */
import type { Reader, Value } from '../db/connection.ts';
import { DamagedFileError } from '../db/damage.ts';
import { findDamage } from '../db/find-damage.ts';
import { checkSchema, type RowFinding } from '../db/schema.ts';
import { checkLog } from './log.ts';
import { canonical, partOf, protectedTables, type Mac, type ProtectedTable } from './macs.ts';
import { logEnd, readSeal, type Seal, type Sums, type TableSum } from './seal.ts';
import { Sum, sumLength } from './sum.ts';

/** Told how far it is: each row counts twice, once for itself and once for what the indexes say of it. */
export type ExamineProgress = (checked: number, total: number) => void;

/** What was found. It is data, and travels between threads. */
export interface Examined {
  readonly findings: readonly RowFinding[];
  /** What the seal says where there is nothing to find. */
  readonly sums: Sums;
  readonly seal: Seal | undefined;
}

/** Schema, rows and the log's end: what is looked at before a file is used. A file that SQLite cannot read is a finding. */
export function examineFile(tx: Reader, mac: Mac, onProgress?: ExamineProgress): Examined {
  const refused = (findings: readonly RowFinding[]): Examined => ({
    findings,
    sums: { tables: {} },
    seal: undefined,
  });
  try {
    // Rows of a schema that is not known would be looked at in vain.
    const schema = checkSchema(tx);
    return schema.length > 0 ? refused(schema) : examine(tx, mac, onProgress);
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
 * Looks at every row of every protected table, at what an index says of it, and at the end of the log. It takes time in
 * proportion to the rows; whoever may not be alone with the file asks within `Connection.view`.
 * @returns what was changed outside Latchkey; nothing where all is as it was written.
 */
export function checkRows(tx: Reader, mac: Mac): readonly RowFinding[] {
  try {
    return examine(tx, mac).findings;
  } catch (error) {
    return damageOf(tx, error);
  }
}

/** All that can be said of a file: its schema, its rows, and its log from the first row on. */
export function inspect(tx: Reader, mac: Mac): readonly RowFinding[] {
  try {
    const schema = checkSchema(tx);
    // Rows of a schema that is not known would be looked at in vain.
    if (schema.length > 0) return schema;
    const { findings, seal } = examine(tx, mac);
    return [...findings, ...checkLog(tx, seal?.sums.accepted)];
  } catch (error) {
    return damageOf(tx, error);
  }
}

function examine(tx: Reader, mac: Mac, onProgress?: ExamineProgress): Examined {
  const seal = readSeal(tx, mac);
  const findings = [...checkIndexes(tx, 'integrity')];
  if (seal === undefined) {
    findings.push({
      table: 'integrity',
      row: '1',
      problem: 'it is missing or was changed: which rows of other tables are gone is not known',
    });
  }
  const total = 2 * sealedRows(seal);
  let checked = 0;
  const advance = (rows: number): void => {
    checked += rows;
    // Nobody knows how many rows somebody else has added.
    onProgress?.(Math.min(checked, total), total);
  };
  const tables: Record<string, TableSum> = {};
  for (const table of protectedTables(tx)) {
    const { rows, sum } = examineTable(tx, mac, table, findings, advance);
    if (rows > 0) tables[table.name] = [rows, sum];
    if (seal !== undefined) findings.push(...compareSums(table.name, [rows, sum], seal));
    findings.push(...checkIndexes(tx, table.name));
    advance(rows);
  }
  findings.push(...checkEnd(tx, seal));
  const accepted = seal?.sums.accepted;
  return { findings, sums: { tables, ...(accepted && { accepted }) }, seal };
}

function compareSums(table: string, [rows, sum]: TableSum, { sums }: Seal): readonly RowFinding[] {
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

/** How many rows of protected tables there are by the seal. */
export const sealedRows = (seal: Seal | undefined): number =>
  Object.values(seal?.sums.tables ?? {}).reduce((sum, [rows]) => sum + rows, 0);

/**
 * That the log ends where it ended, and has as many rows as its last number says. They are counted by the smallest index,
 * since the table of a long log is gigabytes; each row is looked at when the chain is followed.
 */
function checkEnd(tx: Reader, seal: Seal | undefined): readonly RowFinding[] {
  const findings: RowFinding[] = [];
  const log = logEnd(tx);
  if (seal !== undefined && (log[0] !== seal.log[0] || log[1] !== seal.log[1])) {
    findings.push({
      table: 'activities',
      row: String(log[0]),
      problem: `the log ended with another row ${String(seal.log[0])} when it was last written`,
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

const emptySum = '00'.repeat(sumLength);
const pageSize = 1000;

function examineTable(
  tx: Reader,
  mac: Mac,
  table: ProtectedTable,
  findings: RowFinding[],
  advance: (rows: number) => void,
): { readonly rows: number; readonly sum: string } {
  const { name, columns, key, primaryKey } = table;
  const keys = key.map((column) => `"${column}"`).join(', ');
  const names = [...columns, 'mac'].map((column) => `"${column}"`);
  // By the table itself and not by an index, which may have been made to say something else.
  const from =
    key[0] === 'rowid'
      ? `SELECT rowid AS rowid, ${names.join(', ')} FROM "${name}" NOT INDEXED`
      : `SELECT ${names.join(', ')} FROM "${name}"`;
  const after = `WHERE (${keys}) > (${key.map(() => '?').join(', ')})`;
  const order = `ORDER BY ${keys} LIMIT ${String(pageSize)}`;
  const sum = new Sum();
  let rows = 0;
  let last: readonly Value[] | undefined;
  for (;;) {
    const page = tx.all<Record<string, Value>>(`${from} ${last ? after : ''} ${order}`, ...(last ?? []));
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
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) break;
    last = key.map((column) => end[column] ?? null);
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
