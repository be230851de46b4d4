/** Unlocking a vault with many rows: they are looked at in a thread, and nothing is unlocked before its end. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VaultEvent, VaultStatus } from '../../preload/contract.ts';
import { startTestVault, type TestVault } from '../support/support.ts';

const password = 'correct horse battery staple';
const rows = 3000;

let service: TestVault;

beforeAll(async () => {
  service = await startTestVault({ password });
  await service.vault.units.write((tx) => {
    for (let row = 0; row < rows; row++) {
      tx.run('INSERT INTO user_snapshots (hash, user) VALUES (?, ?)', `row ${String(row)}`, '{}');
    }
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const unlock = (): Promise<VaultStatus> =>
  service.vault.rpc.unlock({ with: 'recovery', phrase: service.recoveryPhrase });

/** Unlocks, and does something in the turn in which it is first told how far that is: what was found is not read yet. */
async function unlockAnd(
  act: () => void,
): Promise<{ readonly status: VaultStatus; readonly events: VaultEvent[] }> {
  const { rpc } = service.vault;
  await rpc.lock();
  const events: VaultEvent[] = [];
  const stop = rpc.onEvent((event) => {
    if (event.kind === 'unlocking' && !events.some(({ kind }) => kind === 'unlocking')) act();
    events.push(event);
  });
  try {
    return { status: await unlock(), events };
  } finally {
    stop();
    expect(events).toContainEqual({
      kind: 'unlocking',
      checked: expect.any(Number) as number,
      total: expect.any(Number) as number,
    });
    expect((await rpc.status()).unlocking).toBeNull();
  }
}

test('says how far it is, answers meanwhile, and signs nothing before the end', async () => {
  const { rpc, keyring } = service.vault;
  const meanwhile: Promise<VaultStatus>[] = [];
  const { status, events } = await unlockAnd(() => {
    // A second unlock waits for the same.
    meanwhile.push(rpc.status(), unlock());
    expect(() => {
      keyring.checkUnlocked();
    }).toThrow('The vault is locked');
  });
  expect(status).toMatchObject({ state: 'unlocked', unlocking: null });
  expect(await Promise.all(meanwhile)).toMatchObject([
    { state: 'locked', unlocking: { checked: expect.any(Number) as number } },
    { state: 'unlocked' },
  ]);
  const told = events.flatMap((event) => (event.kind === 'unlocking' ? [event] : []));
  for (const [index, { checked, total }] of told.entries()) {
    expect(total).toBeGreaterThan(2 * rows);
    expect(checked).toBeLessThanOrEqual(total);
    expect(checked).toBeGreaterThanOrEqual(told[index - 1]?.checked ?? 0);
  }
  expect(events.at(-1)).toEqual({ kind: 'status' });
});

test.each([
  ['lock', 'VAULT_LOCKED'],
  ['freeze', 'VAULT_FROZEN'],
] as const)('a %s ends it', async (close, code) => {
  const ended = unlockAnd(() => void service.vault.rpc[close]());
  await expect(ended).rejects.toMatchObject({ code });
  expect(await service.vault.rpc.status()).toMatchObject({ state: 'locked' });
  expect(await unlock()).toMatchObject({ state: 'unlocked' });
});

test('rows that others write meanwhile are looked at too', async () => {
  const forger = new Sqlite(join(service.directory, 'vault.db'));
  try {
    // Litestream does this, for one.
    const copied = unlockAnd(() => forger.exec('CREATE TABLE _litestream_lock (id INTEGER)'));
    expect((await copied).status).toMatchObject({ state: 'unlocked' });

    const forge = (text: string) =>
      forger.exec(`UPDATE user_snapshots SET user = '${text}' WHERE hash = 'row 1'`);
    await expect(unlockAnd(() => forge('[]'))).rejects.toMatchObject({ code: 'VAULT_TAMPERED' });
    forge('{}');
    expect(await unlock()).toMatchObject({ state: 'unlocked' });
  } finally {
    forger.close();
  }
});
