import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../connection.ts';
import { migrate } from '../migrations.ts';
import { latest } from '../../lib/clock.ts';
import { reserve, reservedOf, settleReservations } from './policy-reservations.ts';

const counter = { organizationId: 'o', measure: 'eth.tx.value', by: '[]' };
const keepMs = 1_000_000;

let connection: Connection;

beforeEach(() => {
  connection = Connection.open(':memory:');
  migrate(connection);
  connection.exec(
    `INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'O', 1, 0, 0), ('p', 'P', 1, 0, 0)`,
  );
});
afterEach(() => {
  connection.close();
});

const add = (amount: bigint, now: number, to = counter, keep = keepMs): void => {
  reserve(connection, to, { activityId: 'a', amount, now }, keep);
};

describe('what was reserved', () => {
  test('is summed from after a time on, beyond what a number holds', () => {
    expect(reservedOf(connection, counter)(0)).toBe(0n);
    add(2n ** 200n, 10);
    add(5n, 20);
    add(7n, 20);
    expect(reservedOf(connection, counter)(0)).toBe(2n ** 200n + 12n);
    expect(reservedOf(connection, counter)(10)).toBe(12n);
    expect(reservedOf(connection, counter)(19)).toBe(12n);
    expect(reservedOf(connection, counter)(20)).toBe(0n);
  });

  test('is kept apart by organization, measure and what it is kept by', () => {
    add(1n, 10);
    add(2n, 10, { ...counter, organizationId: 'p' });
    add(4n, 10, { ...counter, measure: '' });
    add(8n, 10, { ...counter, by: '[["submitter.id","u"]]' });
    expect(reservedOf(connection, counter)(0)).toBe(1n);
  });

  test('does not fall out of a window by a clock that is put back', () => {
    add(10n, 1_000);
    // For a moment it is an hour earlier.
    add(1n, 1);
    expect(reservedOf(connection, counter)(900)).toBe(11n);
    add(1n, 1_001);
    expect(reservedOf(connection, counter)(999)).toBe(12n);
  });

  test('at times to come, by a clock that was ahead, counts for one window from when it was set right', () => {
    const day = 24 * 60 * 60_000;
    const now = 100 * day;
    const keep = 60 * day;
    add(1n, now - 1, counter, keep);
    add(2n, now + 30 * day, counter, keep);
    add(4n, now + 31 * day, counter, keep);
    add(8n, now, { ...counter, organizationId: 'p' });
    expect(reservedOf(connection, counter)(now - day)).toBe(7n);
    // Without it, and for a month, all that is spent would count as spent then.
    expect(settleReservations(connection, now)).toBe(2);
    expect(reservedOf(connection, counter)(now - day)).toBe(7n);
    add(16n, now + 10, counter, keep);
    expect(reservedOf(connection, counter)(now + 10 - day)).toBe(23n);
    expect(reservedOf(connection, counter)(now)).toBe(16n);
    expect(reservedOf(connection, { ...counter, organizationId: 'p' })(now - day)).toBe(8n);
    // A clock that is set back by seconds settles nothing.
    expect(settleReservations(connection, now - 1_000)).toBe(0);
  });

  test('keeps its order, and so its sum, wherever the clock is set right', () => {
    const times = fc.array(fc.integer({ min: 0, max: 240_000 }), { minLength: 1, maxLength: 8 });
    const day = 24 * 60 * 60_000;
    let run = 0;
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 240_000 }), (ahead, right) => {
        run += 1;
        const own = { ...counter, by: String(run) };
        for (const at of ahead) add(1n, day + at, own, 366 * day);
        settleReservations(connection, day + right);
        const spent = BigInt(ahead.length);
        expect(reservedOf(connection, own)(right)).toBe(spent);
        add(1n, day + right, own, 366 * day);
        expect(reservedOf(connection, own)(right)).toBe(spent + 1n);
        // Once all of it is a day ago, none of it counts.
        expect(reservedOf(connection, own)(latest(day + right))).toBe(0n);
      }),
      { numRuns: 60 },
    );
  });

  test('is what adding up says, whatever was reserved and forgotten', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.bigInt({ min: 0n, max: 9n })), {
      maxLength: 40,
    });
    let run = 0;
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 100 }), (all, window) => {
        run += 1;
        const own = { ...counter, by: String(run) };
        let now = 0;
        const reserved: (readonly [number, bigint])[] = [];
        for (const [pause, amount] of all) {
          now += pause;
          add(amount, now, own, 100);
          reserved.push([now, amount]);
          const since = now - window;
          const expected = reserved.filter(([at]) => at > since).reduce((sum, [, part]) => sum + part, 0n);
          expect(reservedOf(connection, own)(since)).toBe(expected);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('is deleted once it cannot matter', () => {
    for (let at = 1; at <= 50; at++) add(1n, at * 100, counter, 300);
    const kept = connection.get<{ count: number }>('SELECT count(*) AS count FROM policy_reservations');
    expect(kept?.count).toBe(4);
    expect(reservedOf(connection, counter)(4_700)).toBe(3n);
  });
});
