/**
 * Activities as a list that may have a million of them: where those are that fit a search, what a page of it shows, where each
 * stands in the log, and all of them to take away. The real API has nothing of the kind.
 *
 * No question keeps the vault for more than a few milliseconds: it is answered as far as it came, with where to go on.
 */
import { z } from 'zod';
import { query, type Shown } from '../../activities/define.ts';
import {
  activityHash,
  activityHashAt,
  getActivityRow,
  getLogRow,
  type ActivityRow,
} from '../../storage/tables/activities.ts';
import {
  createdAtPlace,
  findActivities,
  getActivityAtPlace,
  getActivityLine,
  listActivityPlaces,
  type ActivityLine,
  type ActivitySearch,
} from '../../storage/tables/activity-lists.ts';
import type { Reader } from '../../storage/connection.ts';
import { firstHeadOver } from '../../storage/tables/log-heads.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { fromPublicId, rowIdsOf, toPublicId } from '../../storage/row-ids.ts';
import { findUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import { toHex } from '../../crypto/encodings.ts';
import { defined } from '../../lib/defined.ts';
import { readFailure } from '../../lib/errors.ts';
import { activityStatuses } from '../../lib/activity-status.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { timestamp } from '../../lib/clock.ts';
import { activityType } from './activity-parameters.ts';
import { csvLine } from './csv.ts';
import { limits } from '../shared/limits.ts';
import { blocksOf, mostPlaces, place, places, shownBlock } from '../shared/list-places.ts';
import { orNotFound, id } from '../shared/parameters.ts';
import { shownPart } from './spoken.ts';
import { spokenOf } from './spoken-activity.ts';

const milliseconds = z
  .string()
  .regex(/^[0-9]{1,15}$/, 'Expected a time in milliseconds, in digits')
  .transform(Number);

/** Filters for activities; an absent filter matches all. */
const search = {
  filterByStatus: z.array(z.enum(activityStatuses)).max(limits.batch).optional(),
  filterByType: z.array(activityType).max(limits.batch).optional(),
  /** The user who submitted the activity. */
  userId: id.optional(),
  sinceMs: milliseconds.optional(),
  untilMs: milliseconds.optional(),
  /** Part of the id, the fingerprint, the request or the result; the case of A to Z does not matter. */
  text: z.string().min(1).max(200).optional(),
  /** A wallet, a private key, a user or a policy: it was signed with, or the request or the result names it. */
  about: id.optional(),
};

type Search = z.output<z.ZodObject<typeof search>>;

const searchOf = ({
  filterByStatus,
  filterByType,
  userId,
  sinceMs,
  untilMs,
  text,
  about,
}: Search): ActivitySearch => ({
  ...(filterByStatus?.length ? { statuses: filterByStatus } : {}),
  ...(filterByType?.length ? { types: filterByType } : {}),
  ...defined({ userId, since: sinceMs, until: untilMs, text, about }),
});

export const outlineActivities = query({
  path: 'outline_activities',
  summary:
    'Tells where in the log the activities are that fit a search, however many: as far as a few milliseconds go, and where to go on.',
  own: true,
  params: z.object({
    ...search,
    /** Only what is older than this place; what an earlier answer said to go on with. */
    before: place.optional(),
    /** Only what is newer than this place. */
    after: place.optional(),
  }),
  returns: z.object({
    outline: z
      .object({
        /** Newest first. */
        blocks: z.array(shownBlock),
        /** `before` of the next query. Absent at the end. */
        next: place.optional(),
      })
      .meta({ id: 'ActivityOutline' }),
  }),
  run({ tx, organizationId, params, caller }) {
    const shown = rowIdsOf(tx, caller.organizationId, 'activities');
    const span = {
      before: params.before === undefined ? Number.MAX_SAFE_INTEGER : fromPublicId(shown, params.before),
      after: params.after === undefined ? 0 : fromPublicId(shown, params.after),
    };
    const slice = findActivities(tx, organizationId, searchOf(params), span, mostPlaces);
    return {
      outline: {
        blocks: blocksOf(slice.found, shown, (sequence) => createdAtPlace(tx, sequence)),
        ...(slice.next === null ? {} : { next: toPublicId(shown, slice.next) }),
      },
    };
  },
});

const shownLine = z
  .object({
    place,
    id: z.string(),
    type: z.string(),
    /** As of now. */
    status: z.string(),
    createdAt: z.object({ seconds: z.string(), nanos: z.string() }),
    userId: z.string(),
    /** The name at the time of the request. */
    userName: z.string(),
    /** The JSON of its parameters. Absent where it is too long for a line. */
    intent: z.string().optional(),
    /** Of that JSON, in bytes. */
    intentSize: z.int(),
    /** Its objects, with their names. Absent where the JSON is. */
    about: z.array(shownPart).optional(),
  })
  .meta({ id: 'ActivityLine' });

export const browseActivities = query({
  path: 'browse_activities',
  summary: 'Shows a line of each activity at some places of the log.',
  own: true,
  params: z.object({ places }),
  returns: z.object({ lines: z.array(shownLine) }),
  *run({ tx, organizationId, params, caller, operations }): Paced<{ readonly lines: readonly Line[] }> {
    const nameOf = namesOf(tx);
    const rows = rowIdsOf(tx, caller.organizationId, 'activities').find(params.places);
    const lines: Line[] = [];
    for (const [index, each] of params.places.entries()) {
      const line = getActivityLine(tx, organizationId, rows[index] ?? 0);
      if (line === undefined) continue;
      const { type, intent } = line;
      lines.push({
        place: each,
        ...lineOf(line, nameOf(line.snapshot)),
        ...(intent !== null && { about: spokenOf(tx, operations, { type, organizationId, intent }).about }),
      });
      yield;
    }
    return { lines };
  },
});

type Line = Shown<z.output<typeof shownLine>>;

/** Names of users by their snapshots; a page has few of them. */
function namesOf(tx: Reader): (snapshot: string) => string {
  const names = new Map<string, string>();
  return (snapshot) => {
    let name = names.get(snapshot);
    if (name === undefined) names.set(snapshot, (name = findUserSnapshot(tx, snapshot)?.userName ?? ''));
    return name;
  };
}

const lineOf = (line: ActivityLine, userName: string) => ({
  id: line.id,
  type: line.type,
  status: line.status,
  createdAt: timestamp(line.createdAt),
  userId: line.userId,
  userName,
  ...(line.intent === null ? {} : { intent: line.intent }),
  intentSize: line.intentSize,
});

const shownEntry = z
  .object({
    place,
    revision: z.int(),
    status: z.string(),
    writtenAt: z.object({ seconds: z.string(), nanos: z.string() }),
    /**
     * Hex; over the row, its number in the whole log, and the hash before it. Absent for users of a
     * sub-organization: it would tell how many rows others have.
     */
    hash: z.string().optional(),
    previousHash: z.string().optional(),
    /** True if the hash matches the row as it is now, and the previous hash matches the row before it. */
    intact: z.boolean(),
    /** The first signed head that covers it. Absent while there is none, and for users of a sub-organization. */
    head: z
      .object({
        place,
        hash: z.string(),
        signedAt: z.object({ seconds: z.string(), nanos: z.string() }),
        /** Hex, uncompressed P-256. */
        publicKey: z.string(),
        /** DER in hex. */
        signature: z.string(),
      })
      .optional(),
  })
  .meta({ id: 'ActivityEntry' });

export const getActivityEntries = query({
  path: 'get_activity_entries',
  summary:
    'Shows where an activity stands in the log: its entries, their hashes, and which signed head covers them.',
  own: true,
  params: z.object({ activityId: id }),
  returns: z.object({ entries: z.array(shownEntry) }),
  run({ tx, organizationId, params: { activityId }, caller }) {
    orNotFound(getActivityRow(tx, organizationId, activityId), `unable to find activity ${activityId}`);
    return {
      entries: showEntries(tx, caller, listActivityPlaces(tx, organizationId, activityId)),
    };
  },
});

function showEntries(tx: Reader, caller: Caller, rows: readonly number[]) {
  const shown = rowIdsOf(tx, caller.organizationId, 'activities').show(rows);
  const isWholeLog = getOrganization(tx, caller.organizationId)?.parentId === null;
  return rows.map((sequence, index) => {
    const { chain, ...entry } = entryAt(tx, sequence);
    return { place: shown[index] ?? 0, ...entry, ...(isWholeLog ? chain : {}) };
  });
}

function entryAt(tx: Reader, sequence: number) {
  const row = orNotFound(getLogRow(tx, sequence), `unable to find entry ${String(sequence)}`);
  const before = activityHashAt(tx, sequence - 1);
  const head = firstHeadOver(tx, sequence);
  return {
    revision: row.revision,
    status: row.status,
    writtenAt: timestamp(row.updatedAt),
    intact:
      Buffer.compare(row.hash, activityHash(row)) === 0 &&
      before !== undefined &&
      Buffer.compare(before, row.previousHash) === 0,
    /** For callers who may know the whole log, since it shows the log's length. */
    chain: {
      hash: toHex(row.hash),
      previousHash: toHex(row.previousHash),
      ...(head && {
        head: {
          place: head.sequence,
          hash: toHex(head.hash),
          signedAt: timestamp(head.signedAt),
          publicKey: head.publicKey,
          signature: head.signature,
        },
      }),
    },
  };
}

const csvColumns = [
  'place',
  'activityId',
  'type',
  'status',
  'createdAt',
  'fingerprint',
  'parameters',
  'result',
  'failure',
  'userId',
  'userName',
] as const;

const csvFields = (row: ActivityRow): readonly string[] => [
  row.id,
  row.type,
  row.status,
  new Date(row.createdAt).toISOString(),
  row.fingerprint,
  row.intent,
  row.result ?? '',
  row.failure === null ? '' : readFailure(row.failure).message,
];

/** Rows in one part of an export, and milliseconds of writing it: a row may be megabytes long. */
const mostExported = 100;
const exportMs = 4;

export const exportActivities = query({
  path: 'export_activities',
  summary: 'Writes the activities that fit a search as JSON or CSV, in parts.',
  own: true,
  params: z.object({
    ...search,
    /** `JSON` has each activity as `get_activity` shows it. */
    format: z.enum(['JSON', 'CSV']),
    /** `next` of an earlier answer. */
    before: place.optional(),
  }),
  returns: z.object({
    export: z
      .object({
        /** One for each activity, the newest first; before those of CSV comes its head, in the first part. */
        lines: z.array(z.string()),
        next: place.optional(),
      })
      .meta({ id: 'ActivityExport' }),
  }),
  run({ tx, organizationId, params, caller, showActivity }) {
    const { format } = params;
    const shown = rowIdsOf(tx, caller.organizationId, 'activities');
    const before = params.before === undefined ? Number.MAX_SAFE_INTEGER : fromPublicId(shown, params.before);
    const slice = findActivities(tx, organizationId, searchOf(params), { before, after: 0 }, 1);
    const end = performance.now() + exportMs;
    const nameOf = namesOf(tx);
    const lines = format === 'CSV' && params.before === undefined ? [csvLine(csvColumns)] : [];
    let next = slice.next;
    for (const [index, sequence] of slice.found.entries()) {
      const row = getActivityAtPlace(tx, organizationId, sequence);
      if (row === undefined) continue;
      if (format === 'JSON') lines.push(JSON.stringify(showActivity(row)));
      else {
        const { userId = '', snapshot = '' } = getActivityLine(tx, organizationId, sequence) ?? {};
        lines.push(csvLine([toPublicId(shown, sequence), ...csvFields(row), userId, nameOf(snapshot)]));
      }
      const left = index + 1 < slice.found.length;
      if (left && (index + 1 >= mostExported || performance.now() >= end)) {
        next = sequence;
        break;
      }
    }
    return { export: { lines, ...(next === null ? {} : { next: toPublicId(shown, next) }) } };
  },
});
