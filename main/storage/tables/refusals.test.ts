import { expect, test } from 'vitest';
import { Connection } from '../connection.ts';
import { migrate } from '../migrations.ts';
import { getRefusalRow, insertRefusal, listRefusalRows, type RefusalRow } from './refusals.ts';

const row = (id: string, organizationId: string): RefusalRow => ({
  id,
  organizationId,
  userId: 'user',
  snapshot: 'snapshot',
  publicKey: 'key',
  type: id === 'b' ? 'OTHER' : 'TYPE',
  intent: '{}',
  reason: 'none',
  createdAt: 1,
});

test('the newest of each organization are kept', () => {
  const connection = Connection.open(':memory:');
  migrate(connection);
  connection.run('PRAGMA foreign_keys = OFF');
  for (const organization of ['one', 'two']) {
    for (const id of ['a', 'b', 'c', 'd']) insertRefusal(connection, row(organization + id, organization), 3);
  }
  const ids = (organization: string, limit = 10) =>
    listRefusalRows(connection, organization, limit).map(({ id }) => id);
  expect(ids('one')).toEqual(['oned', 'onec', 'oneb']);
  expect(ids('two', 2)).toEqual(['twod', 'twoc']);
  expect(listRefusalRows(connection, 'one', 10, ['OTHER'])).toEqual([]);
  expect(getRefusalRow(connection, 'one', 'oned')).toEqual(row('oned', 'one'));
  expect(getRefusalRow(connection, 'two', 'oned')).toBeUndefined();
  connection.close();
});
