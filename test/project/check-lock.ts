// `npm run check:lock`: what npm must find in the lock file and drops whenever it writes it. better-sqlite3 ships its
// binaries and says so in its own package.json, but npm goes by the lock file alone and, before version 11, would run
// node-gyp where a `binding.gyp` lies: which fails on a machine without Python and a compiler. Version 10 drops the C
// library that a binary is for as well. `npm install` writes the lock file and then runs `prepare`, which runs this with
// `--fix`: what was dropped comes back, and the tree stays clean.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const projectRoot = join(import.meta.dirname, '../..');
const file = join(projectRoot, 'package-lock.json');
const text = readFileSync(file, 'utf8');
const entry = '    "node_modules/better-sqlite3": {\n';
const mark = '      "gypfile": false,\n';

const dropped: readonly string[] = ['gypfile', 'libc'];

/** The content of a lock file, without the members that npm drops. */
const essence = (lock: string): string =>
  JSON.stringify(
    JSON.parse(lock, (key, value: unknown) => (dropped.includes(key) ? undefined : value)) as unknown,
  );

/** The lock file as it was committed; undefined where there is no repository. */
function committed(): string | undefined {
  const { status, stdout } = spawnSync('git', ['show', 'HEAD:./package-lock.json'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return status === 0 ? stdout : undefined;
}

/** The lock file as it was before npm wrote it; with what else has changed, where something has. */
function mended(): string {
  const before = committed();
  if (before?.includes(entry + mark) === true && essence(before) === essence(text)) return before;
  return text.includes(entry + mark) ? text : text.replace(entry, entry + mark);
}

if (!text.includes(entry))
  throw new Error('package-lock.json has no better-sqlite3: adapt test/project/check-lock.ts');
if (process.argv.includes('--fix')) {
  const wanted = mended();
  if (wanted !== text) writeFileSync(file, wanted);
} else if (!text.includes(entry + mark)) {
  console.error(
    'better-sqlite3 lacks "gypfile": false in package-lock.json: run npm run check:lock -- --fix',
  );
  process.exitCode = 1;
}
