/**
 * Pages of the vault's file that rot, or are overwritten: any page, of any table or index. SQLite stumbles over one when it needs
 * it, in whatever statement that is. The service stays up, refuses the file by name, shows what can be shown, and nothing of
 * what it says is wrong.
 */
import { randomBytes, randomInt } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { startVault } from '../../main/app/compose.ts';
import { atLength, report } from './length.ts';
import { fillAccounts, fillActivities } from '../support/long-lists.ts';
import {
  newWallet,
  runCommand,
  startTestVault,
  temporaryDirectory,
  TestClient,
  type TestKey,
} from '../support/support.ts';

/** For each kind of damage. */
const trials = atLength(3, 60);
const timeout = trials * 60_000;
const pageSize = 4096;

const home = temporaryDirectory();
afterAll(() => {
  home[Symbol.dispose]();
});

let pristine: string;
let phrase: string;
let organizationId: string;
let key: TestKey;
let ethereum: string;

beforeAll(async () => {
  const directory = join(home.path, 'made');
  await using service = await startTestVault({ config: { dataDir: directory } });
  ({ recoveryPhrase: phrase, organizationId, key } = service);
  const { walletId, ethereum: address } = await newWallet(service.root);
  ethereum = address;
  for (const name of ['Ann', 'Ben', 'Cleo']) await service.newUser(name);
  const place = { units: service.vault.units, organizationId };
  await fillActivities(place, { userId: service.rootUserId, count: 1500 });
  await fillAccounts(place, { walletId, count: 400, firstIndex: 10 });
  pristine = join(home.path, 'pristine.db');
  await service[Symbol.asyncDispose]();
  copyFileSync(join(directory, 'vault.db'), pristine);
});

interface Page {
  readonly number: number;
  readonly owner: string;
  readonly isLeaf: boolean;
  readonly isRoot: boolean;
}

/** Pages of tables and indexes, with whose they are. */
function pagesOf(file: string): Page[] {
  const sqlite = new Sqlite(file, { readonly: true });
  try {
    const bytes = readFileSync(file);
    const children = new Map<number, string>();
    const found: Page[] = [];
    const roots = sqlite
      .prepare('SELECT name, rootpage AS root FROM sqlite_schema WHERE rootpage > 0')
      .all() as { name: string; root: number }[];
    const walk = (number: number, owner: string, isRoot: boolean): void => {
      if (children.has(number)) return;
      children.set(number, owner);
      const page = bytes.subarray((number - 1) * pageSize, number * pageSize);
      const kind = page[0] ?? 0;
      const isLeaf = kind === 10 || kind === 13;
      found.push({ number, owner, isLeaf, isRoot });
      if (isLeaf) return;
      const cells = page.readUInt16BE(3);
      for (let cell = 0; cell < cells; cell++) {
        walk(page.readUInt32BE(page.readUInt16BE(12 + 2 * cell)), owner, false);
      }
      walk(page.readUInt32BE(8), owner, false);
    };
    for (const { name, root } of roots) walk(root, name, true);
    return found;
  } finally {
    sqlite.close();
  }
}

function overwrite(file: string, page: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, bytes, 0, bytes.length, (page - 1) * pageSize);
  } finally {
    closeSync(descriptor);
  }
}

/** True if an independent program can read all of a file. */
function holds(file: string): boolean {
  const sqlite = new Sqlite(file, { readonly: true });
  try {
    return sqlite.pragma('integrity_check', { simple: true }) === 'ok';
  } catch {
    return false;
  } finally {
    sqlite.close();
  }
}

