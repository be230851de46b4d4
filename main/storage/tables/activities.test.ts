import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  activityHash,
  appendActivity,
  checkActivityChain,
  findActivityByFingerprint,
  getActivityRow,
  listActivityPart,
  listActivityRows,
  listEvents,
  listLog,
  listLogAfter,
  listWaiting,
  type LogPage,
  type ActivityEntry,
} from './activities.ts';
import { Connection } from '../connection.ts';
import type { Page } from '../page.ts';
import { migrate } from '../migrations.ts';
import { temporaryDirectory } from '../../../test/support/support.ts';

let connection: Connection;

beforeEach(() => {
  connection = Connection.open(':memory:');
  migrate(connection);
});

const organizationId = 'organization';

const entry = (id: string, more: Partial<ActivityEntry> = {}): ActivityEntry => ({
  id,
  revision: 1,
  organizationId,
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  status: 'ACTIVITY_STATUS_COMPLETED',
  fingerprint: `sha256:${id}`,
  timestampMs: 1,
  intent: '{}',
  result: '{}',
  failure: null,
  votes: '[]',
  createdAt: 1,
  updatedAt: 1,
  ...more,
});

const append = (...ids: string[]): void => {
  for (const id of ids) appendActivity(connection, entry(id));
};

/** An attacker with the file can do this: the triggers prevent only mistakes. */
function tamper(sql: string): void {
  connection.exec('DROP TRIGGER activities_no_update; DROP TRIGGER activities_no_delete;');
  connection.exec(sql);
}

