/** The catalog of backups outlives a write that fails: the class is every write that waits, whatever failed before it. */
import { expect, test } from 'vitest';
import type { BackupRow } from '../storage/tables/backups.ts';
import type { Writer } from '../storage/connection.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { Keyring } from '../keys/keyring.ts';
import { BackupCatalog } from './catalog.ts';

/** A catalog that keeps the names of files. Its writes fail on demand. */
class Catalog {
  readonly written: string[] = [];
  failing = false;

  read(): readonly BackupRow[] {
    return [];
  }

  async write(work: (tx: Writer) => void): Promise<void> {
    await Promise.resolve();
    const files: string[] = [];
    const tx = {
      run: (sql: string, ...values: readonly unknown[]) => {
        if (sql.startsWith('INSERT')) files.push(String(values[1]));
      },
    };
    work(tx as unknown as Writer);
    if (this.failing) throw new Error('the disk is full');
    this.written.push(...files);
  }
}

const row = (file: string): BackupRow => ({
  ...{ id: file, file, madeAt: 1, logRows: 0, logHead: '', size: 1, provenAt: null, problem: null },
});

test('what could not be written is written with what comes next, in order, and is shown meanwhile', async () => {
  const catalog = new Catalog();
  const keyring: unknown = { unlocked: true };
  const known = new BackupCatalog(catalog as unknown as UnitOfWork, keyring as Keyring);
  await known.put(row('/a'));
  catalog.failing = true;
  await expect(known.put(row('/b'))).rejects.toThrow('the disk is full');
  const [failed, behind] = [known.put(row('/c')), known.put(row('/d'))];
  await expect(failed).rejects.toThrow('the disk is full');
  await expect(behind).rejects.toThrow('the disk is full');
  expect(catalog.written).toEqual(['/a']);
  expect(known.rows().map(({ file }) => file)).toEqual(expect.arrayContaining(['/b', '/c', '/d']));
  catalog.failing = false;
  await known.write();
  expect([...new Set(catalog.written)]).toEqual(['/a', '/b', '/c', '/d']);
  expect(known.rows()).toEqual([]);
});
