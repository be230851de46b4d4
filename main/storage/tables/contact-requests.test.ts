import { afterEach, beforeEach, expect, test } from 'vitest';
import { latest } from '../../lib/clock.ts';
import { Connection } from '../connection.ts';
import { countContactRequests, insertContactRequest } from './contact-requests.ts';
import { migrate } from '../migrations.ts';
import { countOneTimeCodes, insertOneTimeCode } from './one-time-codes.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const now = 100 * day;

let db: Connection;

beforeEach(() => {
  db = Connection.open(':memory:');
  migrate(db);
  db.exec(
    `INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'O', 1, 0, 0)`,
  );
});
afterEach(() => {
  db.close();
});

/** Otherwise a user who asked for codes while the clock was ahead would get none until that clock's time. */
test('what was asked for by a clock that was ahead counts against no limit once it is set right', () => {
  for (const at of [now - minute, now, now + 10, now + 30 * day]) {
    insertContactRequest(db, {
      ...{ organizationId: 'o', contact: 'ann@example.com', identifier: null, requestedAt: at },
    });
    insertOneTimeCode(db, {
      ...{ id: String(at), organizationId: 'o', purpose: 'sign in', userId: null, channel: 'email' },
      ...{ contact: 'ann@example.com', sealed: new Uint8Array(1), wrongTries: 0 },
      ...{ expiresAt: at + 5 * minute, createdAt: at },
    });
  }
  const request = { organizationId: 'o', contact: 'ann@example.com', identifier: null };
  expect(countContactRequests(db, request, { after: now - day, until: latest(now) })).toMatchObject({
    all: 3,
    toContact: 3,
  });
  expect(countOneTimeCodes(db, 'o', 'ann@example.com', now)).toBe(3);
});
