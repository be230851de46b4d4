/** The write-ahead log of a vault that is served: moved to the file by a thread, and cut, whatever the service writes meanwhile. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Checkpoints } from './checkpoints.ts';
import { Connection } from './connection.ts';

const MiB = 1024 ** 2;
let directory: string;
let file: string;
let connection: Connection;
let checkpoints: Checkpoints;
let faults: unknown[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-checkpoints-'));
  file = join(directory, 'vault.db');
  connection = Connection.open(file);
  connection.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, bytes BLOB)');
  faults = [];
  checkpoints = new Checkpoints(connection, file, (fault) => faults.push(fault));
});
afterEach(async () => {
  await checkpoints.close();
  connection.close();
  rmSync(directory, { recursive: true });
  expect(faults).toEqual([]);
});

/** One transaction of 64 KiB. */
function write(): void {
  connection.transaction(() => {
    connection.run('INSERT INTO rows (bytes) VALUES (?)', randomBytes(64 * 1024));
  });
  checkpoints.committed();
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const logSize = (): number => statSync(`${file}-wal`).size;

test('the log of a busy service stays short, and no COMMIT moves it', async () => {
  let moved = 0;
  for (let count = 0; count < 1600; count++) {
    const before = connection.logState();
    write();
    const after = connection.logState();
    // A log that was restarted has fewer pages; a log that a COMMIT moved would be moved as a whole.
    if (after.pages > before.pages) expect(after.moved).toBeLessThanOrEqual(before.pages);
    moved = Math.max(moved, after.moved);
    await turn();
    // The thread may be slow, and is waited for as a disk that is slow makes the service wait.
    if (after.pages > 8192) await vi.waitUntil(() => connection.logState().pages < 4096);
  }
  expect(moved).toBeGreaterThan(0);
  await vi.waitUntil(() => {
    write();
    return logSize() <= 17 * MiB;
  });
  expect(connection.pragma('integrity_check')).toBe('ok');
});

test('after a reader that kept it from being emptied, the log is cut', async () => {
  const reader = Connection.openReadOnly(file);
  reader.exec('BEGIN');
  reader.get('SELECT 1 FROM rows');
  for (let count = 0; count < 640; count++) write();
  await turn();
  expect(logSize()).toBeGreaterThan(40 * MiB);
  reader.exec('COMMIT');
  reader.close();
  await vi.waitUntil(() => {
    write();
    return logSize() <= 17 * MiB;
  });
});

test("the thread's work is not a write of another process to the connection", async () => {
  const version = connection.pragma('data_version');
  await vi.waitUntil(() => {
    for (let count = 0; count < 32; count++) write();
    return connection.logState().moved > 0;
  });
  expect(connection.pragma('data_version')).toBe(version);
});
