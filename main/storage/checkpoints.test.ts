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
function commit(): void {
  connection.transaction(() => {
    connection.run('INSERT INTO rows (bytes) VALUES (?)', randomBytes(64 * 1024));
  });
}

function write(): void {
  commit();
  checkpoints.committed();
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const logSize = (): number => statSync(`${file}-wal`).size;

test('no COMMIT moves the log', () => {
  // The thread hears of none, and moves nothing. SQLite by itself would move a log of 1,000 pages.
  for (let count = 0; count < 200; count++) commit();
  expect(connection.logState().pages).toBeGreaterThan(3000);
  expect(connection.logState().moved).toBe(0);
});

test('the log of a busy service stays short', async () => {
  let moved = 0;
  for (let count = 0; count < 1600; count++) {
    write();
    const { pages, moved: now } = connection.logState();
    moved = Math.max(moved, now);
    await turn();
    // The thread may be slow, and is waited for as a disk that is slow makes the service wait.
    if (pages > 8192) {
      await vi.waitUntil(() => {
        const state = connection.logState();
        return state.moved === state.pages;
      });
    }
  }
  expect(moved).toBeGreaterThan(0);
  await vi.waitUntil(() => {
    write();
    return logSize() <= 17 * MiB;
  });
  expect(connection.pragma('integrity_check')).toBe('ok');
});

test('the log of a busy service keeps its room: its file grows once', async () => {
  const sizes: number[] = [];
  let before = 0;
  let restarts = 0;
  await vi.waitUntil(
    async () => {
      write();
      const { pages } = connection.logState();
      if (pages < before) {
        restarts += 1;
        sizes.push(logSize());
      }
      before = pages;
      await turn();
      return restarts === 3;
    },
    { interval: 0, timeout: 30_000 },
  );
  expect(Math.min(...sizes)).toBeGreaterThan(15 * MiB);
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
