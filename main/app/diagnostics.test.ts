import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { VaultStatus } from '../../preload/contract.ts';
import { describeDiagnostics } from './diagnostics.ts';

const machine = vi.hoisted(() => ({ hasUser: true }));
vi.mock('node:os', async (importOriginal) => {
  const os = await importOriginal<typeof import('node:os')>();
  return {
    ...os,
    userInfo: () => {
      if (machine.hasUser) return os.userInfo();
      throw new Error(
        'A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)',
      );
    },
  };
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-diagnostics-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const about = {
  version: '1.2.3',
  commit: 'abcdef012345',
  schema: 42,
  system: 'linux x64',
  runtime: [{ name: 'Node.js', version: '24.21.0' }],
};
const id = '8e7f13e2-3ebf-42c5-9ed0-a0faad035be3';

const status = (): VaultStatus => ({
  state: 'unlocked',
  unlocking: null,
  frozen: null,
  version: '1.2.3',
  url: 'http://127.0.0.1:7377',
  rpId: 'localhost',
  program: ['keyhearth'],
  directory,
  organization: { id, name: 'Lee Holdings' },
  owner: { userId: id, userName: 'Ann Lee' },
  keyslots: ['password', 'recovery'],
  keychain: { available: false, reason: 'no service of the session of "ann"' },
  delayed: null,
  windowKey: `02${'ef'.repeat(32)}`,
  serverKeys: { signer: `04${'ab'.repeat(64)}`, notarizer: `04${'cd'.repeat(64)}`, tlsFetcher: '04' },
  tampering: {
    total: 3,
    findings: [{ table: 'users', row: id, problem: 'it was changed: Ann Lee' }],
  },
  storage: { cause: 'full', file: join(directory, 'vault.db'), problem: '', since: 0 },
  wordsNotShown: false,
  longestTurn: { name: 'query/whoami', ms: 12.3, at: 0 },
});

test('tells versions, state, files, findings and the end of the log', () => {
  writeFileSync(join(directory, 'vault.db'), 'x'.repeat(100));
  chmodSync(join(directory, 'vault.db'), 0o600);
  writeFileSync(
    join(directory, 'keyhearth.log'),
    Array.from({ length: 500 }, (_, line) => `line ${String(line)}\n`).join(''),
  );
  const text = describeDiagnostics({
    about,
    status: status(),
    findings: [{ check: 'disk', outcome: 'ok', detail: `it can be written: ${directory}` }],
  });
  for (const part of [
    'Keyhearth 1.2.3, built from abcdef012345\nlinux x64; Node.js 24.21.0\n',
    'Vault: unlocked, schema 42, opens with password, recovery\n',
    'Changed outside Keyhearth: 3 findings in users\n',
    'Disk: full, since 1970-01-01T00:00:00.000Z\n',
    'Longest turn: 12 ms, query/whoami\n',
    '  vault.db: 100 bytes, mode 600\n',
    '  ok     disk: it can be written: <vault>\n',
    'Log of the service:\nline 380\n',
  ]) {
    expect(text).toContain(part);
  }
  expect(text.endsWith('\nline 499')).toBe(true);
});

test('names no person, no key and no place of this machine', () => {
  writeFileSync(join(directory, 'for Ann Lee.txt'), '');
  writeFileSync(
    join(directory, 'keyhearth.log'),
    [
      'error Error: no wallet "Ann’s savings" of ann.lee@example.org',
      `    at open (${homedir()}/private/thing.js:1:1), ${directory}/vault.db`,
      `error activity ${id} for 0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe`,
      'warn  The backup to /media/ann/stick failed',
    ].join('\n'),
  );
  const text = describeDiagnostics({ about, status: status(), findings: null });
  for (const name of ['Ann', 'ann', 'Lee', id, 'abab', 'de0B', homedir(), directory, 'media']) {
    expect(text).not.toContain(name);
  }
  expect(text).toContain('not run, as the vault is not unlocked');
  expect(text).toContain('<vault>/vault.db');
});

test('a vault in memory has no files', () => {
  const text = describeDiagnostics({ about, status: { ...status(), directory: null }, findings: null });
  expect(text).not.toContain('Files:');
  expect(text).toContain('Log of the service:');
});

test('a user without an entry in the system is reported all the same', () => {
  machine.hasUser = false;
  try {
    const text = describeDiagnostics({ about, status: status(), findings: null });
    expect(text).toContain('Keyhearth 1.2.3');
  } finally {
    machine.hasUser = true;
  }
});
