/** The vault that a command works with: asked of the process that serves it, or opened here where none does. */
import type { UnlockWith, VaultStatus } from '../../preload/contract.ts';
import type { Config } from '../config.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { openVault } from '../vault.ts';
import type { AnswerOf, Ask } from './answers.ts';
import { findRunning, noVault, opening } from './client.ts';
import { dataDirectory } from './control.ts';
import { CommandError, exitCodeOfOpening } from './output.ts';
import { hasVaultFile } from './vault-file.ts';

/** A vault to be asked: the one that runs, or its file. */
export interface OpenedVault {
  readonly status: VaultStatus;
  /** Whether another process has it open. */
  readonly isServed: boolean;
  readonly call: Ask;
}

/** Asks the process that serves the vault, or opens the vault where none does. */
export async function withVault<T>(config: Config, work: (vault: OpenedVault) => Promise<T>): Promise<T> {
  const directory = dataDirectory(config);
  const running = await findRunning(directory);
  if (running !== undefined) {
    return work({
      status: checkThere(directory, await running.status()),
      isServed: true,
      call: running.call,
    });
  }
  // Opening makes what is missing.
  if (!hasVaultFile(directory)) throw noVault(directory);
  const vault = openVault(config);
  const call: Ask = async (name, ...args) => {
    try {
      return (await Reflect.apply(vault.bridge[name], vault.bridge, args)) as AnswerOf<typeof name>;
    } catch (error) {
      if (error instanceof LatchkeyError && opening.has(name)) {
        throw new CommandError(exitCodeOfOpening(error.code), error.message);
      }
      throw error;
    }
  };
  try {
    return await work({
      status: checkThere(directory, await vault.bridge.status()),
      isServed: false,
      call,
    });
  } finally {
    vault.close();
  }
}

/** Unlocks the vault for as long as the work takes, where it is locked. What unlocks it is checked in any case. */
export async function unlocked<T>(vault: OpenedVault, how: UnlockWith, work: () => Promise<T>): Promise<T> {
  await vault.call('unlock', how);
  try {
    return await work();
  } finally {
    if (vault.status.state === 'locked') await vault.call('lock');
  }
}

function checkThere(directory: string, status: VaultStatus): VaultStatus {
  if (status.state === 'none') throw noVault(directory);
  return status;
}
