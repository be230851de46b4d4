/** Unlocking a vault with many rows: they are looked at in a thread, and nothing is unlocked before its end. */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VaultEvent, VaultStatus } from '../preload/contract.ts';
import { startTestVault, type TestVault } from './support.ts';

const password = 'correct horse battery staple';
const rows = 3000;

let service: TestVault;
const events: VaultEvent[] = [];

beforeAll(async () => {
  service = await startTestVault({ password });
  await service.vault.units.write((tx) => {
    for (let row = 0; row < rows; row++) {
      tx.run('INSERT INTO user_snapshots (hash, user) VALUES (?, ?)', `row ${String(row)}`, '{}');
    }
  });
  service.vault.bridge.onEvent((event) => events.push(event));
});
afterAll(() => service[Symbol.asyncDispose]());

const unlock = (): Promise<VaultStatus> =>
  service.vault.bridge.unlock({ with: 'recovery', phrase: service.recoveryPhrase });

/** Begins to unlock, and waits until rows are being looked at. */
async function unlocking(): Promise<{ readonly end: Promise<VaultStatus> }> {
  await service.vault.bridge.lock();
  events.length = 0;
  const end = unlock();
  end.catch(() => undefined);
  while (!events.some(({ kind }) => kind === 'unlocking')) await nextTurn();
  return { end };
}

const status = () => service.vault.bridge.status();

test('says how far it is, answers meanwhile, and signs nothing before the end', async () => {
  const { end } = await unlocking();
  expect(await status()).toMatchObject({
    state: 'locked',
    unlocking: { checked: expect.any(Number) as number, total: expect.any(Number) as number },
  });
  const refused = service.root.submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'x',
    userIds: [],
  });
  await expect(refused).resolves.toMatchObject({ body: { turnkeyErrorCode: 'VAULT_LOCKED' } });
  // Whoever unlocks meanwhile too waits for the same.
  const [first, second] = await Promise.all([end, unlock()]);
  expect([first, second]).toMatchObject([
    { state: 'unlocked', unlocking: null },
    { state: 'unlocked', unlocking: null },
  ]);
  const told = events.flatMap((event) => (event.kind === 'unlocking' ? [event] : []));
  for (const { checked, total } of told) {
    expect(total).toBeGreaterThan(2 * rows);
    expect(checked).toBeLessThanOrEqual(total);
  }
  expect(told.map(({ checked }) => checked)).toEqual(
    told.map(({ checked }) => checked).sort((a, b) => a - b),
  );
  expect(events.at(-1)).toEqual({ kind: 'status' });
});

test.each(['lock', 'freeze'] as const)('a %s ends it', async (close) => {
  const { end } = await unlocking();
  expect(await service.vault.bridge[close]()).toMatchObject({ state: 'locked' });
  await expect(end).rejects.toMatchObject({ code: close === 'lock' ? 'VAULT_LOCKED' : 'VAULT_FROZEN' });
  expect(await status()).toMatchObject({ state: 'locked', unlocking: null });
  expect(await unlock()).toMatchObject({ state: 'unlocked' });
});

test('rows that others write meanwhile are looked at too', async () => {
  const forger = new Sqlite(join(service.directory, 'vault.db'));
  try {
    let { end } = await unlocking();
    // What Litestream, for one, does.
    forger.exec('CREATE TABLE _litestream_lock (id INTEGER)');
    expect(await end).toMatchObject({ state: 'unlocked' });

    ({ end } = await unlocking());
    forger.exec(`UPDATE user_snapshots SET user = '[]' WHERE hash = 'row 1'`);
    await expect(end).rejects.toMatchObject({ code: 'VAULT_TAMPERED' });
    forger.exec(`UPDATE user_snapshots SET user = '{}' WHERE hash = 'row 1'`);
    expect(await unlock()).toMatchObject({ state: 'unlocked' });
  } finally {
    forger.close();
  }
});
