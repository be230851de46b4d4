/** `keyhearth restore`: the vault of a backup, on a machine that has none. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { restore } from '../../backup/restore.ts';
import type { Config } from '../../app/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { keychainOf } from '../../app/keychain.ts';
import { askForSecret, count, when } from './backup.ts';
import { dataDirectory } from '../vault/control.ts';
import { note, print } from '../shared/output.ts';
import { startProgress } from '../shared/progress.ts';
import { readSecret, unlockMethods, type SecretOptions } from '../shared/proof.ts';
import { tryUntilRight } from '../shared/secrets.ts';

export interface RestoreOptions extends SecretOptions {
  readonly json: boolean;
}

export async function restoreBackup(
  config: Config,
  file: string,
  { json, ...options }: RestoreOptions,
): Promise<void> {
  const directory = dataDirectory(config);
  const restored = await tryUntilRight(await readSecret(options), askForSecret, async (how) => {
    using progress = startProgress('Restoring the vault', json);
    return await restore({
      directory,
      file: resolve(file),
      how,
      keychain: keychainOf(config),
      random: (_purpose, length) => new Uint8Array(randomBytes(length)),
      clock: systemClock,
      onProgress: progress.report,
      onKept: note,
    });
  });
  if (restored.keychainProblem !== null) note(`No keychain keyslot was added: ${restored.keychainProblem}`);
  print(
    json,
    { directory, ...restored },
    [
      `Restored the vault of ${restored.organizationName} in ${directory}, as it was ${when(restored.madeAt)}.`,
      `Organization ${restored.organizationId}, owner ${restored.ownerUserId}, ${count(restored.log.rows, 'log entry', 'log entries')}.`,
      `Unlocks with ${unlockMethods(restored.keyslots)}.`,
      'What was deleted, revoked or rejected since then is back: look at users, keys, policies, programs, webhooks and waiting requests.',
      'A backup has no API key files: copy yours, or generate a new one with `keyhearth keygen --name owner --register`.',
      'Next: keyhearth backup verify FILE, keyhearth backup schedule DIRECTORY, keyhearth serve',
    ].join('\n'),
  );
}
