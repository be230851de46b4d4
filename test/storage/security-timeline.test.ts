/**
 * The security timeline against an attacker: floods that are to push out what matters, rows of a locked vault that are edited, and
 * secrets that are to be found in it.
 */
import Sqlite from 'better-sqlite3';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { SecurityEvent } from '../../preload/contract.ts';
import { Connection } from '../../main/storage/connection.ts';
import { migrate } from '../../main/storage/migrations.ts';
import {
  addSecurityEvent,
  addWaitingEvent,
  keptOfEachKind,
  listSecurityEvents,
} from '../../main/storage/tables/security-events.ts';
import { lockedEventKinds, securityEventKinds, securityWays } from '../../main/lib/text/security-events.ts';
import { startTestVault, type TestVault } from '../support/support.ts';

const password = 'correct horse battery staple';
const wrong = 'a wrong password of a thief';
const hour = 3_600_000;

let service: TestVault;
beforeAll(async () => {
  service = await startTestVault({ password });
});
afterAll(() => service[Symbol.asyncDispose]());

const read = async (): Promise<readonly SecurityEvent[]> => (await service.vault.rpc.securityEvents()).events;
const shortly = (events: readonly SecurityEvent[]) =>
  events.map(({ kind, way, count }) => [kind, way, count]);

// The class: what hears of an unlock writes to the vault, and the vault must be there by then.
test('a vault is created also where each write gets a transaction of its own', async () => {
  // So long does each write take that no other fits beside it.
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
  try {
    await using slow = await startTestVault({ password });
    expect((await slow.vault.rpc.status()).state).toBe('unlocked');
  } finally {
    clock.mockRestore();
  }
});

test('wrong secrets, locks and freezes of a locked vault are there after the unlock, counted', async () => {
  const { rpc } = service.vault;
  const began = service.clock.now();
  await rpc.lock();
  for (let attempt = 0; attempt < 3; attempt++) {
    service.clock.advance(1_000);
    await expect(rpc.unlock({ with: 'password', password: wrong })).rejects.toMatchObject({
      code: 'WRONG_SECRET',
    });
  }
  await expect(rpc.securityEvents()).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
  service.clock.advance(1_000);
  await rpc.freeze();
  await rpc.unlock({ with: 'password', password });
  const events = await read();
  expect(shortly(events)).toEqual(
    expect.arrayContaining([
      ['unlocked', 'password', 1],
      ['frozen', null, 1],
      ['wrongSecret', 'password', 3],
      ['locked', null, 1],
    ]),
  );
  const { firstAt, lastAt } = events.find(({ kind }) => kind === 'wrongSecret') ?? {};
  expect(firstAt).toBeGreaterThanOrEqual(began + 1_000);
  expect((lastAt ?? 0) - (firstAt ?? 0)).toBeGreaterThanOrEqual(2_000);
});

test('changes of the ways in are noted, and a refused change as a wrong secret once', async () => {
  const { rpc } = service.vault;
  const before = await read();
  const countOf = (events: readonly SecurityEvent[], kind: string) =>
    events.filter((event) => event.kind === kind).reduce((sum, { count }) => sum + count, 0);
  const proof = { with: 'password', password } as const;
  await rpc.changeKeyslots({ do: 'addPassword', proof, password: 'another good password' });
  await expect(
    rpc.changeKeyslots({
      do: 'rotate',
      proof,
      secrets: [{ with: 'password', password: wrong }],
      dropOthers: true,
    }),
  ).rejects.toMatchObject({ code: 'WRONG_SECRET' });
  await expect(rpc.prove({ with: 'password', password: wrong })).rejects.toMatchObject({
    code: 'WRONG_SECRET',
  });
  await rpc.checkRecovery({ with: 'recovery', phrase: service.recoveryPhrase });
  const after = await read();
  const grown = (kind: string) => countOf(after, kind) - countOf(before, kind);
  expect(
    ['unlockMethodAdded', 'wrongSecret', 'recoveryChecked', 'masterKeyReplaced'].map((kind) => grown(kind)),
  ).toEqual([1, 2, 1, 0]);
});

test('rows that another program adds to a locked vault claim nothing that a locked vault cannot do', async () => {
  const { rpc } = service.vault;
  await rpc.lock();
  const file = new Sqlite(join(service.directory, 'vault.db'));
  const forge = file.prepare(
    'INSERT OR REPLACE INTO security_events_waiting (kind, way, count, first_at, last_at) VALUES (?, ?, ?, ?, ?)',
  );
  const future = service.clock.now() + 1_000 * hour;
  for (const kind of ['unlocked', 'masterKeyReplaced', 'recoveryChecked', '<script>']) {
    forge.run(kind, '', 77, 0, 0);
  }
  forge.run('wrongSecret', 'the password is hunter2', 77, 0, 0);
  forge.run('backupFailed', '', -5, 0, 0);
  forge.run('backupTested', '', 1, future, future);
  file.close();
  const isForged = ({ kind, count }: SecurityEvent) =>
    count >= 77 || kind === 'masterKeyReplaced' || kind === 'backupFailed';
  await rpc.unlock({ with: 'password', password });
  const events = await read();
  expect(events.filter(isForged)).toEqual([]);
  expect(events.find(({ kind }) => kind === 'backupTested')?.lastAt).toBeLessThanOrEqual(service.clock.now());
  expect(service.vault.connection.all('SELECT * FROM security_events_waiting')).toEqual([]);
});

test('its texts are kinds and ways, so no secret is among them', () => {
  const rows = ['security_events', 'security_events_waiting'].flatMap((table) =>
    service.vault.connection.all<Record<string, unknown>>(`SELECT * FROM ${table}`),
  );
  expect(rows.length).toBeGreaterThan(4);
  const texts = rows.flatMap((row) => Object.values(row).filter((value) => typeof value === 'string'));
  const known: readonly string[] = [...securityEventKinds, ...securityWays];
  expect(texts.filter((text) => !known.includes(text))).toEqual([]);
});

test('a flood of one kind pushes out none of another, and a locked vault has a row for each kind and way', () => {
  const connection = Connection.open(':memory:');
  migrate(connection);
  const add = (kind: 'wrongSecret' | 'unlockMethodAdded', at: number) => {
    addSecurityEvent(connection, { kind, way: 'password', count: 1, firstAt: at, lastAt: at });
  };
  add('unlockMethodAdded', 0);
  // Within an hour of one another they are one row, and beyond it one each.
  for (let at = 0; at < 1_000; at++) add('wrongSecret', at);
  expect(listSecurityEvents(connection)).toHaveLength(2);
  for (let index = 1; index <= keptOfEachKind + 50; index++) add('wrongSecret', index * 2 * hour);
  const events = listSecurityEvents(connection);
  expect(events.filter(({ kind }) => kind === 'wrongSecret')).toHaveLength(keptOfEachKind);
  expect(events.at(-1)).toMatchObject({ kind: 'unlockMethodAdded', firstAt: 0 });

  for (let round = 0; round < 50; round++) {
    for (const kind of lockedEventKinds) {
      for (const way of securityWays) addWaitingEvent(connection, kind, way, round);
    }
  }
  const waiting = connection.all<{ count: number }>('SELECT count FROM security_events_waiting');
  expect(waiting).toHaveLength(lockedEventKinds.length * securityWays.length);
  expect(new Set(waiting.map(({ count }) => count))).toEqual(new Set([50]));
});
