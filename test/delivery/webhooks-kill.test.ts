/** No event is lost: the vault is killed in the middle of its work, over and over. */
import { expect, test } from 'vitest';
import { atLength } from '../campaigns/length.ts';
import { killUnderWebhooks } from './webhook-kill.ts';

const activities = atLength(200, 2_500);
const rounds = atLength(4, 50);

test(
  `kill -9 during ${String(activities)} activities, ${String(rounds)} times: each event arrives, in order, and verifies`,
  { timeout: atLength(4, 30) * 60_000 },
  async () => {
    const report = await killUnderWebhooks(activities, rounds);
    expect(report).toMatchObject({ lost: 0, unverified: 0, outOfOrder: 0, kills: rounds });
    expect(report.appended).toBeGreaterThanOrEqual(activities);
    expect(report.accepted).toBeGreaterThanOrEqual(report.appended);
  },
);
