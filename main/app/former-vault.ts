/**
 * Moves a vault from before the product's current name. It is in the directory of the former name. The owner
 * is asked once if it should move to the current directory, with the API keys beside it.
 */
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../files/directories.ts';
import { createPrivateFile, VaultDirectory } from '../storage/file/vault-directory.ts';
import type { Config } from './config.ts';

interface Move {
  readonly from: string;
  readonly to: string;
}

export interface FormerVault {
  readonly vault: Move;
  /** Of the API keys, where there are any. */
  readonly keys: Move | undefined;
}

/** In the new directory, once the owner has said that the vault stays where it is. */
const declined = 'former-vault-stays';

/** Files that a start without a vault leaves in a directory. */
const leftBehind =
  /^(?:window|lock(?:-journal)?|endpoint\.json|not-frozen|vault\.reserve|keyhearth\.log(?:\.\d)?)$/;

/** @returns undefined where there is none, where the owner chose a directory, and where they said no before. */
export function findFormerVault({
  dataDirectory,
  keysDirectory,
  former,
}: Pick<Config, 'dataDirectory' | 'keysDirectory' | 'former'>): FormerVault | undefined {
  if (former === undefined || dataDirectory === null) return undefined;
  if (['vault.db', declined].some((name) => existsSync(join(dataDirectory, name)))) return undefined;
  if (!existsSync(join(former.data, 'vault.db'))) return undefined;
  return {
    vault: { from: former.data, to: dataDirectory },
    keys: existsSync(former.keys) ? { from: former.keys, to: keysDirectory } : undefined,
  };
}

/**
 * Moves all of it. A key whose name is taken stays where it is. The vault moves last: its owner is asked again for as long as it
 * has not moved, so a move that fails or is ended on the way goes on with the next answer.
 * @throws VaultInUseError where a process has the vault open; Error where a file is in the way.
 */
export function moveFormerVault({ vault, keys }: FormerVault): void {
  const directory = VaultDirectory.acquire(vault.from);
  try {
    if (existsSync(vault.to)) {
      for (const name of readdirSync(vault.to)) {
        if (leftBehind.test(name)) rmSync(join(vault.to, name), { recursive: true });
      }
      rmdirSync(vault.to);
    }
    makeDirectory(dirname(vault.to));
    if (keys !== undefined) moveKeys(keys);
    renameSync(vault.from, vault.to);
  } finally {
    directory.release();
  }
  // The lock and the note of its holder were let go of under the name that they had before.
  for (const name of ['endpoint.json', 'lock-journal']) rmSync(join(vault.to, name), { force: true });
}

function moveKeys({ from, to }: Move): void {
  makeDirectory(to);
  for (const name of readdirSync(from)) {
    if (!existsSync(join(to, name))) renameSync(join(from, name), join(to, name));
  }
}

/** The owner is not asked again. */
export function leaveFormerVault({ vault }: FormerVault): void {
  makeDirectory(vault.to);
  createPrivateFile(join(vault.to, declined));
}
