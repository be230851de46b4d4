/** An unlock, or one piece of work with a backup, in a process of its own. Takes it from the parent, and sends back what it took. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { restore } from '../../main/backup/restore.ts';
import { makeConfig } from '../../main/app/config.ts';
import { noKeychain } from '../../main/keys/keychain/keychain.ts';
import { systemClock } from '../../main/lib/clock.ts';
import { openVault } from '../../main/app/compose.ts';

export interface BackupWork {
  readonly work: 'unlock' | 'backup' | 'verify' | 'restore';
  readonly phrase: string;
  /** Its directory. */
  readonly vault: string;
  readonly file: string;
  /** The directory of the restored vault. */
  readonly restored: string;
}

export interface Measured {
  readonly ms: number;
  /** The most memory that the process had. */
  readonly mostMiB: number;
}

const [message] = (await once(process, 'message')) as [BackupWork];
const started = performance.now();
await run(message);
const measured: Measured = {
  ms: performance.now() - started,
  mostMiB: process.resourceUsage().maxRSS / 1024,
};
process.send?.(measured);
process.disconnect();

async function run({ work, phrase, vault, file, restored }: BackupWork): Promise<void> {
  const how = { with: 'recovery', phrase } as const;
  if (work === 'restore') {
    await restore({
      directory: restored,
      file,
      how,
      keychain: noKeychain('the bench has none'),
      random: (_purpose, length) => new Uint8Array(randomBytes(length)),
      clock: systemClock,
      onKept: () => undefined,
      onProgress: () => undefined,
    });
    return;
  }
  const opened = openVault(makeConfig({ dataDir: vault, configDir: vault, keychain: false }, {}));
  try {
    await opened.rpc.unlock(how);
    if (work === 'backup') await opened.rpc.backUp({ file });
    else if (work === 'verify') {
      const { problemCount } = await opened.rpc.verifyBackup({ file, secret: how });
      if (problemCount > 0) throw new Error('the backup is not proven');
    }
  } finally {
    opened.close();
  }
}
