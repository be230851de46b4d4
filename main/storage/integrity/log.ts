/** The whole log: its chain of hashes from the first row on, and the indexes by which activities are found. */
import { listLog, walkActivityChain, type ChainCheck, type LogRow } from '../tables/activities.ts';
import type { Reader, Value } from '../connection.ts';
import type { RowFinding } from '../schema.ts';
import { logEnd, type LogEnd } from './digest.ts';
import { WaitingRows } from './waiting-rows.ts';

export function checkLog(tx: Reader, accepted?: LogEnd): readonly RowFinding[] {
  const walk = walkLog(tx, 1000, accepted);
  for (;;) {
    const { done, value } = walk.next();
    if (done === true) return value;
  }
}

/**
 * Follows the log's chain and then its indexes, with a pause after each so many rows.
 * @param onFollowed Called at the end of the chain, with what waits for votes.
 */
export function* walkLog(
  tx: Reader,
  slice: number,
  accepted?: LogEnd,
  onFollowed: (end: LogEnd, waiting: WaitingRows) => void = () => undefined,
): Generator<undefined, readonly RowFinding[]> {
  const waiting = new WaitingRows();
  yield* readAccepted(tx, slice, accepted, waiting);
  const chain = yield* walkActivityChain(tx, slice, logRowOf(accepted), (row) => {
    waiting.follow(row);
  });
  if (!chain.ok) return [brokenLog(chain)];
  onFollowed([chain.rows, chain.head], waiting);
  const indexes = indexesOf(tx);
  const lookedUp = unindexed(indexes);
  for (let first = 1; first <= chain.rows; first += slice) {
    const lost = tx.get<{ sequence: number }>(lookedUp, first, first + slice - 1);
    if (lost) return [unledTo(lost.sequence)];
    yield;
  }
  // A log with gaps, which was accepted, has fewer rows than its last number says.
  if (accepted) return [];
  for (const [index, key] of lookUps) {
    if (!indexes.includes(index)) continue;
    if (yield* leadsElsewhere(tx, index, key))
      return [{ table: 'activities', row: null, problem: `the index ${index} leads elsewhere too` }];
  }
  return [];
}

/** Milliseconds for which a body may come again, as `parse-request.ts` says: an hour, and five minutes of a clock that is ahead. */
const live = 65 * 60_000;

/** More rows would take longer than the service may stand still; the others are checked when the log is followed. */
const mostAtOnce = 2000;

/**
 * Checks the last rows of the log with their indexes: those whose requests could still come again. One that its index hides would
 * be executed again.
 */
export function checkRecent(tx: Reader, accepted?: LogEnd): readonly RowFinding[] {
  const [end] = logEnd(tx);
  const first = Math.max(1, (accepted?.[0] ?? 0) + 1, end - mostAtOnce + 1);
  const begin = tx.get<{ sequence: number }>(lastEnded, first, end, end, live)?.sequence ?? first;
  const row = tx.get<{ hash: Uint8Array }>(
    'SELECT previous_hash AS hash FROM activities WHERE sequence = ?',
    begin,
  );
  if (row === undefined) return [];
  const walk = walkActivityChain(tx, mostAtOnce, { sequence: begin - 1, hash: row.hash });
  let step = walk.next();
  while (step.done !== true) step = walk.next();
  if (!step.value.ok) return [brokenLog(step.value)];
  const lost = tx.get<{ sequence: number }>(unindexed(indexesOf(tx)), begin, end);
  return lost ? [unledTo(lost.sequence)] : [];
}

/** The last row between two numbers that is older than the newest row by a time. */
const lastEnded = `SELECT sequence FROM activities NOT INDEXED WHERE sequence BETWEEN ? AND ?
  AND created_at <= (SELECT created_at FROM activities WHERE sequence = ?) - ? ORDER BY sequence DESC LIMIT 1`;

const unledTo = (sequence: number): RowFinding => ({
  table: 'activities',
  row: String(sequence),
  problem: 'an index does not lead to it',
});

/** A file of an earlier version, which is looked at as it is, has not all of them. */
const indexesOf = (tx: Reader): readonly string[] =>
  tx
    .all<{ name: string }>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = 'activities'",
    )
    .map(({ name }) => name);

