/** No event is lost: the vault is killed in the middle of its work, over and over. */
import { expect, test } from 'vitest';
import { killUnderWebhooks } from './webhook-kill.ts';

const activities = 200;
const rounds = 4;

test(
  `kill -9 during ${String(activities)} activities, ${String(rounds)} times: each event arrives, in order, and verifies`,
  { timeout: 240_000 },
  async () => {
    const report = await killUnderWebhooks(activities, rounds);
    expect(report).toMatchObject({ lost: 0, unverified: 0, outOfOrder: 0, kills: rounds });
    expect(report.appended).toBeGreaterThanOrEqual(activities);
    expect(report.accepted).toBeGreaterThanOrEqual(report.appended);
  },
);
