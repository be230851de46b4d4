// `npm run check:lock`: what npm must find in the lock file and drops whenever it writes it. better-sqlite3 ships its
// binaries and says so in its own package.json, but npm goes by the lock file alone and, before version 11, would run
// node-gyp where a `binding.gyp` lies: which fails on a machine without Python and a compiler.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '..', 'package-lock.json');
const text = readFileSync(file, 'utf8');
const entry = '    "node_modules/better-sqlite3": {\n';
const mark = '      "gypfile": false,\n';

if (!text.includes(entry))
  throw new Error('package-lock.json has no better-sqlite3: adapt test/check-lock.ts');
if (!text.includes(entry + mark)) {
  if (process.argv.includes('--fix')) {
    writeFileSync(file, text.replace(entry, entry + mark));
  } else {
    console.error(
      'better-sqlite3 lacks "gypfile": false in package-lock.json: run npm run check:lock -- --fix',
    );
    process.exitCode = 1;
  }
}
