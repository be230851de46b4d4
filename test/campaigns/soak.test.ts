/**
 * A service under everything at once: signatures, lists, searches, bad bodies, streams that come and go, backups. It may not grow
 * without end, neither in memory nor in open files, and it answers a ping all the while.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newWallet, send, type TestClient } from '../support/support.ts';
import { atLength, report } from './length.ts';
import { ServedVault, Signing } from './served-vault.ts';

const lasts = atLength(4, 780) * 1_000;
/** The first figures are of a process that is still filling its caches. */
const settledAfter = lasts / 3;
const mostMegabytes = 150;

test.skipIf(process.platform !== 'linux')(
  `${String(lasts / 1000)} s of everything: memory and open files stay bounded, and pings are answered`,
  { timeout: lasts + 3 * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    const { process: service, client } = await vault.serve();
    const pid = service.child.pid ?? 0;
    const wallet = await newWallet(client);
    const signing = new Signing(client, wallet, 4);
    const until = Date.now() + lasts;
    const over = (): boolean => Date.now() >= until;
    const pauses: number[] = [];
    const pinging = repeat(over, async () => {
      const asked = performance.now();
      expect((await send(client.url, { method: 'GET', path: '/public/v1/discovery/keys' })).status).toBe(200);
      pauses.push(performance.now() - asked);
      await sleep(10);
    });
    const asking = repeat(over, async () => {
      for (const query of ['get_activities', 'get_wallets', 'get_policies', 'get_whoami']) {
        const path = query === 'get_whoami' ? 'whoami' : query.replace('get_', 'list_');
        const answer = await client.query(path);
        expect(answer.status, path).toBe(200);
      }
      await refuseBadBodies(client);
    });
    const backingUp = repeat(over, async () => {
      const file = join(vault.home, `${String(Date.now())}.backup`);
      const { code, stderr } = await vault.run(['backup', file]);
      expect(code, stderr).toBe(0);
      await sleep(1_000);
    });
    await sleep(settledAfter);
    const early = figuresOf(pid);
    await Promise.all([pinging, asking, backingUp]);
    await signing.stop();
    const late = figuresOf(pid);
    expect(signing.unanswered).toEqual([]);
    expect(signing.refused).toEqual([]);
    expect(late.descriptors, 'open files').toBeLessThan(early.descriptors + 20);
    expect(late.megabytes - early.megabytes, 'memory').toBeLessThan(mostMegabytes);
    expect(await service.stop()).toBe(0);
    pauses.sort((one, other) => one - other);
    report('soak', {
      seconds: lasts / 1000,
      signatures: signing.answered.length,
      'MB at first': early.megabytes,
      'MB at last': late.megabytes,
      'files at first': early.descriptors,
      'files at last': late.descriptors,
      pings: pauses.length,
      'longest ms': Math.round(pauses.at(-1) ?? 0),
      '99.9 % within ms': Math.round(pauses[Math.floor(pauses.length * 0.999)] ?? 0),
    });
  },
);

async function repeat(over: () => boolean, once: () => Promise<void>): Promise<void> {
  while (!over()) await once();
}

const badBodies = [
  '',
  '{',
  '[]',
  'null',
  '{"organizationId":7}',
  '[['.repeat(50_000),
  '{"a":'.repeat(10_000),
];

async function refuseBadBodies(client: TestClient): Promise<void> {
  for (const body of badBodies) {
    const { status } = await client.post('submit/create_wallet', body);
    expect(status, body.slice(0, 30)).toBeGreaterThanOrEqual(400);
    expect(status, body.slice(0, 30)).toBeLessThan(500);
  }
}

function figuresOf(pid: number): { readonly megabytes: number; readonly descriptors: number } {
  const [, kilobytes = '0'] =
    /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return {
    megabytes: Math.round(Number(kilobytes) / 1024),
    descriptors: readdirSync(`/proc/${String(pid)}/fd`).length,
  };
}
