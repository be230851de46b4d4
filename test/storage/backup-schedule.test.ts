/** Scheduled backups: written when they are due, locked or not, rotated, and reported when missed. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BackupsStatus } from '../../preload/contract.ts';
import { startVault } from '../../main/app/compose.ts';
import { listKeyslots } from '../../main/storage/tables/keyslots.ts';
import { newWallet, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { TestVault } from '../support/support.ts';

const hour = 3_600_000;
const day = 24 * hour;

let place: ReturnType<typeof temporaryDirectory>;
let folder: string;
let vault: TestVault;
let news: string[];

beforeEach(async () => {
  // The service looks every half minute; here it looks when the test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  news = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    news.push(String(text));
    return true;
  });
  place = temporaryDirectory();
  folder = join(place.path, 'stick');
  mkdirSync(folder);
  vault = await startTestVault();
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await vault[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const files = (): string[] => readdirSync(folder).sort();
const status = (): Promise<BackupsStatus> => vault.vault.rpc.backups();
const daily = (): Promise<BackupsStatus> => vault.vault.rpc.scheduleBackups({ directory: folder, hours: 24 });
const until = (number: number): Promise<void> =>
  vi.waitFor(
    async () => {
      // One look may still be at its end as another is due, which is left out then: the next comes in half a minute.
      vi.advanceTimersByTime(30_000);
      expect(files().filter((name) => name.endsWith('.backup'))).toHaveLength(number);
      expect((await status()).running).toBeNull();
    },
    { timeout: 20_000, interval: 20 },
  );

/** Waits until the schedule has failed. A look that still rotates leaves the next out, so it looks more than once. */
const untilItFails = (): Promise<void> =>
  vi.waitFor(
    async () => {
      vi.advanceTimersByTime(30_000);
      expect((await status()).schedule?.failure).not.toBeNull();
    },
    { timeout: 20_000, interval: 20 },
  );

/** Lets time pass, and the service look. */
function pass(milliseconds: number): void {
  vault.clock.advance(milliseconds);
  vi.advanceTimersByTime(30_000);
}

/** Lets the service look, and waits long enough to see that it did nothing. */
async function passInVain(milliseconds: number): Promise<void> {
  const before = files();
  pass(milliseconds);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await status()).running).toBeNull();
  expect(files()).toEqual(before);
}

const unlock = (): Promise<void> => vault.unlock();

