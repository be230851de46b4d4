/**
 * Programs that ask while processes die. A request waits for a vote; its caller leaves or is killed, or the service is killed; the
 * vote comes before or after the request comes again. No vote is lost, nothing is signed twice, and no waiter is left.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Connection } from '../../main/storage/connection.ts';
import { activityOf, type ActivityBody, type Json, type TestClient } from '../support/support.ts';
import { runProgram } from '../support/programs.ts';
import { atLength, report } from './length.ts';
import { ServedVault } from './served-vault.ts';

const rounds = atLength(4, 1000);

/** The end of the first caller, while its request waits. */
const ends = ['leaves', 'is killed', 'stays', 'leaves', 'is killed', 'stays', 'loses the service'] as const;

test(
  `${String(rounds)} rounds of requests that wait: no vote is lost, nothing is signed twice, and no waiter is left`,
  { timeout: atLength(4, 60) * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    let { process, client } = await vault.serve();
    const here = join(vault.home, 'files');
    mkdirSync(here);
    const { publicKey, socket } = await prepare(vault, client);
    const pub = join(here, 'key.pub');
    writeFileSync(pub, `${publicKey}\n`);

    const ask = (message: string): ChildProcess => {
      rmSync(`${message}.sig`, { force: true });
      return spawn('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'file', '-f', pub, message], {
        cwd: here,
        env: { SSH_AUTH_SOCK: socket, HOME: here },
        stdio: 'ignore',
      });
    };
    const over = async (child: ChildProcess): Promise<number | null> => {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return child.exitCode;
    };
    const vote = async (fingerprint: string): Promise<void> => {
      activityOf(await client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
    };
    const isSigned = async (message: string): Promise<void> => {
      const argv = ['-Y', 'check-novalidate', '-n', 'file', '-s', join(here, `${message}.sig`)];
      const checking = spawn('ssh-keygen', argv, { stdio: ['pipe', 'ignore', 'ignore'] });
      checking.stdin.end(readFileSync(join(here, message)));
      expect(await over(checking)).toBe(0);
    };

    let kills = 0;
    for (let round = 0; round < rounds; round += 1) {
      const message = `message-${String(round)}`;
      writeFileSync(join(here, message), message);
      // A start of the service takes as long as many rounds.
      const end = ends[round % (round < 14 ? 7 : 6)] ?? 'stays';
      const first = ask(message);
      const fingerprint = await waiting(client);
      if (end === 'leaves') first.kill('SIGTERM');
      if (end === 'is killed') first.kill('SIGKILL');
      if (end === 'loses the service' || round % 40 === 39) {
        kills += 1;
        expect(await process.stop('SIGKILL')).toBe('SIGKILL');
        await over(first);
        ({ process, client } = await vault.serve());
      } else if (end !== 'stays') await over(first);

      const isThere = first.exitCode === null && first.signalCode === null;
      const isLate = Math.floor(round / 7) % 2 === 1;
      if (isThere) {
        await vote(fingerprint);
        expect(await over(first), `round ${String(round)}`).toBe(0);
      } else if (isLate) {
        await vote(fingerprint);
        expect(await over(ask(message)), `round ${String(round)}, ${end}`).toBe(0);
      } else {
        const second = ask(message);
        // The repeat waits for the same vote.
        await vi.waitFor(() => {
          expect(callersOf(socket)).toBe(1);
        });
        expect(await waiting(client)).toBe(fingerprint);
        await vote(fingerprint);
        expect(await over(second), `round ${String(round)}, ${end}`).toBe(0);
      }
      await isSigned(message);
    }
    await vi.waitFor(() => {
      expect(callersOf(socket)).toBe(0);
    });
    expect(await process.stop()).toBe(0);
    report('doors', { rounds, 'kills of the service': kills });

    const connection = Connection.open(join(vault.directory, 'vault.db'));
    try {
      const rows = connection.all<{ id: string; status: string; payload: string }>(
        `SELECT id, status, json_extract(intent, '$.payload') AS payload FROM activities
         WHERE type = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' AND result IS NOT NULL`,
      );
      expect(rows).toHaveLength(rounds);
      expect(new Set(rows.map(({ payload }) => payload)).size).toBe(rounds);
      const asked = connection.all<{ id: string }>(
        "SELECT DISTINCT id FROM activities WHERE type = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
      );
      expect(asked).toHaveLength(rounds);
    } finally {
      connection.close();
    }
  },
);

/** A key, and a program that asks for each signature by it. */
async function prepare(
  vault: ServedVault,
  client: TestClient,
): Promise<{ readonly publicKey: string; readonly socket: string }> {
  const key = { privateKeyName: 'signer', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] };
  activityOf(await client.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] }));
  const run = async (...argv: readonly string[]): Promise<Json> => {
    const ran = await vault.run([...argv, '--json']);
    expect(ran.code, ran.stderr).toBe(0);
    return JSON.parse(ran.stdout) as Json;
  };
  await run('doors', 'add', 'laptop', '--ask');
  await run('doors', 'on', 'ssh');
  const { keys } = (await run('ssh', 'keys', '--add', 'signer')) as { keys: string[] };
  const { socket } = (await run('ssh', 'agent')) as { socket: string };
  const listed = await runProgram('ssh-add', ['-L'], { env: { SSH_AUTH_SOCK: socket } });
  expect(listed.out.trim()).toBe(keys[0]);
  return { publicKey: listed.out.trim(), socket };
}

/** @returns the fingerprint of the only request that waits. */
const waiting = (client: TestClient): Promise<string> =>
  vi.waitFor(async () => {
    const filterByStatus = ['ACTIVITY_STATUS_CONSENSUS_NEEDED'];
    const { body } = await client.query('list_activities', { filterByStatus });
    const activities = body?.['activities'] as readonly ActivityBody[];
    expect(activities).toHaveLength(1);
    return activities[0]?.fingerprint ?? '';
  }, 20_000);

/** How many callers are connected to a program's socket. */
const callersOf = (socket: string): number =>
  readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(` ${socket}`) && line.split(/\s+/)[5] === '03').length;
