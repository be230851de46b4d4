import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { appendActivity } from './activities.ts';
import { Connection } from '../connection.ts';
import { migrate } from '../migrations.ts';
import { insertOutboxRow } from './outbox.ts';
import {
  adoptWebhookDeliveries,
  deliveryIds,
  forgetWebhookDeliveries,
  getWebhookDelivery,
  keepWebhookResult,
  listWaitingDeliveries,
  listWebhookDeliveries,
  removeWebhookEndpoint,
  sendEventsAgain,
  sendWebhookAgain,
} from './webhook-deliveries.ts';
import {
  getWebhookEndpoint,
  insertWebhookEndpoint,
  moveEndpoint,
  updateWebhookEndpoint,
  type WebhookEndpointRow,
} from './webhook-endpoints.ts';

let db: Connection;

beforeEach(() => {
  db = Connection.open(':memory:');
  migrate(db);
  for (const [id, parent] of [
    ['root', null],
    ['child', 'root'],
  ]) {
    db.run(
      'INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at, parent_id) VALUES (?, ?, 1, 0, 0, ?)',
      id ?? '',
      id ?? '',
      parent ?? null,
    );
  }
});
afterEach(() => {
  db.close();
});

/** Rows of the log, by the organization of each. */
function append(...organizations: readonly string[]): void {
  for (const organizationId of organizations) appendOf(organizationId);
}

function appendOf(organizationId: string, updatedAt?: number): void {
  const number = db.get<{ count: number }>('SELECT count(*) AS count FROM activities')?.count ?? 0;
  appendActivity(db, {
    id: `activity ${String(number + 1)}`,
    revision: 1,
    organizationId,
    type: `TYPE_${String((number + 1) % 2)}`,
    status: 'ACTIVITY_STATUS_COMPLETED',
    fingerprint: `sha256:${String(number)}`,
    timestampMs: 0,
    intent: '{}',
    result: '{}',
    failure: null,
    votes: '[]',
    createdAt: number,
    updatedAt: updatedAt ?? number + 1,
  });
}

function makeEndpoint(id: string, organizationId = 'root', filters?: object): void {
  const subscription = { eventType: 'ACTIVITY_UPDATES', isActive: true };
  insertWebhookEndpoint(db, {
    id,
    organizationId,
    feature: 0,
    url: 'http://127.0.0.1/',
    name: id,
    active: 1,
    subscriptions: JSON.stringify([
      { ...subscription, ...(filters && { filtersJson: JSON.stringify(filters) }) },
    ]),
    createdAt: 0,
    updatedAt: 0,
  });
}

function endpoint(id: string): WebhookEndpointRow {
  const row = getWebhookEndpoint(db, id);
  if (row === undefined) throw new Error(`there is no endpoint ${id}`);
  return row;
}

function deliver(id: string, ...sequences: readonly number[]): void {
  keepWebhookResult(db, endpoint(id), {
    sequences,
    state: 'delivered',
    attempts: 1,
    finishedAt: 1,
    note: 'HTTP 200',
  });
  moveEndpoint(db, id, { from: endpoint(id).position ?? -1, to: Math.max(...sequences) });
}

const list = (organizationId = 'root', filter: Parameters<typeof listWebhookDeliveries>[2] = {}): string[] =>
  listWebhookDeliveries(db, organizationId, filter, { limit: 100 }).map(
    ({ endpointId, sequence, state }) => `${endpointId} ${String(sequence)} ${state}`,
  );