describe('a schedule', () => {
  test('makes the first backup at once, and the next when it is due', async () => {
    expect((await status()).notices).toMatchObject([{ kind: 'none' }]);
    expect(await daily()).toMatchObject({ schedule: { directory: folder, hours: 24, failure: null } });
    await until(1);
    const [name = ''] = files();
    expect(name).toMatch(/^keyhearth-[0-9a-f]{8}-\d{8}T\d{6}Z\.backup$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    await passInVain(23 * hour);
    pass(hour);
    await until(2);
    expect(files()[0]).toBe(name);
    const { backups, schedule, notices } = await status();
    expect(backups).toHaveLength(2);
    expect(schedule?.dueAt).toBe((backups[0]?.madeAt ?? 0) + day);
    expect(notices.map(({ kind }) => kind)).toEqual(['unproven']);
    expect(await vault.vault.rpc.verifyBackup({ file: join(folder, files()[1] ?? '') })).toMatchObject({
      problemCount: 0,
    });
    expect((await status()).notices).toEqual([]);
  });

  test('goes on while the vault is locked, with what it kept, and writes it down when it is unlocked', async () => {
    await daily();
    await until(1);
    await newWallet(vault.root, 'Made later');
    await vault.vault.rpc.lock();
    for (const number of [2, 3]) {
      pass(day);
      await until(number);
    }
    const rows = (): number => vault.vault.connection.all('SELECT 1 FROM backups').length;
    expect(rows()).toBe(1);
    expect((await status()).backups).toHaveLength(3);
    const newest = join(folder, files()[2] ?? '');
    const secret = { with: 'recovery', phrase: vault.recoveryPhrase } as const;
    expect(await vault.vault.rpc.verifyBackup({ file: newest, secret })).toMatchObject({
      problemCount: 0,
      counts: { wallets: 1 },
      uncovered: { activities: 0, resources: [] },
    });
    // Both opened with one key that was kept; each file has its own all the same.
    const heads = files().map(
      (name) =>
        JSON.parse(readFileSync(join(folder, name), 'latin1').split('\n')[1] ?? '') as {
          keySalt: string;
          fileSalt: string;
        },
    );
    expect(heads[1]?.keySalt).toBe(heads[2]?.keySalt);
    expect(new Set(heads.map(({ fileSalt }) => fileSalt)).size).toBe(3);
    await unlock();
    await vi.waitFor(() => {
      expect(rows()).toBe(3);
    });
    pass(day);
    await until(4);
  });

  test('switches to a new master key, and earlier backups open with their earlier secrets', async () => {
    await daily();
    await until(1);
    const proof = { with: 'recovery', phrase: vault.recoveryPhrase } as const;
    const { rpc } = vault.vault;
    await rpc.changeKeyslots({ do: 'addPassword', proof, password: 'added before the change' });
    vault.clock.advance(hour);
    await rpc.backUp({});
    expect(files()).toHaveLength(2);
    await rpc.changeKeyslots({ do: 'rotate', proof, secrets: [], dropOthers: true });
    await rpc.lock();
    // The work that the new key started ends in its own turns.
    await new Promise((resolve) => setTimeout(resolve, 100));
    pass(2 * day);
    await until(3);
    const [first = '', second = '', third = ''] = files().map((name) => join(folder, name));
    const password = { with: 'password', password: 'added before the change' } as const;
    for (const [file, secret] of [
      [first, proof],
      [second, proof],
      [second, password],
      [third, proof],
    ] as const) {
      expect(await rpc.verifyBackup({ file, secret })).toMatchObject({ problemCount: 0 });
    }
    await expect(rpc.verifyBackup({ file: third, secret: password })).rejects.toMatchObject({
      code: 'WRONG_SECRET',
    });
  });

  test('a backup that waited while the master key was replaced is refused, and leaves nothing', async () => {
    const proof = { with: 'recovery', phrase: vault.recoveryPhrase } as const;
    const { rpc, units } = vault.vault;
    const reads = vi.spyOn(units, 'read');
    const [first, second] = [join(folder, 'first.backup'), join(folder, 'second.backup')];
    const making = [first, second].map((file) => rpc.backUp({ file }).catch((error: unknown) => error));
    // Each has its key, and one waits for the other.
    await vi.waitFor(() => {
      expect(reads.mock.calls.filter(([work]) => work === listKeyslots)).toHaveLength(4);
    });
    await rpc.changeKeyslots({ do: 'rotate', proof, secrets: [], dropOthers: true });
    expect((await Promise.all(making))[1]).toMatchObject({ code: 'FAILED_PRECONDITION' });
    expect(files()).not.toContain('second.backup');
    expect((await status()).backups.map(({ file }) => file)).not.toContain(second);
    await rpc.backUp({ file: second });
    expect(await rpc.verifyBackup({ file: second, secret: proof })).toMatchObject({ problemCount: 0 });
  });

  test('waits, after a start, for the vault to be unlocked once, and says so', async () => {
    await daily();
    await until(1);
    await vault.vault.close();
    vault.clock.advance(2 * day);
    const again = await startVault(vault.config, { clock: vault.clock });
    try {
      vi.advanceTimersByTime(30_000);
      expect((await again.rpc.backups()).notices.map(({ kind }) => kind)).toContain('waiting');
      expect(files()).toHaveLength(1);
      await again.rpc.unlock({ with: 'recovery', phrase: vault.recoveryPhrase });
      await until2(again);
    } finally {
      await again.close();
    }

    function until2(served: typeof again): Promise<void> {
      return vi.waitFor(async () => {
        expect(files()).toHaveLength(2);
        expect((await served.rpc.backups()).notices.map(({ kind }) => kind)).not.toContain('waiting');
      });
    }
  });

  test('keeps seven, four weeks and twelve months, and touches nothing that is not its own', async () => {
    await daily();
    await until(1);
    const [first = ''] = files();
    const vaultId = first.slice('keyhearth-'.length, 'keyhearth-'.length + 8);
    await vault.vault.rpc.scheduleBackups(null);
    // A year and a half of days, all of them copies of the first.
    const now = vault.clock.wall();
    for (let age = 1; age < 500; age++) {
      const time = new Date(now - age * day)
        .toISOString()
        .replace(/\.\d+Z$/, 'Z')
        .replaceAll(/[-:]/g, '');
      copyFileSync(join(folder, first), join(folder, `keyhearth-${vaultId}-${time}.backup`));
    }
    const strangers = [
      'holiday.jpg',
      'keyhearth-00000000-20200101T000000Z.backup',
      `keyhearth-${vaultId}-notes.txt`,
    ];
    for (const name of strangers) writeFileSync(join(folder, name), name);
    // By its name it is this vault's and long superfluous; by its header it is another's.
    const disguised = `keyhearth-${vaultId}-20250103T120000Z.backup`;
    const other = await startTestVault();
    await other.vault.rpc.backUp({ file: join(folder, disguised) });
    await other[Symbol.asyncDispose]();
    const draft = `keyhearth-${vaultId}-20260101T000000Z.backup.draft`;
    writeFileSync(join(folder, draft), 'cut off');

    const writes = vi.spyOn(vault.vault.units, 'write');
    await daily();
    // All that lie there are taken in by one write, however many there are: it took one each, and each repeated those before.
    expect(writes.mock.calls.length).toBeLessThan(10);
    pass(day);
    const ownFiles = (): string[] => files().filter((name) => ![...strangers, disguised].includes(name));
    await vi.waitFor(
      async () => {
        expect(ownFiles().length).toBeLessThanOrEqual(23);
        expect((await status()).backups.length).toBeLessThanOrEqual(23);
      },
      { timeout: 30_000 },
    );
    expect(files()).toEqual(expect.arrayContaining([...strangers, disguised]));
    expect(files()).not.toContain(draft);
    const own = ownFiles();
    expect(own.length).toBeGreaterThanOrEqual(7 + 3 + 10);
    // The list is of what is there.
    const { backups } = await status();
    expect(backups.map(({ file }) => file).sort()).toEqual(own.map((name) => join(folder, name)).sort());
    expect(backups.every(({ found }) => found === true)).toBe(true);
  });

  test.each(['/', '//', '/.', '/../stick/'])('is the same for a directory that ends in %s', async (end) => {
    await vault.vault.rpc.scheduleBackups({ directory: folder + end, hours: 24 });
    await until(1);
    expect((await status()).schedule).toMatchObject({
      directory: folder,
      dueAt: ((await status()).backups[0]?.madeAt ?? 0) + day,
    });
    // One a day, and not one each half minute.
    await passInVain(hour);
    pass(23 * hour);
    await until(2);
  });

  test('counts no file that is cut off among those that stay', async () => {
    await daily();
    await until(1);
    const [first = ''] = files();
    const vaultId = first.slice('keyhearth-'.length, 'keyhearth-'.length + 8);
    const fileOf = (age: number): string => {
      const time = new Date(vault.clock.wall() - age * day).toISOString().replace(/\.\d+Z$/, 'Z');
      return join(folder, `keyhearth-${vaultId}-${time.replaceAll(/[-:]/g, '')}.backup`);
    };
    const ages = (from: number, to: number): number[] =>
      Array.from({ length: to - from }, (_, at) => from + at);
    for (const age of ages(10, 20)) {
      writeFileSync(fileOf(age), readFileSync(join(folder, first)).subarray(0, 5000));
    }
    const whole = ages(20, 60).map(fileOf);
    for (const file of whole) copyFileSync(join(folder, first), file);
    const kept = (): string[] => whole.filter((file) => existsSync(file));
    pass(day);
    await vi.waitFor(
      () => {
        vi.advanceTimersByTime(30_000);
        expect(kept().length).toBeLessThan(20);
      },
      { timeout: 20_000 },
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    // The last seven: two from this test’s own schedule, and five of these.
    expect(kept()).toEqual(expect.arrayContaining(whole.slice(0, 5)));
  });

  test('is kept after the clock was a month ahead and is corrected, and the backups of that time stay', async () => {
    await daily();
    await until(1);
    pass(30 * day);
    await until(2);
    vault.clock.advance(-30 * day + day);
    const { schedule, notices } = await status();
    expect(schedule?.dueAt).toBeLessThanOrEqual(vault.clock.wall());
    expect(notices.map(({ kind }) => kind)).toEqual(['unproven']);
    pass(0);
    await until(3);
    // One a day from then on, and not one each half minute.
    await passInVain(23 * hour);
    pass(hour);
    await until(4);
  });

  test('that failed while the clock was ahead is tried again once it is set right', async () => {
    await daily();
    await until(1);
    renameSync(folder, `${folder}.away`);
    pass(30 * day);
    await untilItFails();
    renameSync(`${folder}.away`, folder);
    vault.clock.advance(-30 * day);
    pass(day);
    await until(2);
  });

  test('that fails says why, tries again, and is quiet once it works', async () => {
    await daily();
    await until(1);
    // The stick is pulled out; its place on the disk is not written instead.
    renameSync(folder, `${folder}-pulled`);
    pass(day);
    await untilItFails();
    expect((await status()).notices[0]).toEqual({
      kind: 'failing',
      message: `The last scheduled backup was not made: there is no directory ${folder}`,
    });
    expect(existsSync(folder)).toBe(false);
    expect(news.join('')).toContain(`The scheduled backup was not made: there is no directory ${folder}\n`);
    expect((await status()).schedule?.failure?.message).toBe(`there is no directory ${folder}`);
    renameSync(`${folder}-pulled`, folder);
    await passInVain(9 * 60_000);
    pass(60_000);
    await until(2);
    await vi.waitFor(async () => {
      expect((await status()).schedule?.failure).toBeNull();
    });
    expect((await status()).notices.map(({ kind }) => kind)).toEqual(['unproven']);
  });

  test('a failure outlives the process', async () => {
    await daily();
    await until(1);
    renameSync(folder, `${folder}-pulled`);
    pass(day);
    await untilItFails();
    await vault.vault.close();
    const again = await startVault(vault.config, { clock: vault.clock });
    expect((await again.rpc.backups()).notices[0]?.kind).toBe('failing');
    await again.close();
    renameSync(`${folder}-pulled`, folder);
  });

  test('off makes none, and leaves those that are there', async () => {
    await daily();
    await until(1);
    expect(await vault.vault.rpc.scheduleBackups(null)).toMatchObject({
      schedule: null,
      backups: [{ found: true }],
    });
    await passInVain(10 * day);
    expect((await status()).notices.map(({ kind }) => kind)).toEqual(['old', 'unproven']);
  });

  test('without a name, a backup goes where the schedule’s go', async () => {
    await expect(vault.vault.rpc.backUp({})).rejects.toMatchObject({
      message:
        'no file is named, and there is no schedule to take one from: name a file, or set a schedule first',
    });
    await daily();
    await until(1);
    vault.clock.advance(hour);
    const { file } = await vault.vault.rpc.backUp({});
    expect(files()).toHaveLength(2);
    expect(file).toBe(join(folder, files()[1] ?? ''));
    // It counts.
    expect((await status()).schedule?.dueAt).toBeGreaterThan(vault.clock.wall() + 23.9 * hour);
  });

  test('takes in what is in its directory already, as after a restore', async () => {
    await daily();
    await until(1);
    vault.vault.connection.exec('DELETE FROM backups');
    await vault.vault.rpc.lock();
    await unlock();
    await vi.waitFor(async () => {
      expect((await status()).backups).toMatchObject([
        { file: join(folder, files()[0] ?? ''), logHead: '', provenAt: null },
      ]);
    });
    const file = join(folder, files()[0] ?? '');
    await vault.vault.rpc.verifyBackup({ file });
    expect((await status()).backups).toMatchObject([
      { file, logHead: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
    ]);
  });

  test('makes a directory that is missing, but no tree of them', async () => {
    const missing = join(place.path, 'new');
    await vault.vault.rpc.scheduleBackups({ directory: missing, hours: 1 });
    expect(statSync(missing).mode & 0o777).toBe(0o700);
    await expect(
      vault.vault.rpc.scheduleBackups({ directory: join(place.path, 'a', 'b'), hours: 1 }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^there is no directory/) as unknown,
    });
    expect((await status()).schedule?.directory).toBe(missing);
  });

  test.each([
    [
      { directory: 'relative', hours: 1 },
      /^invalid schedule\.directory: expected an absolute path, got relative$/,
    ],
    [{ directory: '/', hours: 0 }, /^invalid schedule\.hours: expected at least 1, got 0$/],
    [{ directory: '/', hours: 10_000 }, /^invalid schedule\.hours: expected at most 8784, got 10000$/],
    [{ directory: '/', hours: 1.5 }, /^invalid schedule\.hours: expected an int/],
    [{ hours: 1 } as never, /^missing field schedule\.directory/],
  ])('of %j is refused', async (schedule, message) => {
    await expect(vault.vault.rpc.scheduleBackups(schedule)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message) as unknown,
    });
  });

  test('is not changed, nor set in the vault’s own directory, while that is not allowed', async () => {
    await expect(
      vault.vault.rpc.scheduleBackups({ directory: vault.directory, hours: 1 }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/is the vault's own directory/) as unknown });
    await vault.vault.rpc.lock();
    await expect(daily()).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
    await expect(vault.vault.rpc.scheduleBackups(null)).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
    expect((await status()).schedule).toBeNull();
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
});
