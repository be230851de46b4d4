/** Finds the pages of a file that SQLite cannot read. */
import type { Reader } from '../connection.ts';
import { DamagedFileError, readable } from './damage.ts';
import type { RowFinding } from '../schema.ts';

/** Pages that are named: a file with more is not repaired page by page. */
const mostNamed = 50;

/** @returns the damaged pages of one table and its indexes. */
export const findDamageOf = (tx: Reader, table: string): readonly RowFinding[] =>
  findDamage(tx, `"${table}"`).filter(({ damaged }) => damaged);

/**
 * @param part Of the file, as SQLite's check takes it.
 * @returns the damaged pages, by the table that each is of; nothing where SQLite can read all of them.
 */
export function findDamage(tx: Reader, part = String(mostNamed)): readonly RowFinding[] {
  try {
    const owners = readable(() => ownersOf(tx), new Map<number, Owner>());
    // Its first row has all pages. After that it goes through the rows of tables, and ends at the first that it cannot read.
    const { quick_check: text = 'ok' } = tx.get<{ quick_check: string }>(`PRAGMA quick_check(${part})`) ?? {};
    return text
      .split('\n')
      .filter((line) => line !== 'ok' && !line.startsWith('***'))
      .map((line) => findingOf(line, owners));
  } catch (error) {
    if (error instanceof DamagedFileError) return [error.finding];
    throw error;
  }
}

interface Owner {
  readonly type: string;
  readonly name: string;
  readonly table: string;
}

/** Tables and indexes by their first pages, which is how SQLite's check calls them. */
const ownersOf = (tx: Reader): ReadonlyMap<number, Owner> =>
  new Map(
    tx
      .all<Owner & { root: number }>(
        'SELECT rootpage AS root, type, name, tbl_name AS "table" FROM main.sqlite_schema WHERE rootpage > 0',
      )
      .map(({ root, ...owner }) => [root, owner]),
  );

/** SQLite's messages about readable rows: another program wrote them so. */
const ofRows = / (value in|constraint failed in|missing from index|of entries in index|entry in index) /;

/** `Tree 7 page 12 cell 3: btreeInitPage() returns error code 11`, and what else SQLite says. */
function findingOf(line: string, owners: ReadonlyMap<number, Owner>): RowFinding {
  const [, tree, page, problem] = /^Tree (\d+) page (\d+)(?: [^:]*)?: (.*)$/.exec(line) ?? [];
  const owner = owners.get(Number(tree));
  if (owner === undefined || page === undefined) {
    return { table: 'the file', row: null, problem: line, ...(ofRows.test(line) ? {} : { damaged: true }) };
  }
  const where = owner.type === 'index' ? `a page of the index ${owner.name}` : 'it';
  return {
    table: owner.table,
    row: `page ${page}`,
    problem: `${where} cannot be read (${String(problem)})`,
    damaged: true,
  };
}
