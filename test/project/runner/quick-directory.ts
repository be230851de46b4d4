/**
 * Where tests keep their vaults. A database waits for the disk at each of its commits, milliseconds each, and a file system in
 * memory does not make it wait.
 */
import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In bytes: what a whole run leaves room for. A container often has 64 MiB in memory. */
const roomNeeded = 4 * 1024 ** 3;

/** @returns the directory in memory where it has room and allows programs, else the one for temporary files. */
export function quickDirectory(inMemory = '/dev/shm', room = roomNeeded): string {
  const program = join(inMemory, `keyhearth-tests-${String(process.pid)}`);
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    if (bavail * bsize < room) return tmpdir();
    // Tests start programs that they write, which a system may forbid there.
    writeFileSync(program, '', { mode: 0o700, flag: 'wx' });
    accessSync(program, constants.X_OK);
    return inMemory;
  } catch {
    return tmpdir();
  } finally {
    rmSync(program, { force: true });
  }
}
