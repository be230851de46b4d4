/** What the vault has answered it keeps: the process is killed in the middle of its work, over and over. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkActivityChain } from '../main/db/activities.ts';
import { Connection } from '../main/db/connection.ts';
import {
  activityOf,
  CommandProcess,
  newWallet,
  runCommand,
  TestClient,
  temporaryDirectory,
  testKeyOf,
} from './support.ts';
import type { ActivityBody, Json } from './support.ts';

const rounds = 20;
const connections = 16;
const seconds = 1_000;

/** An activity that was answered. */
interface Acknowledged {
  readonly id: string;
  readonly fingerprint: string;
  readonly result: ActivityBody['result'];
}

test(
  `kill -9 during ${String(connections)} connections of signing, ${String(rounds)} rounds: nothing that was answered is lost`,
  { timeout: 240 * seconds },
  async () => {
    using home = temporaryDirectory();
    const directory = join(home.path, 'vault');
    const locations = ['--data-dir', directory, '--config-dir', home.path];
    const secret = { descriptor3: 'a password for this test' };
    const made = await runCommand(
      ['init', '--no-keychain', '--json', ...locations, '--password-fd', '3'],
      secret,
    );
    const { organizationId } = JSON.parse(made.stdout) as { organizationId: string };
    const read = (name: string): string => readFileSync(join(home.path, 'keys', name), 'utf8').trim();
    const key = testKeyOf(read('owner.private'), read('owner.public'));

    await using processes = new AsyncDisposableStack();
    async function serve(): Promise<{ process: CommandProcess; client: TestClient }> {
      const argv = ['serve', '--port', '0', '--no-keychain', '--json', ...locations, '--password-fd', '3'];
      const process = processes.use(new CommandProcess(argv, secret));
      const { url } = JSON.parse(await process.nextLine()) as { url: string };
      return { process, client: new TestClient(url, organizationId, key) };
    }

    let { process, client } = await serve();
    const { ethereum, solana } = await newWallet(client);
    const all = new Map<string, Acknowledged>();
    let interrupted = 0;

    for (let round = 1; round <= rounds; round++) {
      const answered: Acknowledged[] = [];
      const unanswered: string[] = [];
      const workers = Array.from({ length: connections }, async (_, worker) => {
        for (let count = 0; ; count++) {
          const onSolana = (worker + count) % 2 === 1;
          const body = client.submitBody('SIGN_RAW_PAYLOAD_V2', {
            signWith: onSolana ? solana : ethereum,
            payload: `round ${String(round)}, worker ${String(worker)}, payload ${String(count)}`,
            encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
            hashFunction: onSolana ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_SHA256',
          });
          const activity = await sign(client.url, key.stamp(body), body);
          if (activity === undefined) {
            unanswered.push(body);
            return;
          }
          answered.push(activity);
        }
      });
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 900));
      expect(await process.stop('SIGKILL')).toBe('SIGKILL');
      await Promise.all(workers);
      expect(answered.length).toBeGreaterThan(0);
      interrupted += unanswered.length;

      ({ process, client } = await serve());
      const kept = await listUntil(client, new Set(answered.map(({ id }) => id)));
      for (const { id, fingerprint, result } of answered) {
        expect(kept.get(id), `round ${String(round)}: activity ${id} was answered`).toMatchObject({
          status: 'ACTIVITY_STATUS_COMPLETED',
          fingerprint,
          result,
        });
        all.set(fingerprint, { id, fingerprint, result });
      }
      // What was not answered was done or not done, and the same body finds out which without doing it twice.
      for (const body of unanswered) {
        const first = activityOf(await client.post('submit/sign_raw_payload', body));
        expect(activityOf(await client.post('submit/sign_raw_payload', body)).id).toBe(first.id);
        all.set(first.fingerprint, first);
      }
    }
    expect(interrupted).toBeGreaterThan(0);
    expect(await process.stop()).toBe(0);

    // The last COMMIT sealed what it wrote, whenever the process ended.
    const doctor = await runCommand(
      ['doctor', '--json', '--no-keychain', ...locations, '--password-fd', '3'],
      secret,
    );
    const { findings } = JSON.parse(doctor.stdout) as { findings: readonly Json[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: 'rows', outcome: 'ok' }));

    const connection = Connection.open(join(directory, 'vault.db'));
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

/** @returns undefined where no answer came. @throws Error for an answer that is no completed activity. */
async function sign(url: string, stamp: string, body: string): Promise<Acknowledged | undefined> {
  let status: number;
  let answer: Json;
  try {
    const response = await fetch(`${url}/public/v1/submit/sign_raw_payload`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Stamp': stamp },
      body,
    });
    ({ status } = response);
    answer = (await response.json()) as Json;
  } catch {
    return undefined;
  }
  if (status !== 200) throw new Error(`HTTP ${String(status)}: ${JSON.stringify(answer)}`);
  const { id, fingerprint, result } = answer['activity'] as ActivityBody;
  return { id, fingerprint, result };
}

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
