/**
 * Shared by the tests of the activity log: a vault with a signed log, tampering with its file, and both
 * verifiers.
 */
import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { checkLog, type KnownHead } from '../../main/audit/check.ts';
import { checkExport, exportPart, exportStart } from '../../main/audit/export.ts';
import { headOfRow, identityOf, logSigningKey, type SignedHead } from '../../main/audit/signed-heads.ts';
import { activityHash, genesis, listLog } from '../../main/storage/tables/activities.ts';
import { Connection } from '../../main/storage/connection.ts';
import { lastLogHead, listLogHeads } from '../../main/storage/tables/log-heads.ts';
import { requireVault } from '../../main/storage/tables/vault.ts';
import type { LogCheck } from '../../preload/contract.ts';
import { startTestVault, type TestVault } from '../support/support.ts';

export const standalone = join(import.meta.dirname, '../../main/standalone/verify-log.mjs');

/** Makes this many activities, one after another. */
export async function addActivities({ root }: Pick<TestVault, 'root'>, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    // Some fail for their name: a failure is a field of its own. U+2028 ends a line for some readers.
    const walletName = made % 3 === 2 ? 'The same' : `ü \u2028 ${String(root.nextTimestamp())}`;
    const { body } = await root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] });
    if (body?.['activity'] === undefined && body?.['code'] !== 3) throw new Error(JSON.stringify(body));
  }
}

/** The file of a vault that was closed, with twelve rows, signed at the fourth, the eighth and the last. */
export async function makeSignedLog(directory: string): Promise<string> {
  const file = join(directory, 'signed.db');
  await using service = await startTestVault();
  for (let head = 0; head < 3; head++) {
    await addActivities(service, 4);
    await service.vault.rpc.logState(true);
  }
  await service.vault.close();
  copyFileSync(join(service.directory, 'vault.db'), file);
  return file;
}

/** Changes a file as an attacker who has it can, without its triggers. */
export function tamper(file: string, change: (database: Sqlite.Database) => void): void {
  const database = new Sqlite(file);
  try {
    const triggers = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      .pluck()
      .all() as string[];
    for (const name of triggers) database.exec(`DROP TRIGGER ${name}`);
    database.pragma('foreign_keys = OFF');
    change(database);
  } finally {
    database.close();
  }
}

/** Computes every hash again, in the order of the rows, as a forger does who knows the format. */
export function rechain(database: Sqlite.Database): void {
  let previousHash: Uint8Array = genesis;
  // The same rows as the vault reads them.
  const reader = {
    get: () => undefined,
    kept: () => undefined,
    keptAll: () => [],
    all: (sql: string, ...values: unknown[]) => database.prepare(sql).all(...values),
  };
  const { rows, isEnd } = listLog(
    reader as Parameters<typeof listLog>[0],
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER - 1,
  );
  if (!isEnd) throw new Error('the log is too long to forge at once');
  const update = database.prepare('UPDATE activities SET previous_hash = ?, hash = ? WHERE sequence = ?');
  for (const row of rows) {
    const hash = activityHash({ ...row, previousHash });
    update.run(previousHash, hash, row.sequence);
    previousHash = hash;
  }
}

/** Checks the log in a file. */
export async function checkFile(file: string, noted: readonly KnownHead[] = []): Promise<LogCheck> {
  const connection = Connection.openReadOnly(file);
  try {
    const vault = requireVault(connection);
    const { publicKey } = logSigningKey(connection, vault);
    return await checkLog((work) => work(connection), { identity: identityOf(vault), publicKey, noted });
  } finally {
    connection.close();
  }
}

/** Exports the log to a file, as `keyhearth audit export` does for a vault that is not served. */
export function exportFile(file: string): string {
  const connection = Connection.openReadOnly(file);
  try {
    const vault = requireVault(connection);
    const last = lastLogHead(connection);
    const { publicKey } = logSigningKey(connection, vault);
    const head = last === undefined ? null : headOfRow(last);
    let { text, next } = exportStart(connection, identityOf(vault), publicKey, head);
    while (next !== null) {
      const part = exportPart(connection, next);
      text += part.text;
      ({ next } = part);
    }
    return text;
  } finally {
    connection.close();
  }
}

/** The signed heads in a file. */
export function headsOf(file: string): SignedHead[] {
  const connection = Connection.openReadOnly(file);
  try {
    return listLogHeads(connection, 0, Number.MAX_SAFE_INTEGER).map(headOfRow);
  } finally {
    connection.close();
  }
}

/** Checks an exported log; it comes in pieces that end anywhere. */
export async function checkText(
  text: string,
  given: Parameters<typeof checkExport>[1] = { noted: [] },
): Promise<LogCheck> {
  async function* chunks(): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += 1000) yield Promise.resolve(text.slice(at, at + 1000));
  }
  return (await checkExport(chunks(), given)).check;
}

/** Runs the stand-alone verifier on an exported log. */
export function runStandalone(
  text: string,
  argv: readonly string[] = [],
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [standalone, '-', ...argv], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(text);
  });
}
