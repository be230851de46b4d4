import { expect, test } from 'vitest';
import { appendActivity } from '../db/activities.ts';
import { Connection } from '../db/connection.ts';
import { migrate } from '../db/migrations.ts';
import { operations } from '../operations/index.ts';
import { eventsAfter } from './events.ts';

test('a page of events is found among so many rows of the log, whoever they are of', () => {
  using connection = open();
  const { tx } = connection;
  for (let row = 1; row <= 25; row++) {
    appendActivity(tx, {
      ...{ id: String(row), revision: 1, organizationId: [10, 11, 24].includes(row) ? 'mine' : 'another' },
      ...{ type: 'ACTIVITY_TYPE_CREATE_WALLET', timestampMs: 1, intent: '{}', fingerprint: String(row) },
      ...{ status: 'ACTIVITY_STATUS_FAILED', result: null, failure: null },
      ...{ votes: '[]', createdAt: 1, updatedAt: 1 },
    });
  }
  const pages: unknown[] = [];
  let after = 0;
  for (let more = true; more;) {
    const page = eventsAfter(tx, 'mine', { after, limit: 2, rows: 8 }, operations);
    pages.push([page.events.map(({ id }) => id), page.looked]);
    ({ looked: after, more } = page);
  }
  // The second ends with its limit.
  expect(pages).toEqual([
    [[], 8],
    [[10, 11], 11],
    [[], 19],
    [[24], 25],
  ]);
  expect(eventsAfter(tx, 'mine', { after: 99, limit: 2, rows: 8 }, operations)).toEqual({
    ...{ events: [], looked: 99, more: false },
  });
});

function open(): { readonly tx: Connection } & Disposable {
  const tx = Connection.open(':memory:');
  migrate(tx);
  return {
    tx,
    [Symbol.dispose]: () => {
      tx.close();
    },
  };
}
