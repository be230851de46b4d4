/** Checks that the vault's disk keeps written data, and how much room it has. */
import { randomBytes } from 'node:crypto';
import { readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { openNewFile } from '../files/new-files.ts';
import { causeOf, storageTexts } from '../files/storage-causes.ts';
import type { Finding } from './finding.ts';

const testBytes = 64 * 1024;
/** With less, the next writes may fail. */
const littleSpace = 100 * 1024 * 1024;

export async function checkDisk(directory: string): Promise<Pick<Finding, 'outcome' | 'detail'>> {
  try {
    return await tryDisk(directory);
  } catch (error) {
    const cause = causeOf(error);
    if (cause === undefined) throw error;
    const { what, advice } = storageTexts[cause];
    return { outcome: 'failed', detail: `${directory} cannot be written: ${what}. ${advice}.` };
  }
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
