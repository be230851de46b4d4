/**
 * The activity log: append-only, each row carrying the hash of the one before it. An activity that moves on (a vote, a
 * new status) appends its next revision; the newest revision is the activity.
 */
import { hash } from 'node:crypto';
import type { ActivityStatus } from '../../lib/activity-status.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Reader, Value, Writer } from '../connection.ts';
import { isBackwards, type Page } from '../page.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

const activities = table('activities', {
  sequence: number,
  id: text,
  revision: number,
  organizationId: text,
  type: text,
  status: text.of<ActivityStatus>(),
  /** `sha256:` and the lowercase hex SHA-256 of the request's body. */
  fingerprint: text,
  timestampMs: number,
  /** JSON of the submitted parameters. */
  intent: text,
  /** JSON of the result, null unless completed. */
  result: text.orNull,
  /** JSON of the failure, null unless failed. */
  failure: text.orNull,
  /** JSON array of votes; each names its voter's snapshot by hash. */
  votes: text,
  createdAt: number,
  updatedAt: number,
  previousHash: blob,
  hash: blob,
});

export type ActivityRow = RowOf<typeof activities>;

/** A revision as it is handed in; the log adds its place and hashes. */
export type ActivityEntry = Omit<ActivityRow, 'sequence' | 'previousHash' | 'hash'>;

/** The hash before the first row. */
export const genesis: Uint8Array = new Uint8Array(32);

const newest = `NOT EXISTS (SELECT 1 FROM activities AS later WHERE later.id = a.id AND later.revision > a.revision)`;

/** SHA-256 over the previous hash and every field of the row, as a JSON array in the order of the columns. */
export function activityHash(row: Omit<ActivityRow, 'hash'>): Uint8Array {
  const fields = JSON.stringify([
    row.sequence,
    row.id,
    row.revision,
    row.organizationId,
    row.type,
    row.status,
    row.fingerprint,
    row.timestampMs,
    row.intent,
    row.result,
    row.failure,
    row.votes,
    row.createdAt,
    row.updatedAt,
  ]);
  return hash('sha256', Buffer.concat([row.previousHash, Buffer.from(fields)]), 'buffer');
}

export function appendActivity(tx: Writer, entry: ActivityEntry): ActivityRow {
  const end = logEnd(tx);
  const unhashed = { ...entry, sequence: end.sequence + 1, previousHash: end.hash };
  const row: ActivityRow = { ...unhashed, hash: activityHash(unhashed) };
  activities.insert(tx, row);
  return row;
}

