/** The start of a service over a large vault: what it reads before it listens is bounded, and what takes long comes after. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VaultStatus } from '../../preload/contract.ts';
import { openVault } from '../../main/app/compose.ts';
import { makeConfig } from '../../main/app/config.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import { password, ServedVault } from '../campaigns/served-vault.ts';
import { askControl, CommandProcess, type Json } from '../support/support.ts';

const rows = 40_000;
let vault: ServedVault;
let database: string;

beforeAll(async () => {
  vault = await ServedVault.make();
  database = join(vault.directory, 'vault.db');
  const open = openVault(
    makeConfig({ dataDir: vault.directory, configDir: vault.home, keychain: false }, {}),
  );
  await open.unlockWithPassword(Buffer.from(password));
  await open.units.write((tx) => {
    for (let row = 0; row < rows; row++) {
      tx.run('INSERT INTO user_snapshots (hash, user) VALUES (?, ?)', `row ${String(row)}`, 'x'.repeat(1000));
    }
  });
  open.close();
});
afterAll(() => vault[Symbol.asyncDispose]());

const start = (unlocking: readonly string[]): CommandProcess =>
  new CommandProcess(
    [
      'serve',
      '--port',
      '0',
      '--json',
      '--no-keychain',
      '--data-dir',
      vault.directory,
      '--config-dir',
      vault.home,
      ...unlocking,
    ],
    { descriptor3: password },
  );

test.runIf(process.platform === 'linux')('bounded reads before listening', async () => {
  expect(statSync(database).size).toBeGreaterThan(40_000_000);
  const bytesRead = async (directory: string): Promise<number> => {
    const service = new CommandProcess([
      'serve',
      '--port',
      '0',
      '--json',
      '--no-keychain',
      '--ui',
      '--data-dir',
      directory,
      '--config-dir',
      vault.home,
    ]);
    await service.nextLine();
    const io = readFileSync(`/proc/${String(service.child.pid)}/io`, 'utf8');
    await service.stop('SIGTERM');
    return Number(/rchar: (\d+)/.exec(io)?.[1]);
  };
  const ofNothing = await bytesRead(join(vault.home, 'nothing'));
  expect(ofNothing).toBeGreaterThan(1_000_000);
  expect((await bytesRead(vault.directory)) - ofNothing).toBeLessThan(500_000);
});

test('listens before the check, locked, and says how far that is', async () => {
  await using service = start(['--password-fd', '3']);
  let isReady = false;
  const ready = service.nextLine().then((line) => {
    isReady = true;
    return JSON.parse(line) as Json;
  });
  const told: VaultStatus[] = [];
  await expect
    .poll(
      async () => {
        if (isReady) return 'ended';
        if ((readEndpoint(vault.directory)?.socket ?? null) === null) return 'starting';
        const { body } = await askControl(vault.directory, 'status', { args: [] });
        told.push(body?.['value'] as VaultStatus);
        return told.at(-1)?.unlocking === null ? 'listening' : 'checking';
      },
      { interval: 20 },
    )
    .toBe('checking');
  expect(told.every(({ state }) => state === 'locked')).toBe(true);
  expect(told.at(-1)?.unlocking).toEqual({
    checked: expect.any(Number) as number,
    total: expect.any(Number) as number,
  });
  expect(told.at(-1)?.unlocking?.total).toBeGreaterThan(rows);
  expect(await ready).toMatchObject({ state: 'unlocked' });
});