function pick<T>(list: readonly T[]): T {
  const found = list[randomInt(list.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

/** Serves a file, does with it what there is to do, and tells how it ended. */
async function lifeOf(damage: (file: string) => void, name: string) {
  const directory = join(home.path, name);
  mkdirSync(directory);
  const file = join(directory, 'vault.db');
  copyFileSync(pristine, file);
  damage(file);
  const faults: unknown[] = [];
  const config = makeConfig({ dataDir: directory, configDir: home.path, keychain: false, port: '0' }, {});
  const refusals: KeyhearthError[] = [];
  const attempt = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof KeyhearthError)) throw error;
      refusals.push(error);
    }
  };
  let vault: Awaited<ReturnType<typeof startVault>>;
  try {
    vault = await startVault(config, { onFault: (fault) => faults.push(fault) });
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    return { started: false, refusals: [error], faults, statuses: [], tampering: undefined };
  }
  try {
    await attempt(() => vault.rpc.unlock({ with: 'recovery', phrase }));
    const client = new TestClient(vault.url, organizationId, key);
    const statuses: [number, string][] = [];
    const body = {
      signWith: ethereum,
      payload: '00',
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_SHA256',
    };
    for (const ask of [
      () => client.query('whoami'),
      () => client.query('list_activities', { paginationOptions: { limit: '100' } }),
      () => client.query('list_wallets'),
      () => client.query('list_users'),
      () => client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', body),
    ]) {
      const { status, body: answer } = await ask();
      statuses.push([status, JSON.stringify(answer?.['turnkeyErrorCode'])]);
    }
    await vi.waitUntil(() => !vault.guard.walking, { timeout: 60_000 });
    await attempt(() => vault.rpc.lock());
    await attempt(() => vault.rpc.unlock({ with: 'recovery', phrase }));
    await vi.waitUntil(() => !vault.guard.walking, { timeout: 60_000 });
    const { state, tampering } = await vault.rpc.status();
    expect(state).not.toBe('none');
    return { started: true, refusals, faults, statuses, tampering };
  } finally {
    await vault.close();
  }
}

const rawText = /^(database disk image is malformed|file is not a database)/;

/** @returns whether the damage was met. */
async function expectTold(damage: (file: string) => void, what: string): Promise<boolean> {
  const name = `trial ${randomBytes(6).toString('hex')}`;
  const { started, refusals, faults, statuses, tampering } = await lifeOf(damage, name);
  const said = JSON.stringify({
    what,
    refusals: refusals.map(({ code, message }) => [code, message]),
    statuses,
    tampering,
  });
  // Work in the background is refused as every request is.
  for (const fault of faults) expect(fault, said).toMatchObject({ code: 'VAULT_TAMPERED' });
  for (const refusal of refusals) {
    expect(['VAULT_TAMPERED', 'VAULT_LOCKED', 'WRONG_SECRET'], said).toContain(refusal.code);
    expect(refusal.message, said).not.toMatch(rawText);
  }
  for (const [status, code] of statuses) {
    expect(status, said).toBeLessThan(500);
    if (status !== 200) expect(['"VAULT_TAMPERED"', '"VAULT_LOCKED"'], said).toContain(code);
  }
  if (!started) return true;
  if (tampering == null) return refusals.length > 0;
  expect(tampering.findings[0]?.problem, said).not.toMatch(rawText);
  return true;
}