/** The place of a row in the log, and its hash. */
export interface LogPoint {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** The newest row; 0 and the hash before the first where there is none. */
export const logEnd = (tx: Reader): LogPoint =>
  tx.get<LogPoint>('SELECT sequence, hash FROM activities ORDER BY sequence DESC LIMIT 1') ?? {
    sequence: 0,
    hash: genesis,
  };

/** @returns undefined where the log has no such row. */
export const activityHashAt = (tx: Reader, sequence: number): Uint8Array | undefined =>
  sequence === 0
    ? genesis
    : tx.get<{ hash: Uint8Array }>('SELECT hash FROM activities WHERE sequence = ?', sequence)?.hash;

const mebibyte = 1024 * 1024;

/** Rows of the log in its order: as many as were asked for, or fewer where they are long, but one at least. */
export interface LogPage {
  readonly rows: readonly ActivityRow[];
  /** True if the page reaches the end of the query. A short page may have others after it. */
  readonly isEnd: boolean;
}

/** Size of a page in bytes, unless its first row alone is longer: a row may have megabytes. */
const pageBytes = 4 * mebibyte;

const rowBytes =
  'octet_length(intent) + octet_length(votes) + coalesce(octet_length(result), 0) + coalesce(octet_length(failure), 0)';

/** @param from The table with the condition on its rows. Texts are long, and are read once it is known how long. */
function readPage(tx: Reader, from: string, values: readonly Value[], limit: number): LogPage {
  const sizes = tx.all<{ sequence: number; bytes: number }>(
    `SELECT sequence, ${rowBytes} AS bytes FROM ${from} ORDER BY sequence LIMIT ?`,
    ...values,
    limit + 1,
  );
  let bytes = 0;
  const fitting = sizes
    .slice(0, limit)
    .filter((row, index) => (bytes += row.bytes) <= pageBytes || index === 0);
  // The log only grows: the first rows of the query are the same ones again.
  const rows = tx.all<ActivityRow>(
    `SELECT ${activities.columns} FROM ${from} ORDER BY sequence LIMIT ?`,
    ...values,
    fitting.length,
  );
  return { rows, isEnd: fitting.length === sizes.length };
}

/** Every revision in the order of the log, after one place of it and up to another. */
export const listLog = (tx: Reader, after: number, until: number, limit: number): LogPage =>
  readPage(tx, 'activities WHERE sequence > ? AND sequence <= ?', [after, until], limit);

/** Every revision of one organization's activities, or of all, in the order of the log, after one place of it. */
export const listLogAfter = (
  tx: Reader,
  organizationId: string | undefined,
  after: number,
  limit: number,
): LogPage =>
  organizationId === undefined
    ? listLog(tx, after, Number.MAX_SAFE_INTEGER, limit)
    : readPage(
        tx,
        'activities INDEXED BY activities_places WHERE organization_id = ? AND sequence > ?',
        [organizationId, after],
        limit,
      );

/** One revision, by its place in the log. */
export const getLogRow = (tx: Reader, sequence: number): ActivityRow | undefined =>
  tx.get<ActivityRow>(`SELECT ${activities.columns} FROM activities WHERE sequence = ?`, sequence);

/** The organization of a row of the log; undefined if the log has no such row. */
export const organizationAt = (tx: Reader, sequence: number): string | undefined =>
  tx.get<{ id: string }>('SELECT organization_id AS id FROM activities WHERE sequence = ?', sequence)?.id;

/** The revisions of an organization's activities and its sub-organizations', after one place of the log and up to another. */
export const listEvents = (
  tx: Reader,
  organizationId: string,
  { after, until, limit }: { readonly after: number; readonly until: number; readonly limit: number },
): LogPage =>
  readPage(
    tx,
    `activities WHERE sequence > ? AND sequence <= ?
       AND (organization_id = ? OR organization_id IN (SELECT id FROM organizations WHERE parent_id = ?))`,
    [after, until, organizationId, organizationId],
    limit,
  );

/**
 * One that waits for votes is decided by what it says: it must be as it was written.
 * @param asked What it was found by. An index may lead to the row of another.
 */
function asWritten(
  tx: Reader,
  row: ActivityRow | undefined,
  asked: Partial<ActivityRow> = {},
): ActivityRow | undefined {
  if (row?.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
    const { id, sequence } = row;
    tx.waiting?.checkWaiting({ id, sequence, hash: activityHash({ ...row, ...asked }) });
  }
  return row;
}

export const getActivityRow = (tx: Reader, organizationId: string, id: string): ActivityRow | undefined =>
  asWritten(
    tx,
    tx.get<ActivityRow>(
      `SELECT ${activities.columns} FROM activities WHERE id = ? AND organization_id = ? ORDER BY revision DESC LIMIT 1`,
      id,
      organizationId,
    ),
    { id, organizationId },
  );

export const findActivityByFingerprint = (
  tx: Reader,
  organizationId: string,
  fingerprint: string,
): ActivityRow | undefined =>
  asWritten(
    tx,
    tx.get<ActivityRow>(
      `SELECT ${activities.columns} FROM activities WHERE organization_id = ? AND fingerprint = ? ORDER BY revision DESC LIMIT 1`,
      organizationId,
      fingerprint,
    ),
    { organizationId, fingerprint },
  );

/** Filters for a list of activities; an absent filter matches all. */
export interface ActivityFilter {
  readonly statuses?: readonly string[];
  readonly types?: readonly string[];
}

/** Size of a list of activities in bytes: it is one answer. */
const listBytes = 32 * mebibyte;

/** A page of activities that may be shorter than it was to be. */
export interface ActivityPart {
  /** Newest first. */
  readonly rows: readonly ActivityRow[];
  /** The cursor for those that follow; undefined after the last. */
  readonly next: string | undefined;
}

/**
 * Newest first; a page's `after` means older than the cursor, `before` newer.
 * @returns undefined if the page's cursor is not an activity of the organization.
 * @throws KeyhearthError INVALID_ARGUMENT if they are too long for one answer. A shorter page would be
 * mistaken for the last.
 */
export function listActivityRows(
  tx: Reader,
  organizationId: string,
  filter: ActivityFilter,
  page: Page,
): readonly ActivityRow[] | undefined {
  const found = findRows(tx, organizationId, filter, page);
  const bytes = found?.reduce((sum, row) => sum + row.bytes, 0) ?? 0;
  if (found !== undefined && found.length > 1 && bytes > listBytes) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `invalid paginationOptions.limit: ${String(found.length)} of these activities come to ${String(Math.ceil(bytes / mebibyte))} MiB, and an answer has ${String(listBytes / mebibyte)} at most; ask for fewer`,
    );
  }
  return found && readRows(tx, found);
}

