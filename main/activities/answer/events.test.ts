import { expect, test } from 'vitest';
import { appendActivity } from '../../storage/tables/activities.ts';
import { Connection } from '../../storage/connection.ts';
import { migrate } from '../../storage/migrations.ts';
import { insertOrganization } from '../../storage/tables/organizations.ts';
import { operations } from '../../operations/index.ts';
import { eventsAfter, newestEvent, rowOfEvent } from './events.ts';

test('a page of events is found among many rows of the log, of any user', () => {
  using connection = open();
  const { tx } = connection;
  for (let row = 1; row <= 25; row++) append(tx, [10, 11, 12, 24].includes(row) ? 'mine' : 'another');
  const pages: unknown[] = [];
  let after = 0;
  for (let more = true; more;) {
    const page = eventsAfter(tx, 'mine', { after, limit: 2, rows: 8 }, operations);
    pages.push([page.events.map(({ id }) => rowOfEvent(tx, 'mine', id)), page.looked]);
    ({ looked: after, more } = page);
  }
  // The second ends with its limit.
  expect(pages).toEqual([
    [[], 8],
    [[10, 11], 11],
    [[12], 19],
    [[24], 25],
  ]);
  expect(eventsAfter(tx, 'mine', { after: 99, limit: 2, rows: 8 }, operations)).toEqual({
    ...{ events: [], looked: 99, more: false },
  });
});

test('an id goes on where it was sent, and is refused to another organization, with what to send instead', () => {
  using connection = open();
  const { tx } = connection;
  for (const organization of ['another', 'mine', 'vault', 'mine']) append(tx, organization);
  const [first, second] = eventsAfter(tx, 'mine', { after: 0, limit: 9, rows: 9 }, operations).events;
  expect([first, second].map((event) => rowOfEvent(tx, 'mine', event?.id ?? 0))).toEqual([2, 4]);
  // The vault's own organization has every row, under its number.
  const all = eventsAfter(tx, 'vault', { after: 0, limit: 9, rows: 9 }, operations).events;
  expect(all.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  for (const organization of ['vault', 'mine', 'another']) expect(rowOfEvent(tx, organization, 0)).toBe(0);
  // The number of a row, as earlier versions sent it to sub-organizations: to take it would tell how long the log is.
  for (const id of [1, 2, 3, 4, 5, 10 ** 15 - 1]) {
    expect(() => rowOfEvent(tx, 'mine', id), String(id)).toThrow(
      `this vault has sent no event ${String(id)} to this organization; leave it out to begin with what comes next, or send 0 to begin with the first`,
    );
  }
  for (const id of [5, 10 ** 15 - 1, first?.id ?? 0]) {
    expect(() => rowOfEvent(tx, 'vault', id), String(id)).toThrow('invalid lastEventId');
  }
  expect(() => rowOfEvent(tx, 'another', first?.id ?? 0)).toThrow('invalid lastEventId');
  expect(newestEvent(tx)).toBe(4);
});

function append(tx: Connection, organizationId: string): void {
  const id = String(newestEvent(tx) + 1);
  appendActivity(tx, {
    ...{ id, revision: 1, organizationId, type: 'ACTIVITY_TYPE_CREATE_WALLET' },
    ...{ timestampMs: 1, intent: '{}', fingerprint: id },
    ...{ status: 'ACTIVITY_STATUS_FAILED', result: null, failure: null },
    ...{ votes: '[]', createdAt: 1, updatedAt: 1 },
  });
}

function open(): { readonly tx: Connection } & Disposable {
  const tx = Connection.open(':memory:');
  migrate(tx);
  for (const [id, parentId] of [
    ['vault', null],
    ['mine', 'vault'],
    ['another', 'vault'],
  ] as const) {
    insertOrganization(tx, {
      ...{ id, parentId, name: id, rootQuorumThreshold: 1 },
      ...{ createdAt: 1, updatedAt: 1 },
    });
  }
  return {
    tx,
    [Symbol.dispose]: () => {
      tx.close();
    },
  };
}
