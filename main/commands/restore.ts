/** `latchkey restore`: the vault of a backup, on a machine that has none. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { BackupSecret } from '../../preload/contract.ts';
import { restore } from '../backup/restore.ts';
import type { Config } from '../config.ts';
import { systemClock } from '../lib/clock.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { keychainOf } from '../vault.ts';
import { askForSecret, count, progressText, when } from './backup.ts';
import { dataDirectory } from './control.ts';
import { CommandError, exitCodes, note, print } from './output.ts';

export interface RestoreOptions {
  /** Undefined where none was named. */
  readonly secret: BackupSecret | undefined;
  readonly json: boolean;
}

export async function restoreBackup(
  config: Config,
  file: string,
  { secret, json }: RestoreOptions,
): Promise<void> {
  const directory = dataDirectory(config);
  const shows = !json && process.stderr.isTTY;
  const restored = await restore({
    directory,
    file: resolve(file),
    how: secret ?? (await askForSecret()),
    keychain: keychainOf(config),
    random: (_purpose, length) => new Uint8Array(randomBytes(length)),
    clock: systemClock,
    onProgress: (done, total) => {
      if (shows) process.stderr.write(`\r${progressText(done, total)}`);
    },
  }).catch((error: unknown) => {
    const stayedShut = error instanceof LatchkeyError && error.message.startsWith('The backup stays shut.');
    throw stayedShut ? new CommandError(exitCodes.locked, error.message) : error;
  });
  if (shows) note('');
  if (restored.keychainProblem !== null) note(`No keychain slot was made: ${restored.keychainProblem}`);
  print(
    json,
    { directory, ...restored },
    [
      `Restored the vault of ${restored.organizationName} in ${directory}, as it was ${when(restored.madeAt)}.`,
      `Organization ${restored.organizationId}, owner ${restored.ownerUserId}, ${count(restored.log.rows, 'log entry', 'log entries')}.`,
      `It opens with: ${restored.keyslots.join(', ')}.`,
      'API key files are not in a backup: bring yours, or make a new one with `latchkey keygen --register`.',
      'Next: latchkey backup verify FILE, latchkey backup schedule DIRECTORY, latchkey serve',
    ].join('\n'),
  );
}
