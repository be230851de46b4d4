import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { takeLock } from '../../main/storage/file/vault-lock.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { offerFormerVault } = await import('../../main/desktop/former-vault.ts');

beforeAll(becomeReady);

let home: string;
const vault = () => ({ from: join(home, 'old'), to: join(home, 'new') });

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keyhearth-former-'));
  mkdirSync(vault().from);
  writeFileSync(join(vault().from, 'vault.db'), '');
  Object.assign(machine, { questions: [], answers: [], dialogs: [], relaunches: [], ended: undefined });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(home, { recursive: true });
});

/** Offers the vault, and waits for the application to end. */
async function offer(answer: number): Promise<void> {
  machine.answers = [answer];
  offerFormerVault({ vault: vault(), keys: undefined }, { appImage: undefined });
  await vi.waitFor(() => {
    expect(machine.ended).toBeDefined();
  });
  // Chromium's files must not be in the directory that moves.
  expect(machine.paths.get('userData')).not.toContain(home);
  expect(existsSync(machine.paths.get('userData') ?? '')).toBe(false);
}

test('a yes moves the vault, and starts the application again', async () => {
  await offer(0);
  expect(machine.questions[0]?.detail).toContain(vault().from);
  expect(existsSync(join(vault().to, 'vault.db'))).toBe(true);
  expect(machine.relaunches).toHaveLength(1);
});

test('a no leaves it, and starts the application again', async () => {
  await offer(1);
  expect(existsSync(join(vault().from, 'vault.db'))).toBe(true);
  expect(machine.relaunches).toHaveLength(1);
});

test('who closes the question has decided nothing', async () => {
  await offer(2);
  expect(existsSync(vault().to)).toBe(false);
  expect(machine.relaunches).toEqual([]);
});

test('a vault that is in use stays, and its owner hears why', async () => {
  const held = takeLock(vault().from);
  try {
    await offer(0);
  } finally {
    held?.release();
  }
  expect(existsSync(join(vault().from, 'vault.db'))).toBe(true);
  expect(machine.dialogs).toMatchObject([
    { title: 'Couldn’t move the vault', content: expect.stringContaining('is in use by') as string },
  ]);
  expect(machine.relaunches).toEqual([]);
});
