/**
 * Activities as a list of any length. Each is at the place of its first revision, and stays there. The places
 * that fit a search are read from one index, unless the search is in their texts.
 */
import { defined } from '../../lib/defined.ts';
import type { ActivityStatus } from '../../lib/activity-status.ts';
import { getActivityRow, type ActivityRow } from './activities.ts';
import type { Reader, Value } from '../connection.ts';
import { anywhere, lookThrough, readNumbers, type Slice } from '../slices.ts';

/** Filters for activities; an absent one matches all. */
export interface ActivitySearch {
  readonly types?: readonly string[];
  readonly statuses?: readonly string[];
  /** The user who submitted the activity. */
  readonly userId?: string;
  /** From this time on, in milliseconds. */
  readonly since?: number;
  /** Before this time. */
  readonly until?: number;
  /** Part of the id, the fingerprint, the request or the result. */
  readonly text?: string;
  /** A wallet, key, user or policy: it was signed with, or the request or the result names it. */
  readonly about?: string;
}

/** Part of the log, by its rows' numbers; neither end belongs to it. */
export interface LogSpan {
  readonly before: number;
  readonly after: number;
}

/** Those that an activity moves on from. */
const openStatuses: readonly ActivityStatus[] = [
  'ACTIVITY_STATUS_CREATED',
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
];
const isOpen = (status: string): boolean => (openStatuses as readonly string[]).includes(status);
const open = openStatuses.map((status) => `'${status}'`).join(', ');

/** The user of the first vote, as `makeVote` writes it: the index has this very expression. */
const firstVoter = 'substr(a.votes, 57, 36)';
const firstSnapshot = 'substr(a.votes, 107, 64)';

const later = `(SELECT l.status FROM activities AS l INDEXED BY activities_id
  WHERE l.id = (SELECT i.id FROM activities AS i WHERE i.sequence = a.sequence) ORDER BY l.revision DESC LIMIT 1)`;

const somewhere = ['a.id', 'a.fingerprint', 'a.intent', 'a.result', 'a.failure']
  .map((column) => `${column} LIKE ? ESCAPE '\\'`)
  .join(' OR ');
const somewhereLater = `a.status IN (${open}) AND EXISTS (SELECT 1 FROM activities AS l INDEXED BY activities_id
  WHERE l.id = a.id AND l.revision > 1 AND (l.result LIKE ? ESCAPE '\\' OR l.failure LIKE ? ESCAPE '\\'))`;

/** A field of a request; NULL where the request cannot be read. */
const named = (field: string): string =>
  `iif(json_valid(a.intent), json_extract(a.intent, '$.${field}'), NULL)`;
const signer = `coalesce(${named('signWith')}, ${named('privateKeyId')}, ${named('address')})`;
const signerHex = `lower(iif(${signer} LIKE '0x%', substr(${signer}, 3), ${signer}))`;
/** A public key in any form of `readPublicKey`, as it is kept. */
const signerKey = `iif(length(${signerHex}) = 130,
  iif(substr(${signerHex}, 130) GLOB '[13579bdf]', '03', '02') || substr(${signerHex}, 3, 64), ${signerHex})`;
const signedBy = `EXISTS (SELECT 1 FROM wallet_accounts AS w
    WHERE w.organization_id = a.organization_id AND w.address = ${signer} AND w.wallet_id = ?)
  OR EXISTS (SELECT 1 FROM wallet_accounts AS w
    WHERE w.organization_id = a.organization_id AND w.public_key = ${signerKey} AND w.wallet_id = ?)
  OR EXISTS (SELECT 1 FROM private_key_addresses AS k
    WHERE k.organization_id = a.organization_id AND k.address = ${signer} AND k.private_key_id = ?)
  OR EXISTS (SELECT 1 FROM private_keys AS k
    WHERE k.organization_id = a.organization_id AND k.public_key = ${signerKey} AND k.id = ?)`;

/** Hex stands with and without its 0x: in addresses, and inside of transactions. */
const withoutPrefix = (text: string): string => (/^0x[0-9a-f]{3,}$/i.test(text) ? text.slice(2) : text);

