/**
 * The exported log: JSON Lines in UTF-8, as JSON.stringify writes each of them. The first line is of kind `log` and says
 * whose log it is; then comes each row in its order, of kind `activity`, with every field that its hash covers; and after
 * a row its signed heads, of kind `head`. `docs/reference/log-format.md` has the fields.
 */
import { z } from 'zod';
import { asUint8Array } from '../crypto/bytes.ts';
import { toHex } from '../crypto/encodings.ts';
import { listLog, logEnd, type ActivityRow } from '../storage/tables/activities.ts';
import type { Reader } from '../storage/connection.ts';
import { listLogHeads } from '../storage/tables/log-heads.ts';
import type { ActivityStatus } from '../lib/activity-status.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { formerName } from '../lib/text/former-name.ts';
import { parsePlainJson } from '../lib/plain-json.ts';
import type { LogCheck, LogPart, LogRange } from '../../preload/contract.ts';
import { LogChecker, type KnownHead } from './check.ts';
import {
  hashHex,
  headOfRow,
  publicKeyHex,
  signedHead,
  type LogIdentity,
  type SignedHead,
} from './signed-heads.ts';
import { expectation } from '../lib/parse.ts';

const format = 'keyhearth activity log';
const formerFormat = `${formerName} activity log`;

const logLine = z.strictObject({
  kind: z.literal('log'),
  format: z.literal([format, formerFormat]),
  version: z.literal(1),
  vaultId: z.string(),
  organizationId: z.string(),
  publicKey: publicKeyHex,
  rows: z.int().nonnegative(),
  head: signedHead.nullable(),
});

type LogLine = z.output<typeof logLine>;

const activityLine = z.strictObject({
  kind: z.literal('activity'),
  sequence: z.int().positive(),
  id: z.string(),
  revision: z.int(),
  organizationId: z.string(),
  type: z.string(),
  status: z.string(),
  fingerprint: z.string(),
  timestampMs: z.int(),
  intent: z.string(),
  result: z.string().nullable(),
  failure: z.string().nullable(),
  votes: z.string(),
  createdAt: z.int(),
  updatedAt: z.int(),
  previousHash: hashHex,
  hash: hashHex,
});

const headLine = z.strictObject({ kind: z.literal('head'), ...signedHead.shape });

const line = z.discriminatedUnion('kind', [logLine, activityLine, headLine]);

/** Characters after which a part ends. */
const partLength = 1_000_000;
/** A row may be megabytes long. */
const rowsAtOnce = 8;

/**
 * The first line, and the rows that come with it.
 * @param publicKey Of the key that signs heads; hex, uncompressed.
 * @param head The newest head: of the row at which the export ends, or of one before it.
 */
export function exportStart(
  tx: Reader,
  { vaultId, organizationId }: LogIdentity,
  publicKey: string,
  head: SignedHead | null,
): LogPart {
  const rows = logEnd(tx).sequence;
  const first = { kind: 'log', format, version: 1, vaultId, organizationId, publicKey, rows, head } as const;
  const part = exportPart(tx, { after: 0, until: rows });
  return { ...part, text: written(first) + part.text };
}

/** The rows of a range and their heads, as far as one part takes them. */
export function exportPart(tx: Reader, { after, until }: LogRange): LogPart {
  const lines: string[] = [];
  let length = 0;
  let last = after;
  while (last < until && length < partLength) {
    const { rows } = listLog(tx, last, until, rowsAtOnce);
    const end = rows.at(-1)?.sequence ?? until;
    const heads = Map.groupBy(listLogHeads(tx, last, end), ({ sequence }) => sequence);
    for (const row of rows) {
      const text = activityText(row);
      length += text.length;
      lines.push(text, ...(heads.get(row.sequence) ?? []).map((head) => headText(headOfRow(head))));
    }
    last = end;
  }
  return { text: lines.join(''), next: last < until ? { after: last, until } : null };
}

const written = (value: z.output<typeof line>): string => `${JSON.stringify(value)}\n`;

const headText = ({ sequence, hash, signedAt, publicKey, signature }: SignedHead): string =>
  written({ kind: 'head', sequence, hash, signedAt, publicKey, signature });

const activityText = (row: ActivityRow): string =>
  written({
    kind: 'activity',
    sequence: row.sequence,
    id: row.id,
    revision: row.revision,
    organizationId: row.organizationId,
    type: row.type,
    status: row.status,
    fingerprint: row.fingerprint,
    timestampMs: row.timestampMs,
    intent: row.intent,
    result: row.result,
    failure: row.failure,
    votes: row.votes,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    previousHash: toHex(row.previousHash),
    hash: toHex(row.hash),
  });

