/** The class of these tests: an index of the log that was filled so that a request hides, or shows as another. */
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Connection } from '../connection.ts';
import { migrate } from '../migrations.ts';
import { appendActivity } from '../tables/activities.ts';
import type { ActivityStatus } from '../../lib/activity-status.ts';
import { misleadIndex } from '../../../test/support/misled-index.ts';
import { checkLog } from './log.ts';

function logOf(...statuses: readonly ActivityStatus[]): Buffer {
  const connection = Connection.open(':memory:');
  try {
    migrate(connection);
    statuses.forEach((status, index) => {
      appendActivity(connection, {
        id: String(index),
        revision: 1,
        organizationId: 'o',
        type: 'ACTIVITY_TYPE_CREATE_WALLET',
        status,
        fingerprint: `sha256:${String(index)}`,
        timestampMs: 1,
        intent: '{}',
        result: null,
        failure: null,
        votes: '[]',
        createdAt: 1,
        updatedAt: 1,
      });
    });
    return connection.serialize();
  } finally {
    connection.close();
  }
}

/** Fills the index of what waits as if it were over the rows of another condition. */
function misled(file: Buffer, condition: string): Buffer {
  const sqlite = new Sqlite(file);
  try {
    const index = 'activities_waiting';
    misleadIndex(
      sqlite,
      index,
      `CREATE INDEX ${index} ON activities (organization_id, sequence) WHERE ${condition}`,
    );
    return sqlite.serialize();
  } finally {
    sqlite.close();
  }
}

const waits = "status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'";

test.each([
  ['holds what waits', waits, undefined],
  ['hides one, which a freeze would not end', `${waits} AND sequence <> 2`, '2'],
  ['hides all', "status = 'none'", '1'],
  ['shows as waiting what is done, which a freeze would reject', 'sequence > 0', '3'],
])('an index of what waits for votes that %s', (_what, condition, row) => {
  const needed = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
  const connection = Connection.openBytes(
    misled(logOf(needed, needed, 'ACTIVITY_STATUS_COMPLETED'), condition),
  );
  try {
    const finding = { table: 'activities', row, problem: 'an index does not lead to it' };
    expect(checkLog(connection)).toEqual(row === undefined ? [] : [finding]);
  } finally {
    connection.close();
  }
});
