/** Counts of signing requests hold whatever is counted before, and no step reads more than its rows. */
import { expect, test } from 'vitest';
import type { ActivityStatus } from '../../lib/activity-status.ts';
import { Connection } from '../../storage/connection.ts';
import { migrate } from '../../storage/migrations.ts';
import { appendActivity } from '../../storage/tables/activities.ts';
import { insertRefusal } from '../../storage/tables/refusals.ts';
import { countedDays, SigningCounts } from './signing-counts.ts';

const day = 24 * 3_600_000;
/** Noon, in the time zone of this computer. */
const noon = new Date(2026, 10, 24, 12).getTime();
const completed = 'ACTIVITY_STATUS_COMPLETED';

function newLog() {
  const connection = Connection.open(':memory:');
  migrate(connection);
  connection.exec(
    ['a', 'b']
      .map(
        (id) =>
          `INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('${id}', '${id}', 1, 0, 0);`,
      )
      .join(''),
  );
  let ids = 0;
  const counts = new SigningCounts(['SIGN']);
  return {
    add(
      at: number,
      status: ActivityStatus = completed,
      { type = 'SIGN', organizationId = 'a', id = '' } = {},
    ) {
      const isNew = id === '';
      appendActivity(connection, {
        id: isNew ? String(++ids) : id,
        revision: isNew ? 1 : 2,
        organizationId,
        type,
        status,
        fingerprint: `sha256:${isNew ? String(ids) : id}`,
        timestampMs: at,
        intent: '{}',
        result: null,
        failure: null,
        votes: '[]',
        createdAt: isNew ? at : 0,
        updatedAt: at,
      });
      return String(ids);
    },
    refuse(at: number, type = 'SIGN') {
      insertRefusal(
        connection,
        {
          id: `refusal ${String(++ids)}`,
          organizationId: 'a',
          userId: 'u',
          snapshot: 's',
          publicKey: 'k',
          type,
          intent: '{}',
          reason: 'none',
          createdAt: at,
        },
        1_000,
      );
    },
    /** Days with anything, as [days ago, signed, refused], and the number of pauses. */
    read(now = noon, organizationId = 'a') {
      const work = counts.days(connection, organizationId, now);
      for (let pauses = 0; ; pauses++) {
        const { done, value } = work.next();
        if (done !== true) continue;
        expect(value).toHaveLength(countedDays);
        return {
          pauses,
          dates: value.map(({ date }) => date),
          days: value.flatMap(({ signed, refused }, index) =>
            signed + refused === 0 ? [] : [[countedDays - 1 - index, signed, refused]],
          ),
        };
      }
    },
  };
}

test('signed and refused requests are counted by day, once each, and nothing else is', () => {
  const log = newLog();
  log.add(noon - 31 * day);
  log.add(noon - 29 * day);
  const waiting = log.add(noon - 3 * day, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
  log.add(noon - 2 * day, completed, { type: 'CREATE' });
  log.add(noon - 2 * day, 'ACTIVITY_STATUS_FAILED');
  log.refuse(noon - 2 * day);
  log.refuse(noon - 2 * day, 'CREATE');
  log.refuse(noon - 40 * day);
  log.add(noon, completed, { organizationId: 'b' });
  const before = [
    [29, 1, 0],
    [2, 0, 2],
  ];
  expect(log.read().days).toEqual(before);
  expect(log.read().days).toEqual(before);
  // A vote counts on its own day, not on the day of the request.
  log.add(noon, completed, { id: waiting });
  log.add(noon);
  expect(log.read().days).toEqual([...before, [0, 2, 0]]);
  expect(log.read(noon, 'b').days).toEqual([[0, 1, 0]]);
  const tomorrow = log.read(noon + day);
  expect(tomorrow.days).toEqual([
    [3, 0, 2],
    [1, 2, 0],
  ]);
  expect([tomorrow.dates[0], tomorrow.dates.at(-1)]).toEqual(['2026-10-27', '2026-11-25']);
});

test('a long log is counted in steps, and each row once', () => {
  const log = newLog();
  for (let row = 0; row < 9_000; row++) log.add(noon - day);
  const first = log.read();
  expect(first.pauses).toBe(4);
  expect(first.days).toEqual([[1, 9_000, 0]]);
  log.add(noon);
  const second = log.read();
  expect(second.pauses).toBe(0);
  expect(second.days).toEqual([
    [1, 9_000, 0],
    [0, 1, 0],
  ]);
});

test('rows from before the 30 days are not read to their end', () => {
  const log = newLog();
  for (let row = 0; row < 9_000; row++) log.add(noon - 60 * day);
  expect(log.read()).toMatchObject({ pauses: 0, days: [] });
});
