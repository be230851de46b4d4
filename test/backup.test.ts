/** Backups, end to end: made of a vault that runs, tried, and restored on a machine that has nothing of it. */
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noKeychain } from '../main/keyslots/keychain.ts';
import { systemClock } from '../main/lib/clock.ts';
import { restore } from '../main/backup/restore.ts';
import { newWallet, startTestVault, temporaryDirectory } from './support.ts';

test('smoke', async () => {
  await using vault = await startTestVault();
  using elsewhere = temporaryDirectory();
  await newWallet(vault.root, 'Savings');
  const file = join(elsewhere.path, 'b.backup');
  console.log(await vault.vault.bridge.backUp({ file }));
  console.log(readFileSync(file).subarray(0, 600).toString('latin1'));
  await newWallet(vault.root, 'Savings2');
  console.log(JSON.stringify(await vault.vault.bridge.verifyBackup({ file }), null, 1));
  console.log(await vault.vault.bridge.verifyBackup({ file, secret: { with: 'recovery', phrase: vault.recoveryPhrase } }));
  console.log(JSON.stringify(await vault.vault.bridge.backups(), null, 1));
  console.log(
    await restore({
      directory: join(elsewhere.path, 'new'),
      file,
      how: { with: 'recovery', phrase: vault.recoveryPhrase },
      keychain: noKeychain('x'),
      random: (_p, n) => crypto.getRandomValues(new Uint8Array(n)),
      clock: systemClock,
      onProgress: () => undefined,
    }),
  );
  console.log(readdirSync(join(elsewhere.path, 'new')), readdirSync(vault.directory), statSync(file).mode.toString(8));
});
