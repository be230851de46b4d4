/**
 * The vault keeps all that it has answered: the process is killed in the middle of its work, over and over.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { checkActivityChain } from '../../main/storage/tables/activities.ts';
import { Connection } from '../../main/storage/connection.ts';
import { activityOf, newWallet, type ActivityBody, type Json, type TestClient } from '../support/support.ts';
import { atLength, report, roundsOf } from './length.ts';
import { ServedVault, Signing, type Acknowledged } from './served-vault.ts';

const rounds = atLength(8, 220);
const connections = 16;

test(
  `kill -9 during ${String(connections)} connections of signing, up to ${String(rounds)} rounds: nothing that was answered is lost`,
  { timeout: atLength(4, 40) * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    let { process, client } = await vault.serve();
    const wallet = await newWallet(client);
    const all = new Map<string, Acknowledged>();
    let interrupted = 0;

    for (const round of roundsOf(4, rounds, () => interrupted > 0)) {
      const signing = new Signing(client, wallet, connections);
      await vi.waitUntil(() => signing.answered.length > 0, { timeout: 60_000, interval: 10 });
      await sleep(Math.random() * 900);
      expect(await process.stop('SIGKILL')).toBe('SIGKILL');
      await signing.stop();
      expect(signing.refused).toEqual([]);
      interrupted += signing.unanswered.length;

      ({ process, client } = await vault.serve());
      const kept = await listUntil(client, new Set(signing.answered.map(({ id }) => id)));
      for (const { id, fingerprint, result } of signing.answered) {
        expect(kept.get(id), `round ${String(round)}: activity ${id} was answered`).toMatchObject({
          status: 'ACTIVITY_STATUS_COMPLETED',
          fingerprint,
          result,
        });
        all.set(fingerprint, { id, fingerprint, result });
      }
      // An unanswered request was executed or not, and the same body finds out without executing it twice.
      for (const body of signing.unanswered) {
        const first = activityOf(await client.post('submit/sign_raw_payload', body));
        expect(activityOf(await client.post('submit/sign_raw_payload', body)).id).toBe(first.id);
        all.set(first.fingerprint, first);
      }
    }
    expect(interrupted).toBeGreaterThan(0);
    expect(await process.stop()).toBe(0);
    report('kill -9', { rounds, answers: all.size, 'without an answer': interrupted });

    // The last COMMIT sealed what it wrote, whenever the process ended.
    const doctor = await vault.run(['doctor', '--json', '--no-keychain', '--password-fd', '3']);
    const { findings } = JSON.parse(doctor.stdout) as { findings: readonly Json[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: 'rows', outcome: 'ok' }));

    const connection = Connection.open(join(vault.directory, 'vault.db'));
    try {
      expect(connection.pragma('integrity_check')).toBe('ok');
      expect(connection.all('PRAGMA foreign_key_check')).toEqual([]);
      // The wallet is an activity as well; the answered and the repeated ones are all there is beside it.
      expect(checkActivityChain(connection)).toMatchObject({ ok: true, rows: all.size + 1 });
      const rows = connection.all<{ id: string; fingerprint: string; result: string }>(
        "SELECT id, fingerprint, result FROM activities WHERE type = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
      );
      for (const { id, fingerprint, result } of rows) {
        const expected = all.get(fingerprint);
        expect(expected?.id).toBe(id);
        expect(expected?.result['signRawPayloadResult']).toEqual(JSON.parse(result));
      }
    } finally {
      connection.close();
    }
  },
);

/** Pages through the log, newest first, until every wanted id was seen or the log ends. */
async function listUntil(client: TestClient, wanted: Set<string>): Promise<Map<string, ActivityBody>> {
  const found = new Map<string, ActivityBody>();
  let after: string | undefined;
  while (wanted.size > 0) {
    const paginationOptions = { limit: '100', ...(after === undefined ? {} : { after }) };
    const { body } = await client.query('list_activities', { paginationOptions });
    const activities = body?.['activities'] as ActivityBody[];
    if (activities.length === 0) break;
    for (const activity of activities) {
      found.set(activity.id, activity);
      wanted.delete(activity.id);
    }
    after = activities.at(-1)?.id;
  }
  return found;
}
