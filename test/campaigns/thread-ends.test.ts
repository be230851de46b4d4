/** A thread that ends takes nothing with it: not the process, whatever it was doing, and not the file that it had open. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Connection } from '../../main/storage/connection.ts';
import { compileCache } from '../support/compile-cache.ts';
import { atLength, report } from './length.ts';
import { ServedVault } from './served-vault.ts';
import type { ThreadEnds } from './thread-ends.ts';

const run = promisify(execFile);
const threads = atLength(30, 6000);

test(
  `${String(threads)} threads that are ended at any moment: the process lives, and nothing of their work is left`,
  { timeout: atLength(2, 40) * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    const file = join(vault.directory, 'vault.db');
    const connection = Connection.open(file);
    connection.transaction(() => {
      for (let row = 0; row < 8000; row++) {
        connection.run('INSERT INTO user_snapshots (hash, user) VALUES (?, ?)', `row ${String(row)}`, '{}');
      }
    });
    connection.close();

    // It rejects unless the process ends with 0.
    const script = join(import.meta.dirname, 'thread-ends.ts');
    const { stdout } = await run(process.execPath, [script, vault.directory, String(threads)], {
      env: { ...process.env, ...compileCache },
    });
    const { answered, refused, terminated } = JSON.parse(stdout) as ThreadEnds;
    report('threads', { answered, refused });
    expect(answered + refused).toBe(threads);
    expect(answered).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    expect(terminated).toBe(0);

    // The files of an abandoned backup are removed.
    expect(readdirSync(vault.directory).filter((name) => /^copy-|draft/.test(name))).toEqual([]);
    const after = Connection.open(file);
    try {
      expect(after.pragma('integrity_check')).toBe('ok');
    } finally {
      after.close();
    }
  },
);