/** As `listActivityRows`, for callers that look if more follow: a part has fewer rows where they are long, and one at least. */
export function listActivityPart(
  tx: Reader,
  organizationId: string,
  filter: ActivityFilter,
  page: Page,
): ActivityPart | undefined {
  const found = findRows(tx, organizationId, filter, { ...page, limit: page.limit + 1 });
  if (found === undefined) return undefined;
  let bytes = 0;
  const end = found.findIndex((row, index) => {
    bytes += row.bytes;
    return index >= page.limit || (index > 0 && bytes > listBytes);
  });
  const part = end === -1 ? found : found.slice(0, end);
  const rows = readRows(tx, part);
  const last = isBackwards(page) ? rows[0] : rows.at(-1);
  return { rows, next: part.length < found.length ? last?.id : undefined };
}

interface FoundRow {
  readonly sequence: number;
  readonly bytes: number;
}

/** @returns the rows of a page, beginning at its cursor; undefined if that is not an activity of the organization. */
function findRows(
  tx: Reader,
  organizationId: string,
  filter: ActivityFilter,
  page: Page,
): readonly FoundRow[] | undefined {
  const older =
    page.after === undefined ? Number.MAX_SAFE_INTEGER : sequenceOf(tx, organizationId, page.after);
  const newer = page.before === undefined ? 0 : sequenceOf(tx, organizationId, page.before);
  if (older === undefined || newer === undefined) return undefined;
  const backwards = isBackwards(page);
  return tx.all<FoundRow>(
    `SELECT sequence, ${rowBytes} AS bytes FROM activities AS a
     WHERE organization_id = ? AND sequence < ? AND sequence > ? ${onlyWaiting(filter) ? waiting : ''}
       AND (? IS NULL OR status IN (SELECT value FROM json_each(?)))
       AND (? IS NULL OR type IN (SELECT value FROM json_each(?)))
       AND ${newest}
     ORDER BY sequence ${backwards ? 'ASC' : 'DESC'} LIMIT ?`,
    organizationId,
    older,
    newer,
    ...twice(filter.statuses),
    ...twice(filter.types),
    page.limit,
  );
}

/** Newest first. */
function readRows(tx: Reader, found: readonly FoundRow[]): readonly ActivityRow[] {
  const rows = tx.all<ActivityRow>(
    `SELECT ${activities.columns} FROM activities WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence DESC`,
    JSON.stringify(found.map(({ sequence }) => sequence)),
  );
  for (const row of rows) asWritten(tx, row);
  return rows;
}

/**
 * Lists activities of an organization that wait for votes, the newest row first, without reading their texts.
 * @param before Only rows before this one.
 */