describe('the chain', () => {
  test('of no rows is whole', () => {
    expect(checkActivityChain(connection)).toEqual({ ok: true, rows: 0, head: '00'.repeat(32) });
  });

  test('links each row to the one before it', () => {
    append('a', 'b', 'c');
    const rows = listActivityRows(connection, organizationId, {}, { limit: 10 }) ?? [];
    expect(rows.map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
    expect(rows.map(({ previousHash }) => Buffer.from(previousHash).toString('hex'))).toEqual([
      ...rows.slice(1).map(({ hash }) => Buffer.from(hash).toString('hex')),
      '00'.repeat(32),
    ]);
    const head = Buffer.from(rows[0]?.hash ?? []).toString('hex');
    expect(checkActivityChain(connection)).toEqual({ ok: true, rows: 3, head });
  });

  test('is followed over thousands of rows', () => {
    connection.transaction(() => {
      for (let index = 0; index < 2_500; index++) append(`row ${String(index)}`);
    });
    expect(checkActivityChain(connection)).toMatchObject({ ok: true, rows: 2_500 });
    tamper(`UPDATE activities SET intent = '{"x":1}' WHERE sequence = 2100`);
    expect(checkActivityChain(connection)).toMatchObject({ ok: false, sequence: 2_100 });
  });

  test.each([
    'id',
    'organization_id',
    'type',
    'status',
    'fingerprint',
    'intent',
    'result',
    'failure',
    'votes',
  ])('shows an edit of %s', (column) => {
    append('a', 'b', 'c');
    tamper(`UPDATE activities SET ${column} = 'edited' WHERE sequence = 2`);
    expect(checkActivityChain(connection)).toEqual({
      ok: false,
      sequence: 2,
      problem: 'entry 2 was changed after it was written',
    });
  });

  test.each(['revision', 'timestamp_ms', 'created_at', 'updated_at'])('shows an edit of %s', (column) => {
    append('a', 'b', 'c');
    tamper(`UPDATE activities SET ${column} = 99 WHERE sequence = 1`);
    expect(checkActivityChain(connection)).toMatchObject({ ok: false, sequence: 1 });
  });

  test('shows a result that was taken away', () => {
    append('a');
    tamper('UPDATE activities SET result = NULL');
    expect(checkActivityChain(connection)).toMatchObject({ ok: false, sequence: 1 });
  });

  test.each([1, 2])('shows that row %i is gone', (sequence) => {
    append('a', 'b', 'c');
    tamper(`DELETE FROM activities WHERE sequence = ${String(sequence)}`);
    expect(checkActivityChain(connection)).toEqual({
      ok: false,
      sequence,
      problem: `entry ${String(sequence)} is missing`,
    });
  });

  test('shows a row that is gone and whose successors were moved up', () => {
    append('a', 'b', 'c');
    tamper(
      'DELETE FROM activities WHERE sequence = 2; UPDATE activities SET sequence = 2 WHERE sequence = 3;',
    );
    expect(checkActivityChain(connection)).toEqual({
      ok: false,
      sequence: 2,
      problem: 'entry 2 does not follow the entry before it',
    });
  });

  test('shows two rows that were swapped', () => {
    append('a', 'b', 'c');
    tamper(`UPDATE activities SET sequence = 99 WHERE sequence = 2;
      UPDATE activities SET sequence = 2 WHERE sequence = 3; UPDATE activities SET sequence = 3 WHERE sequence = 99;`);
    expect(checkActivityChain(connection)).toMatchObject({ ok: false, sequence: 2 });
  });

  test('shows an edit whose own hash was computed again', () => {
    append('a', 'b', 'c');
    const row = getActivityRow(connection, organizationId, 'b');
    if (row === undefined) throw new Error('no row');
    const forged = Buffer.from(activityHash({ ...row, intent: '{"forged":true}' })).toString('hex');
    tamper(`UPDATE activities SET intent = '{"forged":true}', hash = x'${forged}' WHERE sequence = 2`);
    expect(checkActivityChain(connection)).toEqual({
      ok: false,
      sequence: 3,
      problem: 'entry 3 does not follow the entry before it',
    });
  });

  test('hashes fields apart: text that moves from one to the next is seen', () => {
    const base = { ...entry('a'), sequence: 1, previousHash: new Uint8Array(32) };
    const moved = { ...base, type: `${base.type}X`, status: base.status };
    expect(activityHash(moved)).not.toEqual(activityHash(base));
    expect(activityHash({ ...base, intent: '1', result: '23' })).not.toEqual(
      activityHash({ ...base, intent: '12', result: '3' }),
    );
    expect(activityHash({ ...base, result: null })).not.toEqual(activityHash({ ...base, result: 'null' }));
  });
});

describe('revisions', () => {
  test('the newest is the activity, in its first place of the list', () => {
    append('a', 'b');
    appendActivity(connection, entry('a', { revision: 2, status: 'ACTIVITY_STATUS_REJECTED', updatedAt: 2 }));
    expect(getActivityRow(connection, organizationId, 'a')).toMatchObject({ revision: 2, updatedAt: 2 });
    expect(findActivityByFingerprint(connection, organizationId, 'sha256:a')).toMatchObject({ revision: 2 });
    const rows = listActivityRows(connection, organizationId, {}, { limit: 10 }) ?? [];
    expect(rows.map(({ id, revision }) => [id, revision])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    const completed = { statuses: ['ACTIVITY_STATUS_COMPLETED'] };
    expect(listActivityRows(connection, organizationId, completed, { limit: 10 })).toMatchObject([
      { id: 'b' },
    ]);
    expect(checkActivityChain(connection)).toMatchObject({ ok: true, rows: 3 });
  });
});

describe('organizations', () => {
  test('see their own activities alone', () => {
    append('a');
    appendActivity(connection, entry('b', { organizationId: 'other', fingerprint: 'sha256:a' }));
    expect(getActivityRow(connection, organizationId, 'b')).toBeUndefined();
    expect(getActivityRow(connection, 'other', 'a')).toBeUndefined();
    expect(findActivityByFingerprint(connection, 'other', 'sha256:a')).toMatchObject({ id: 'b' });
    expect(listActivityRows(connection, 'other', {}, { limit: 10 })).toMatchObject([{ id: 'b' }]);
    expect(listActivityRows(connection, 'other', {}, { limit: 10, after: 'a' })).toBeUndefined();
  });
});

/** A row may have eight megabytes: a thousand of them at once are more than this process can hold. */
describe('pages of the log', () => {
  const mebibyte = 1024 * 1024;
  const long = (id: string, mebibytes: number): void => {
    appendActivity(connection, entry(id, { intent: 'x'.repeat(mebibytes * mebibyte) }));
  };
  const farAway = 1_000_000;
  const pages: Readonly<Record<string, (after: number, limit: number) => LogPage>> = {
    listLog: (after, limit) => listLog(connection, after, farAway, limit),
    'listLogAfter, of all': (after, limit) => listLogAfter(connection, undefined, after, limit),
    'listLogAfter, of one': (after, limit) => listLogAfter(connection, organizationId, after, limit),
    listEvents: (after, limit) => listEvents(connection, organizationId, { after, until: farAway, limit }),
  };

  test.each(Object.entries(pages))('%s: end with their bytes, and say whether it goes on', (_name, read) => {
    const seen: number[][] = [];
    for (const [id, size] of Object.entries({ a: 1, b: 2, c: 2, d: 9, e: 1, f: 1, g: 1 })) long(id, size);
    for (let after = 0; ;) {
      const { rows, isEnd } = read(after, 4);
      seen.push(rows.map(({ sequence }) => sequence));
      after = rows.at(-1)?.sequence ?? after;
      if (isEnd) break;
    }
    // Three of them are five, the fourth alone is more than a page, and the last three fill none.
    expect(seen).toEqual([[1, 2], [3], [4], [5, 6, 7]]);
    expect(read(7, 4)).toEqual({ rows: [], isEnd: true });
  });

  // The class is a page that costs as much as the whole rest of the log: a walk over the log would grow with its square.
  test.runIf(process.platform === 'linux').each(Object.entries(pages))(
    '%s: read no more of the file than their own rows',
    (_name, read) => {
      using directory = temporaryDirectory();
      connection = Connection.open(join(directory.path, 'vault.db'));
      migrate(connection);
      connection.exec('BEGIN');
      for (let row = 0; row < 5_000; row++) {
        appendActivity(connection, entry(`row ${String(row)}`, { intent: 'x'.repeat(3_000) }));
      }
      connection.exec('COMMIT');
      const size = statSync(join(directory.path, 'vault.db')).size;
      const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
      const before = bytesRead();
      let seen = 0;
      for (let after = 0; ;) {
        const { rows, isEnd } = read(after, 50);
        seen += rows.length;
        after = rows.at(-1)?.sequence ?? after;
        if (isEnd) break;
      }
      expect(seen).toBe(5_000);
      expect(bytesRead() - before).toBeLessThan(4 * size);
      connection.close();
    },
  );

  test('that end with their number say so too', () => {
    append('a', 'b', 'c');
    expect(listLog(connection, 0, 100, 3)).toMatchObject({ isEnd: true });
    expect(listLog(connection, 0, 100, 2)).toMatchObject({ isEnd: false });
    expect(listLog(connection, 0, 2, 2)).toMatchObject({ isEnd: true });
  });

  test('the walk along the chain goes on after a page that is short for its bytes', () => {
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) long(id, 3);
    expect(checkActivityChain(connection)).toMatchObject({ ok: true, rows: 6 });
    tamper("UPDATE activities SET result = 'other' WHERE sequence = 6");
    expect(checkActivityChain(connection)).toMatchObject({ ok: false, sequence: 6 });
  });

  test('a list of activities is whole, or says how to ask for less', () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) long(id, 7);
    const list = (limit: number) => listActivityRows(connection, organizationId, {}, { limit });
    expect(list(4)?.map(({ id }) => id)).toEqual(['e', 'd', 'c', 'b']);
    expect(() => list(5)).toThrow(
      'invalid paginationOptions.limit: 5 of these activities come to 36 MiB, and an answer has 32 at most; ask for fewer',
    );
    long('f', 40);
    expect(list(1)?.map(({ id }) => id)).toEqual(['f']);
  });

  // The class: long activities of one user keep no one from reading a list.
  test('a list in parts comes to an end, however long its activities are, in both directions', () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) long(id, 14);
    long('f', 40);
    append('g');
    const walk = (direction: 'after' | 'before', limit: number, start: Partial<Page> = {}): string[][] => {
      const parts: string[][] = [];
      for (let page: Page = { limit, ...start }; parts.length < 10;) {
        const part = listActivityPart(connection, organizationId, {}, page);
        parts.push(part?.rows.map(({ id }) => id) ?? []);
        if (part?.next === undefined) break;
        page = { limit, [direction]: part.next };
      }
      return parts;
    };
    expect(walk('after', 10)).toEqual([['g'], ['f'], ['e', 'd'], ['c', 'b'], ['a']]);
    expect(walk('after', 1)).toEqual([['g'], ['f'], ['e'], ['d'], ['c'], ['b'], ['a']]);
    expect(walk('before', 10, { before: 'a' })).toEqual([['c', 'b'], ['e', 'd'], ['f'], ['g']]);
    expect(listActivityPart(connection, organizationId, {}, { limit: 10, after: 'none' })).toBeUndefined();
  });

  test('what waits for votes is listed by its index, from where a list ended', () => {
    append('a');
    const waits = { status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' } as const;
    appendActivity(connection, entry('b', { ...waits, result: null }));
    appendActivity(connection, entry('c', { ...waits, result: null }));
    appendActivity(connection, entry('c', { revision: 2 }));
    const all = listWaiting(connection, { organizationId: '', sequence: 0 }, 10);
    expect(all.map(({ sequence, isNewest }) => [sequence, isNewest])).toEqual([
      [2, 1],
      [3, 0],
    ]);
    const [first, second] = all;
    expect(listWaiting(connection, { organizationId: '', sequence: 0 }, 1)).toEqual([first]);
    expect(first && listWaiting(connection, first, 10)).toEqual([second]);
    const plan = connection.all<{ detail: string }>(
      "EXPLAIN QUERY PLAN SELECT sequence FROM activities WHERE (organization_id, sequence) > ('', 0) AND status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED' ORDER BY organization_id, sequence LIMIT 1",
    );
    expect(plan.map(({ detail }) => detail).join()).toMatch(/USING (COVERING )?INDEX activities_waiting/);
  });
});