/** Reads the part of the log that its owner accepted as it is. */
function* readAccepted(
  tx: Reader,
  slice: number,
  accepted: LogEnd | undefined,
  waiting: WaitingRows,
): Generator<undefined, void> {
  const end = accepted?.[0] ?? 0;
  for (let last = 0; ;) {
    const { rows, isEnd } = listLog(tx, last, end, slice);
    for (const row of rows) waiting.follow(row);
    last = rows.at(-1)?.sequence ?? end;
    if (isEnd) return;
    yield;
  }
}

/** The indexes by which activities are found, and the columns that tell their entries apart. */
const lookUps = [
  ['activities_id', 'id, revision'],
  ['activities_fingerprint', 'organization_id, fingerprint, revision'],
  ['activities_places', 'organization_id, sequence'],
] as const;

/** Counts of the entries that new rows may disturb, before all are counted at once. */
const mostCounts = 3;

/** True if an index has more entries than the log has rows. */
function* leadsElsewhere(tx: Reader, index: string, key: string): Generator<undefined, boolean> {
  for (let counts = 1; ; counts++) {
    const [rows] = logEnd(tx);
    const counting = countEntries(tx, index, key);
    let step = counting.next();
    while (step.done !== true) {
      if (counts <= mostCounts) yield;
      step = counting.next();
    }
    if (logEnd(tx)[0] === rows) return step.value > rows;
  }
}

/** An entry takes less than a microsecond. */
const entriesAtOnce = 5000;

/** Counts the entries of an index of activities, with a pause after some. */
function* countEntries(tx: Reader, index: string, key: string): Generator<undefined, number> {
  const columns = key.split(', ');
  let last: readonly Value[] = [];
  for (let entries = 0; ; entries += entriesAtOnce) {
    // By this very index, and not by a smaller one.
    const from = `FROM activities INDEXED BY ${index} WHERE revision > -1 ${last.length > 0 ? `AND (${key}) > (${columns.map(() => '?').join(', ')})` : ''}`;
    const next = tx.get<Record<string, Value>>(
      `SELECT ${key} ${from} ORDER BY ${key} LIMIT 1 OFFSET ${String(entriesAtOnce - 1)}`,
      ...last,
    );
    if (next === undefined) {
      return entries + (tx.get<{ rest: number }>(`SELECT count(*) AS rest ${from}`, ...last)?.rest ?? 0);
    }
    last = columns.map((column) => next[column] ?? null);
    yield;
  }
}

/** The first row between two numbers that the indexes, by which activities are found, do not lead to. */
const unindexed = (
  indexes: readonly string[],
): string => `SELECT sequence FROM activities AS a NOT INDEXED WHERE sequence BETWEEN ? AND ? AND NOT (
  EXISTS (SELECT 1 FROM activities AS i INDEXED BY activities_id
    WHERE i.id = a.id AND i.revision = a.revision AND i.sequence = a.sequence)
  AND EXISTS (SELECT 1 FROM activities AS f INDEXED BY activities_fingerprint
    WHERE f.organization_id = a.organization_id AND f.fingerprint = a.fingerprint AND f.revision = a.revision
      AND f.sequence = a.sequence)
  ${indexes.includes('activities_places') ? inSearchIndex : ''}
  ${indexes.includes('activities_waiting') ? inWaitingIndex : ''}) LIMIT 1`;

const inSearchIndex = `AND EXISTS (SELECT 1 FROM activities AS p INDEXED BY activities_places
    WHERE p.organization_id = a.organization_id AND p.sequence = a.sequence AND p.revision = a.revision
      AND p.type = a.type AND p.status = a.status AND p.created_at = a.created_at
      AND substr(p.votes, 57, 36) = substr(a.votes, 57, 36))`;

const waits = "status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'";

const inWaitingIndex = `AND (a.${waits}) = EXISTS (SELECT 1 FROM activities AS w INDEXED BY activities_waiting
    WHERE w.organization_id = a.organization_id AND w.sequence = a.sequence AND w.${waits})`;

const logRowOf = (end: LogEnd | undefined): LogRow | undefined =>
  end && { sequence: end[0], hash: Buffer.from(end[1], 'hex') };

const brokenLog = ({ sequence, problem }: Extract<ChainCheck, { ok: false }>): RowFinding => ({
  table: 'activities',
  row: String(sequence),
  problem,
});