export const listWaitingIn = (
  tx: Reader,
  organizationId: string,
  before: number,
  limit: number,
): readonly { readonly sequence: number; readonly id: string }[] =>
  tx.all(
    `SELECT sequence, id FROM activities AS a
     WHERE organization_id = ? AND sequence < ? ${waiting} AND ${newest} ORDER BY sequence DESC LIMIT ?`,
    organizationId,
    before,
    limit,
  );

/** A revision that says that an activity waits for votes. */
export interface WaitingRow {
  readonly organizationId: string;
  readonly sequence: number;
}

/**
 * Lists revisions that wait for votes, in every organization, in the order of their index.
 * @param after Where the list goes on.
 * @returns at most so many; of each, whether no later revision of its activity is there.
 */
export const listWaiting = (
  tx: Reader,
  after: WaitingRow,
  limit: number,
): readonly (WaitingRow & { readonly isNewest: 0 | 1 })[] =>
  tx.all(
    `SELECT organization_id AS organizationId, sequence, ${newest} AS isNewest FROM activities AS a
     WHERE (organization_id, sequence) > (?, ?) ${waiting} ORDER BY organization_id, sequence LIMIT ?`,
    after.organizationId,
    after.sequence,
    limit,
  );

/** Literal, so that the index of those that wait serves: they are few, and asked for often. */
const waiting = "AND status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'";

const onlyWaiting = ({ statuses }: ActivityFilter): boolean =>
  statuses?.length === 1 && statuses[0] === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

const sequenceOf = (tx: Reader, organizationId: string, id: string): number | undefined =>
  getActivityRow(tx, organizationId, id)?.sequence;

function twice(values: readonly string[] | undefined): [string | null, string | null] {
  const json = values === undefined ? null : JSON.stringify(values);
  return [json, json];
}

/**
 * The result of following the log: its length and last hash, or the first row that does not follow from the
 * one before.
 */
export type ChainCheck =
  | { readonly ok: true; readonly rows: number; readonly head: string }
  | { readonly ok: false; readonly sequence: number; readonly problem: string };

/**
 * Recomputes every hash of the log, a thousand rows at a time.
 * @param step Called between them.
 */
export function checkActivityChain(tx: Reader, step: () => void = () => undefined): ChainCheck {
  const walk = walkActivityChain(tx, 1000);
  for (;;) {
    const { done, value } = walk.next();
    if (done === true) return value;
    step();
  }
}

/** A row of the log, by its number and hash. */
export interface LogRow {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

const beforeTheFirst: LogRow = { sequence: 0, hash: genesis };

/**
 * The same with a pause after each so many rows, for who has other things to do meanwhile.
 * @param after The row that the first one must follow.
 * @param onRow Called for each row that follows.
 */
export function* walkActivityChain(
  tx: Reader,
  slice: number,
  after: LogRow = beforeTheFirst,
  onRow: (row: ActivityRow) => void = () => undefined,
): Generator<undefined, ChainCheck> {
  let previous = after.hash;
  let expected = after.sequence + 1;
  for (;;) {
    const { rows, isEnd } = listLog(tx, expected - 1, Number.MAX_SAFE_INTEGER, slice);
    for (const row of rows) {
      if (row.sequence !== expected) {
        return { ok: false, sequence: expected, problem: `entry ${String(expected)} is missing` };
      }
      if (Buffer.compare(row.previousHash, previous) !== 0) {
        return {
          ok: false,
          sequence: row.sequence,
          problem: `entry ${String(row.sequence)} does not follow the entry before it`,
        };
      }
      if (Buffer.compare(row.hash, activityHash(row)) !== 0) {
        return {
          ok: false,
          sequence: row.sequence,
          problem: `entry ${String(row.sequence)} was changed after it was written`,
        };
      }
      onRow(row);
      previous = row.hash;
      expected++;
    }
    if (isEnd) return { ok: true, rows: expected - 1, head: Buffer.from(previous).toString('hex') };
    yield;
  }
}
