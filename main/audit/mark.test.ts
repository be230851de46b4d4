import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addLogSink } from '../lib/log.ts';
import { Connection } from '../storage/connection.ts';
import { migrate } from '../storage/migrations.ts';
import { insertVault } from '../storage/tables/vault.ts';
import { LogMark } from './mark.ts';

let directory: string;
let connection: Connection;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-mark-'));
  connection = Connection.open(join(directory, 'vault.db'));
  migrate(connection);
  connection.exec(
    "INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'Home', 1, 0, 0)",
  );
  connection.exec(
    "INSERT INTO users (id, organization_id, name, root, created_at, updated_at) VALUES ('u', 'o', 'Ann', 1, 0, 0)",
  );
  insertVault(connection, { id: 'v', organizationId: 'o', ownerUserId: 'u', createdAt: 0 });
});

afterEach(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});

/** A mark that stays behind would let an older file pass for the newest one. */
test('a mark that could not be written is written later, and said once for each time that it could not', () => {
  const faults: unknown[] = [];
  const said: string[] = [];
  const stop = addLogSink(({ text }) => said.push(text));
  const file = join(directory, 'vault.db');
  const mark = new LogMark(file, (fault) => faults.push(fault));
  try {
    // No file can be opened there for writing.
    mkdirSync(join(directory, 'vault.mark'));
    mark.note(connection, 1);
    mark.note(connection, 2);
    expect(said).toEqual([
      `${join(directory, 'vault.mark')} cannot be written (EISDIR): until it can, a file of the vault from before may pass for this one.`,
    ]);
    rmdirSync(join(directory, 'vault.mark'));
    mark.note(connection, 3);
    expect(() => {
      new LogMark(file, () => undefined).check(connection);
    }).toThrow('entry 3 was answered here');
    expect(said).toHaveLength(1);
    expect(faults).toEqual([]);
  } finally {
    stop();
    mark.close();
  }
});
