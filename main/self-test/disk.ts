/** Checks that the vault's disk keeps written data, and how much room it has. */
import { randomBytes } from 'node:crypto';
import { readFile, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openNewFile } from '../files/new-files.ts';
import { causeOf, storageTexts, type StorageCause } from '../files/storage-causes.ts';
import { mayGrow } from '../storage/file/disk-state.ts';
import type { Finding } from './finding.ts';

const testBytes = 64 * 1024;
/** With less, the next writes may fail. */
const littleSpace = 100 * 1024 * 1024;

/** @param database The vault's file, which need not be there. */
export async function checkDisk(database: string): Promise<Pick<Finding, 'outcome' | 'detail'>> {
  const directory = dirname(database);
  try {
    const found = await tryDisk(directory);
    return found.outcome === 'failed' || mayGrow(database) ? found : refused(database, 'too-large');
  } catch (error) {
    const cause = causeOf(error);
    if (cause === undefined) throw error;
    return refused(directory, cause);
  }
}

function refused(path: string, cause: StorageCause): Pick<Finding, 'outcome' | 'detail'> {
  const { what, advice } = storageTexts[cause];
  return { outcome: 'failed', detail: `${path} cannot be written: ${what}. ${advice}.` };
}

async function tryDisk(directory: string): Promise<Pick<Finding, 'outcome' | 'detail'>> {
  const file = join(directory, `self-test-${randomBytes(8).toString('hex')}`);
  const wanted = randomBytes(testBytes);
  try {
    await using handle = await openNewFile(file);
    await handle.writeFile(wanted);
    await handle.sync();
    if (!wanted.equals(await readFile(file)))
      return { outcome: 'failed', detail: `what was written to ${directory} is read otherwise` };
  } finally {
    await rm(file, { force: true });
  }
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const megabytes = `${String(Math.floor(free / 1024 / 1024))} MB are free`;
  return free < littleSpace
    ? { outcome: 'note', detail: `it can be written, but only ${megabytes}` }
    : { outcome: 'ok', detail: `it can be written, and ${megabytes}` };
}
