/**
 * The power goes while a vault signs. Each image of the disk is made of the record of what was written and synced: what was
 * answered before is in it, whole, whatever of the later writes reached the disk and in which order.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { checkActivityChain } from '../../main/storage/tables/activities.ts';
import { SeededRandom } from '../../main/lib/seeded-random.ts';
import { openVault } from '../../main/app/compose.ts';
import { newWallet, temporaryDirectory } from '../support/support.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { atLength, report } from './length.ts';
import { Disk, type Chance } from './power-loss.ts';
import { password, ServedVault, Signing, type Acknowledged } from './served-vault.ts';

const images = atLength(10, 480);
const signsFor = atLength(1_500, 20_000);

test.skipIf(process.platform !== 'linux')(
  `power lost at ${String(images)} points: nothing that was answered is lost, and a freeze stays`,
  { timeout: atLength(5, 60) * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    const before = filesBelow(vault.directory);
    const disk = new FaultyDisk(vault.home, vault.directory);
    const { process: service, client } = await vault.serve(disk.environment);
    const wallet = await newWallet(client);
    // The operations in the record by then preceded the answer.
    const answered: (Acknowledged & { readonly recorded: number })[] = [];
    const signing = new Signing(client, wallet, 8, (answer) => {
      answered.push({ ...answer, recorded: disk.recorded });
    });
    await new Promise((resolve) => setTimeout(resolve, signsFor));
    await signing.stop();
    expect(answered.length).toBeGreaterThan(10);
    expect((await vault.run(['freeze'])).code).toBe(0);
    const frozen = disk.recorded;
    await service.stop('SIGKILL');

    const operations = disk.operations();
    const chance = seededChance('power-loss');
    const points = Array.from({ length: images }, () => Math.floor(chance() * operations.length)).sort(
      (a, b) => a - b,
    );
    // The last one is after the freeze.
    points[points.length - 1] = operations.length - 1;
    const lost = new Disk(before);
    let done = 0;
    let checks = 0;
    for (const point of points) {
      for (; done <= point; done++) {
        const operation = operations[done];
        if (operation !== undefined) lost.apply(operation);
      }
      const { end = 0 } = operations[point] ?? {};
      using home = temporaryDirectory();
      const directory = join(home.path, 'vault');
      for (const [path, content] of lost.afterPowerLoss(chance)) {
        const file = join(directory, relative(vault.directory, path));
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, content, { mode: 0o600 });
      }
      const due = answered.filter(({ recorded }) => recorded <= end);
      checks += await check(directory, due, frozen <= end, `image at ${String(point)}`);
    }
    report('power loss', { images, operations: operations.length, answers: answered.length, checks });
  },
);

/** @returns how many things were looked at. */
async function check(
  directory: string,
  due: readonly Acknowledged[],
  isFrozen: boolean,
  image: string,
): Promise<number> {
  const opened = openVault(makeConfig({ dataDir: directory, configDir: directory, keychain: false }, {}));
  try {
    if (isFrozen) expect((await opened.rpc.status()).frozen, image).not.toBeNull();
    await opened.rpc.unlock({ with: 'password', password });
    expect(opened.connection.pragma('integrity_check'), image).toBe('ok');
    expect(checkActivityChain(opened.connection), image).toMatchObject({ ok: true });
    const rows = opened.connection.all<{ id: string; fingerprint: string; result: string }>(
      'SELECT id, fingerprint, result FROM activities',
    );
    const kept = new Map(rows.map((row) => [row.id, row]));
    for (const { id, fingerprint, result } of due) {
      const row = kept.get(id);
      expect(row?.fingerprint, `${image}: ${id} was answered`).toBe(fingerprint);
      expect(JSON.parse(row?.result ?? 'null'), image).toEqual(result['signRawPayloadResult']);
    }
    return 3 + 2 * due.length;
  } finally {
    opened.close();
  }
}

const seededChance = (seed: string): Chance => {
  const random = new SeededRandom(seed);
  return () => Buffer.from(random.generate('chance', 4)).readUInt32LE() / 2 ** 32;
};

/** Regular files, by path: sockets hold nothing. */
const filesBelow = (directory: string): Map<string, Buffer> =>
  new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path)]),
  );