function conditionsOf(search: ActivitySearch): { readonly sql: string; readonly values: readonly Value[] } {
  const { types, statuses, userId, since, until, text, about } = search;
  const parts: [sql: string, ...values: Value[]][] = [['a.revision = 1']];
  if (types) parts.push(['a.type IN (SELECT value FROM json_each(?))', JSON.stringify(types)]);
  if (userId !== undefined) parts.push([`${firstVoter} = ?`, userId]);
  if (since !== undefined) parts.push(['a.created_at >= ?', since]);
  if (until !== undefined) parts.push(['a.created_at < ?', until]);
  if (statuses) {
    parts.push([
      `CASE WHEN a.status IN (${open}) THEN ${later} ELSE a.status END IN (SELECT value FROM json_each(?))`,
      JSON.stringify(statuses),
    ]);
  }
  if (text !== undefined) {
    // As it stands in JSON, where some characters are written otherwise.
    const pattern = anywhere(JSON.stringify(withoutPrefix(text)).slice(1, -1));
    parts.push([`(${somewhere} OR ${somewhereLater})`, ...new Array<string>(7).fill(pattern)]);
  }
  if (about !== undefined) {
    const named = new Array<string>(7).fill(anywhere(about));
    parts.push([
      `(${somewhere} OR ${somewhereLater} OR ${signedBy})`,
      ...named,
      ...new Array<string>(4).fill(about),
    ]);
  }
  return { sql: parts.map(([sql]) => sql).join(' AND '), values: parts.flatMap(([, ...values]) => values) };
}

/** Rows that are looked at before the clock is: of texts fewer, which may be megabytes long. */
const firstStretch = { places: 500, texts: 8 };

/**
 * Finds the activities that fit a search, newest first, as far as one slice reaches.
 * @returns numbers of rows: each activity's first revision.
 */
export function findActivities(
  tx: Reader,
  organizationId: string,
  search: ActivitySearch,
  span: LogSpan,
  most?: number,
): Slice {
  const { sql, values } = conditionsOf(search);
  const first =
    search.text === undefined && search.about === undefined ? firstStretch.places : firstStretch.texts;
  return lookThrough(
    (before, rows) => {
      const row = tx.get<{ found: string; looked: number; last: number | null }>(
        `SELECT json_group_array(sequence) FILTER (WHERE fits) AS found, count(*) AS looked, min(sequence) AS last
         FROM (SELECT a.sequence, ${sql} AS fits FROM activities AS a INDEXED BY activities_places
           WHERE a.organization_id = ? AND a.sequence < ? AND a.sequence > ? ORDER BY a.sequence DESC LIMIT ?)`,
        ...values,
        organizationId,
        before,
        span.after,
        rows,
      );
      return { found: readNumbers(row?.found ?? '[]'), looked: row?.looked ?? 0, last: row?.last ?? null };
    },
    span.before,
    { first, ...defined({ most }) },
  );
}

/** An activity's line in a list. */
export interface ActivityLine {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  /** As of now. */
  readonly status: string;
  readonly createdAt: number;
  /** The submitter, and the name of their snapshot at that time; empty if the vault itself acted. */
  readonly userId: string;
  readonly snapshot: string;
  /** JSON; null where it is too long for a line in a list. */
  readonly intent: string | null;
  /** Of the JSON, in bytes. */
  readonly intentSize: number;
}

/** An intent that is longer says in a list how long it is. */
const longestIntent = 8_000;

/** Of one place; undefined where no activity of the organization begins there. */
export function getActivityLine(
  tx: Reader,
  organizationId: string,
  sequence: number,
): ActivityLine | undefined {
  const line = tx.get<ActivityLine>(
    `SELECT a.sequence, a.id, a.type, a.status, a.created_at AS createdAt, ${firstVoter} AS userId,
       ${firstSnapshot} AS snapshot, octet_length(a.intent) AS intentSize,
       CASE WHEN octet_length(a.intent) <= ${String(longestIntent)} THEN a.intent END AS intent
     FROM activities AS a WHERE a.sequence = ? AND a.organization_id = ? AND a.revision = 1`,
    sequence,
    organizationId,
  );
  if (line === undefined || !isOpen(line.status)) return line;
  const present = tx.get<{ status: string }>(
    'SELECT status FROM activities WHERE id = ? ORDER BY revision DESC LIMIT 1',
    line.id,
  );
  return { ...line, status: present?.status ?? line.status };
}

/** When the activity was asked for that begins at a place. */
export const createdAtPlace = (tx: Reader, sequence: number): number =>
  tx.get<{ at: number }>('SELECT created_at AS at FROM activities WHERE sequence = ?', sequence)?.at ?? 0;

/** The newest revision of the activity that begins at a place. */
export function getActivityAtPlace(
  tx: Reader,
  organizationId: string,
  sequence: number,
): ActivityRow | undefined {
  const first = tx.get<{ id: string }>(
    'SELECT id FROM activities WHERE sequence = ? AND organization_id = ? AND revision = 1',
    sequence,
    organizationId,
  );
  return first && getActivityRow(tx, organizationId, first.id);
}

/** An activity's places in the log, one for each revision, in the order in which they were written. */
export const listActivityPlaces = (tx: Reader, organizationId: string, id: string): readonly number[] =>
  tx
    .all<{ sequence: number }>(
      'SELECT sequence FROM activities WHERE id = ? AND organization_id = ? ORDER BY revision',
      id,
      organizationId,
    )
    .map(({ sequence }) => sequence);