describe('a damaged page', () => {
  const kinds: readonly (readonly [string, (page: Page) => boolean, () => Uint8Array])[] = [
    ['a zeroed leaf', ({ isLeaf, isRoot }) => isLeaf && !isRoot, () => new Uint8Array(pageSize)],
    ['a zeroed interior page', ({ isLeaf }) => !isLeaf, () => new Uint8Array(pageSize)],
    ['an overwritten root', ({ isRoot }) => isRoot, () => new Uint8Array(randomBytes(pageSize))],
    ['a page of noise', () => true, () => new Uint8Array(randomBytes(pageSize))],
    ['a page cut in its middle', () => true, () => new Uint8Array(pageSize / 2)],
  ];
  test.each(kinds)('%s: the service stays up and says so', { timeout }, async (what, wanted, bytes) => {
    const pages = pagesOf(pristine).filter((page) => page.number > 1 && wanted(page));
    let met = 0;
    for (let trial = 0; trial < trials; trial++) {
      const page = pick(pages);
      const isMet = await expectTold(
        (file) => {
          overwrite(file, page.number, bytes());
        },
        `${what}: page ${String(page.number)} of ${page.owner}`,
      );
      if (isMet) met++;
    }
    report(`rot, ${what}`, { trials, refused: met });
    expect(met).toBe(trials);
  });

  test('any root, of a table or an index, is noticed by an unlock', { timeout }, async () => {
    const all = pagesOf(pristine).filter(({ number, isRoot }) => number > 1 && isRoot);
    expect(all.length).toBeGreaterThan(100);
    // Tables that are not authenticated are read by nothing else.
    const rare =
      /backups|webhook_deliveries|credential_uses|key_uses|known_addresses|security_events_waiting|^freeze$|^place_key$|^activities_waiting$/;
    const every = atLength(12, 1);
    const roots = all.filter(({ owner }, index) => rare.test(owner) || index % every === 0);
    const unnoticed: string[] = [];
    for (const { number, owner } of roots) {
      const isMet = await expectTold((file) => {
        overwrite(file, number, new Uint8Array(randomBytes(pageSize)));
      }, owner);
      if (!isMet) unnoticed.push(owner);
    }
    expect(unnoticed).toEqual([]);
  });

  test('in the table of activities is found by name after the unlock', { timeout }, async () => {
    const pages = pagesOf(pristine).filter(({ owner, isLeaf }) => owner === 'activities' && isLeaf);
    for (let trial = 0; trial < trials; trial++) {
      const { number } = pick(pages);
      const life = await lifeOf(
        (file) => {
          overwrite(file, number, new Uint8Array(pageSize));
        },
        `activities ${String(trial)}`,
      );
      expect(life.tampering?.findings).toContainEqual(
        expect.objectContaining({ table: 'activities', row: `page ${String(number)}` }),
      );
    }
  });

  test('is named by doctor, which does not take it for a change to be accepted', async () => {
    const [page] = pagesOf(pristine).filter(({ owner, isLeaf }) => owner === 'activities' && isLeaf);
    const directory = join(home.path, 'doctor');
    const number = page?.number ?? 0;
    mkdirSync(directory, { mode: 0o700 });
    copyFileSync(pristine, join(directory, 'vault.db'));
    overwrite(join(directory, 'vault.db'), number, new Uint8Array(pageSize));
    const secret = join(home.path, 'phrase');
    writeFileSync(secret, phrase, { mode: 0o600 });
    const doctor = (...argv: readonly string[]) =>
      runCommand(['doctor', '--data-dir', directory, '--no-keychain', '--recovery-file', secret, ...argv]);
    const found = await doctor();
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(
      new RegExp(`^failed +database +activities page ${String(number)}: it cannot be read`, 'm'),
    );
    expect(found.stdout).toContain('restore a backup');
    const refused = await doctor('--accept-changes', '--yes');
    expect(refused).toMatchObject({ code: 7, stdout: '' });
    expect(refused.stderr).toContain(`activities page ${String(number)}`);
    expect(refused.stderr).toContain('Restore a backup');
    expect(found.stdout + refused.stderr).not.toContain('--accept-changes');
  });

  test('that holds nothing in use is found by doctor, which reads every page', async () => {
    const page = pagesOf(pristine).find(({ owner }) => owner === 'webhook_deliveries');
    const directory = join(home.path, 'nothing in use');
    const number = page?.number ?? 0;
    mkdirSync(directory, { mode: 0o700 });
    copyFileSync(pristine, join(directory, 'vault.db'));
    overwrite(join(directory, 'vault.db'), number, randomBytes(pageSize));
    const found = await runCommand(['doctor', '--data-dir', directory, '--no-keychain']);
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(
      new RegExp(`^failed +database +webhook_deliveries page ${String(number)}: `, 'm'),
    );
  });

  test('of SQLite’s own, or a file cut short, is refused', { timeout }, async () => {
    await expectTold((file) => {
      overwrite(file, 1, new Uint8Array(randomBytes(pageSize)));
    }, 'the first page');
    const { length } = readFileSync(pristine);
    for (let trial = 0; trial < trials; trial++) {
      const cut = randomInt(100, length);
      await expectTold(
        (file) => {
          truncateSync(file, cut);
        },
        `cut at ${String(cut)}`,
      );
    }
  });
});

test('what is called damaged is: the file as it was is used', async () => {
  const life = await lifeOf(() => undefined, 'untouched');
  expect(life).toMatchObject({ started: true, refusals: [], faults: [], tampering: null });
  expect(life.statuses.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(holds(pristine)).toBe(true);
});