interface ExportCheck {
  readonly check: LogCheck;
  readonly identity: LogIdentity;
  /** Of the key that the export says signs its heads; hex, uncompressed. */
  readonly publicKey: string;
}

/**
 * Checks an exported log.
 * @param chunks Its text, in pieces of any length.
 * @param given The key that its heads must be signed with, where the caller knows it, and heads that were noted.
 * @throws KeyhearthError INVALID_ARGUMENT where the first line is not that of an exported log.
 */
export async function checkExport(
  chunks: AsyncIterable<string>,
  given: { readonly publicKey?: string; readonly noted: readonly KnownHead[] },
): Promise<ExportCheck> {
  let first: LogLine | undefined;
  let checker: LogChecker | undefined;
  let last = 0;
  let number = 0;
  for await (const text of linesOf(chunks)) {
    number += 1;
    const value = readLine(text);
    if (first === undefined || checker === undefined) {
      if (typeof value === 'string' || value.kind !== 'log') throw noExport(value);
      first = value;
      checker = startOf(first, given);
    } else if (typeof value === 'string') {
      checker.find(null, `line ${number} ${value}`);
    } else if (value.kind === 'log') {
      checker.find(null, `line ${number} begins another log`);
    } else if (value.kind === 'head') {
      checker.head(value);
    } else {
      checker.row(rowOf(value));
      last = Math.max(last, value.sequence);
    }
  }
  if (first === undefined || checker === undefined) throw noExport('is missing: the file is empty');
  if (last !== first.rows) {
    checker.find(
      null,
      `the first line says that the log has ${first.rows} entries, and the last here is ${last}`,
    );
  }
  return { check: checker.end(), identity: first, publicKey: first.publicKey };
}

function startOf(first: LogLine, given: Parameters<typeof checkExport>[1]): LogChecker {
  const { publicKey = first.publicKey, noted } = given;
  const checker = new LogChecker({
    identity: first,
    publicKey,
    isGiven: given.publicKey !== undefined,
    noted,
  });
  if (publicKey !== first.publicKey) {
    checker.find(null, `the log is signed by the key ${first.publicKey}, not by the one given`);
  }
  if (first.head !== null) checker.head(first.head);
  return checker;
}

const rowOf = ({ previousHash, hash, status, ...rest }: z.output<typeof activityLine>): ActivityRow => ({
  ...rest,
  // A status that Keyhearth does not know has a hash like any other.
  status: status as ActivityStatus,
  previousHash: asUint8Array(Buffer.from(previousHash, 'hex')),
  hash: asUint8Array(Buffer.from(hash, 'hex')),
});

const noExport = (value: z.output<typeof line> | string): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    `this is no exported log: line 1 ${typeof value === 'string' ? value : `is of kind ${value.kind}, and should be of kind log`}`,
  );

const tooLong = (): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    'this is no exported log: a line is longer than any that Keyhearth writes',
  );

/** @returns what is wrong with the line, after its number, where it is not one that Keyhearth writes. */
function readLine(text: string): z.output<typeof line> | string {
  let value: unknown;
  try {
    value = parsePlainJson(text);
  } catch {
    return 'is not JSON';
  }
  const parsed = line.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? 'its fields' : issue.path.join('.');
    return `is not as Keyhearth writes it: ${field}: ${issue === undefined ? 'unknown' : expectation(issue)}`;
  }
  // The same fields twice, in another order or in other letters: readers could differ on what the line says.
  return JSON.stringify(parsed.data) === text ? parsed.data : 'is not as Keyhearth writes it, to the letter';
}

/** In characters: far more than a request and its result, escaped. The file may be a device or a pipe, which never ends. */
const longestLine = 128 * 1024 * 1024;

/** Lines end with a line feed alone: other separators may stand inside a JSON string. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  // Only what is new is searched: a line may be as long as a file.
  let begun: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [end = '', ...lines] = chunk.split('\n');
    begun.push(end);
    length += end.length;
    if (length > longestLine) throw tooLong();
    if (lines.length === 0) continue;
    yield begun.join('');
    begun = [lines.pop() ?? ''];
    length = begun[0]?.length ?? 0;
    yield* lines;
  }
  const rest = begun.join('');
  if (rest !== '') yield rest;
}
