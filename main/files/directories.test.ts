/** Directories of the user's own, in places where the system makes none. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectory, makeDirectoryLater } from './directories.ts';

let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'keyhearth-directories-'));
});

afterEach(() => {
  rmSync(place, { recursive: true, force: true });
});

const ways = [
  [
    'at once',
    (path: string) =>
      new Promise<void>((resolve) => {
        makeDirectory(path);
        resolve();
      }),
  ],
  ['later', makeDirectoryLater],
] as const;

test.each(ways)('appear %s with those above them, and may be there already', async (_, make) => {
  const path = join(place, 'a', 'b', 'c');
  await make(path);
  await make(path);
  for (const each of [path, join(path, '..'), join(path, '../..')])
    expect(statSync(each).mode & 0o777).toBe(0o700);
  symlinkSync(path, join(place, 'link'));
  await make(join(place, 'link'));
  await make(join(place, 'link', 'd'));
  expect(statSync(join(path, 'd')).isDirectory()).toBe(true);
});

test.each(ways)('are refused %s where something else has the name', async (_, make) => {
  writeFileSync(join(place, 'file'), '');
  symlinkSync(join(place, 'nowhere'), join(place, 'dangling'));
  await expect(make(join(place, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(make(join(place, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(make(join(place, 'dangling'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(make(join(place, 'dangling', 'a'))).rejects.toMatchObject({ code: 'EEXIST' });
});

// The class: a place where the system says that a directory is not there, though the one above it is. In a process of its own,
// which is ended where it does not end.
test.skipIf(process.platform !== 'linux').each(['makeDirectory', 'makeDirectoryLater'])(
  '%s ends in a place that has no room for directories',
  (name) => {
    const script = `
      const { ${name}: make } = await import(${JSON.stringify(join(import.meta.dirname, 'directories.ts'))});
      try { await make('/proc/1/a/b/c'); } catch (error) { process.stdout.write(error.code); }`;
    const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect({ stdout, signal }).toEqual({ stdout: 'ENOENT', signal: null });
  },
);