describe('deliveries', () => {
  test('are what has come to an end, and what the log has beyond an endpoint’s place', () => {
    append('root');
    makeEndpoint('a');
    makeEndpoint('b');
    append('root', 'child', 'root');
    deliver('a', 2, 3);
    expect(list()).toEqual([
      'b 4 waiting',
      'a 4 waiting',
      'b 3 waiting',
      'a 3 delivered',
      'b 2 waiting',
      'a 2 delivered',
    ]);
    expect(list('root', { endpointId: 'a', state: 'waiting' })).toEqual(['a 4 waiting']);
    expect(list('root', { state: 'delivered' })).toEqual(['a 3 delivered', 'a 2 delivered']);
    expect(list('child')).toEqual([]);
  });

  test('are listed a page at a time, in every state', () => {
    makeEndpoint('a');
    makeEndpoint('b');
    append(...Array.from({ length: 7 }, () => 'root'));
    deliver('a', 1, 2, 3);
    deliver('b', 1, 2, 3, 4, 5);
    const seen: string[] = [];
    let before: { sequence: number; endpointId: string } | undefined;
    for (;;) {
      const page = listWebhookDeliveries(db, 'root', {}, { before, limit: 3 });
      seen.push(
        ...page.map(({ endpointId, sequence, state }) => `${endpointId} ${String(sequence)} ${state}`),
      );
      before = page.at(-1);
      if (page.length < 3) break;
    }
    expect(seen).toEqual(list());
    expect(seen).toHaveLength(14);
  });

  test('are found by their id, whether they have a row or not, in their organization alone', () => {
    makeEndpoint('a', 'child');
    append('child', 'root', 'child');
    deliver('a', 1);
    const idOf = (sequence: number): string => deliveryIds(db, 'child').of('a', sequence);
    expect(idOf(1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(getWebhookDelivery(db, 'child', idOf(1))).toMatchObject({
      state: 'delivered',
      activityId: 'activity 1',
    });
    expect(getWebhookDelivery(db, 'child', idOf(3))).toMatchObject({
      state: 'waiting',
      activityId: 'activity 3',
    });
    // It is not told of its parent.
    expect(getWebhookDelivery(db, 'child', idOf(2))).toBeUndefined();
    expect(getWebhookDelivery(db, 'child', idOf(9))).toBeUndefined();
    expect(getWebhookDelivery(db, 'root', idOf(1))).toBeUndefined();
    for (const id of ['', 'x', crypto.randomUUID()])
      expect(getWebhookDelivery(db, 'child', id)).toBeUndefined();
  });

  test('of an endpoint with filters are those that it wants', () => {
    makeEndpoint('a', 'root', { activityTypes: ['TYPE_1'] });
    append('root', 'root', 'root');
    expect(list()).toEqual(['a 3 waiting', 'a 1 waiting']);
  });

  test('of an endpoint that is switched off are what came before, and none of what came while it was off', () => {
    makeEndpoint('a');
    append('root');
    updateWebhookEndpoint(db, { ...endpoint('a'), active: 0 });
    append('root');
    expect(list()).toEqual(['a 1 waiting']);
    updateWebhookEndpoint(db, { ...endpoint('a'), active: 1 });
    append('root');
    expect(list()).toEqual(['a 3 waiting']);
  });

  test('of an endpoint that is removed wait no longer', () => {
    makeEndpoint('a');
    append('root', 'root');
    deliver('a', 1, 2);
    const delivery = getWebhookDelivery(db, 'root', deliveryIds(db, 'root').of('a', 1));
    if (delivery === undefined) throw new Error('it is not found');
    sendWebhookAgain(db, delivery);
    removeWebhookEndpoint(db, 'a', 5);
    expect(list()).toEqual(['a 2 delivered', 'a 1 refused']);
  });
});

describe('sending again', () => {
  test('puts the endpoint back to the first event since a time, without a second row for any', () => {
    makeEndpoint('a');
    append('root', 'root', 'root', 'root');
    deliver('a', 1, 2);
    keepWebhookResult(db, endpoint('a'), {
      sequences: [3],
      state: 'waiting',
      attempts: 4,
      nextAt: 9,
      note: 'no',
    });
    moveEndpoint(db, 'a', { from: 2, to: 3 });
    expect(sendEventsAgain(db, endpoint('a'), { since: 2, most: 10 })).toBe(3);
    expect(endpoint('a').position).toBe(1);
    expect(listWaitingDeliveries(db, 'a', 9)).toEqual([]);
    expect(list()).toEqual(['a 4 waiting', 'a 3 waiting', 'a 2 waiting', 'a 1 delivered']);
    // Already further back than that.
    expect(sendEventsAgain(db, endpoint('a'), { since: 4, most: 10 })).toBe(1);
    expect(endpoint('a').position).toBe(1);
    expect(sendEventsAgain(db, endpoint('a'), { since: 0, most: 3 })).toBeUndefined();
    expect(sendEventsAgain(db, endpoint('a'), { since: 99, most: 3 })).toBe(0);
  });

  test('events that are sent again are counted with those of a deleted sub-organization, and from before a clock was put back', () => {
    makeEndpoint('a');
    append('root', 'root', 'child', 'deleted');
    appendOf('deleted', 1);
    deliver('a', 1, 2, 3, 4, 5);
    expect(sendEventsAgain(db, endpoint('a'), { since: 2, most: 3 })).toBeUndefined();
    expect(sendEventsAgain(db, endpoint('a'), { since: 2, most: 4 })).toBe(4);
    expect(list('root', { state: 'waiting' })).toHaveLength(4);
  });

  test('a batch’s outcomes do not move an endpoint that was sent back meanwhile', () => {
    makeEndpoint('a');
    append('root', 'root');
    deliver('a', 1);
    sendEventsAgain(db, endpoint('a'), { since: 0, most: 10 });
    expect(moveEndpoint(db, 'a', { from: 1, to: 2 })).toBe(false);
    expect(endpoint('a').position).toBe(0);
  });
});

test('a number of those that came to an end is kept of each organization, and all that wait', () => {
  makeEndpoint('a');
  makeEndpoint('b', 'child');
  append(...Array.from({ length: 6 }, () => 'child'));
  deliver('a', 1, 2, 3, 4, 5, 6);
  deliver('b', 1, 2, 3, 4, 5, 6);
  keepWebhookResult(db, endpoint('a'), { sequences: [1], state: 'waiting', attempts: 0, note: null });
  expect(forgetWebhookDeliveries(db, 'root', 2)).toBe(3);
  expect(list()).toEqual(['a 6 delivered', 'a 5 delivered', 'a 1 waiting']);
  expect(list('child')).toHaveLength(6);
});

test('deliveries of an earlier version are taken over from the outbox, and its endpoints begin at the log’s end', () => {
  makeEndpoint('a');
  append('root', 'root', 'root');
  db.run('UPDATE webhook_endpoints SET place = NULL');
  for (const sequence of [1, 2, 3]) {
    insertOutboxRow(db, {
      id: String(sequence),
      organizationId: 'root',
      kind: 'webhook',
      queue: 'webhook a',
      reference: JSON.stringify({ endpointId: 'a', sequence }),
      expiresAt: null,
      createdAt: 0,
    });
  }
  insertOutboxRow(db, {
    ...{ id: 'mail', organizationId: 'root', kind: 'message', queue: 'mail', reference: '{}' },
    ...{ expiresAt: null, createdAt: 0 },
  });
  db.run(
    `UPDATE outbox SET state = 'delivered', attempts = 1, finished_at = 5, note = 'HTTP 200' WHERE id = '1'`,
  );
  adoptWebhookDeliveries(db);
  adoptWebhookDeliveries(db);
  expect(list()).toEqual(['a 3 waiting', 'a 2 waiting', 'a 1 delivered']);
  expect(listWaitingDeliveries(db, 'a', 9).map(({ sequence }) => sequence)).toEqual([2, 3]);
  expect(endpoint('a').position).toBe(3);
  expect(db.all('SELECT id FROM outbox')).toEqual([{ id: 'mail' }]);
});
