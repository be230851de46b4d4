/** The vault that a command works with: over rpc to the process that serves it, or opened here where none does. */
import type { UnlockWith, VaultStatus } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { errorBody, KeyhearthError } from '../../lib/errors.ts';
import type { AnswerOf, Ask } from './answers.ts';
import { findRunning, noVault, opening } from './client.ts';
import { dataDirectory } from '../vault/control.ts';
import { exitCodeOfOpening, refusedWith } from './output.ts';
import { hasVaultFile } from './vault-file.ts';

/** The vault of a command: the running one, or its file. */
export interface OpenedVault {
  readonly status: VaultStatus;
  /** True if another process has it open. */
  readonly isServed: boolean;
  readonly call: Ask;
  /** Until its end, the vault is put back as it was where the command does not come to do so itself. */
  readonly visit: () => Promise<Disposable>;
}

/** Connects to the process that serves the vault, or opens the vault where none does. */
export async function withVault<T>(config: Config, work: (vault: OpenedVault) => Promise<T>): Promise<T> {
  const directory = dataDirectory(config);
  const running = await findRunning(directory);
  if (running !== undefined) {
    return work({
      status: checkThere(directory, await running.status()),
      isServed: true,
      call: running.call,
      visit: () => running.visit(),
    });
  }
  // Opening makes what is missing.
  if (!hasVaultFile(directory)) throw noVault(directory);
  // The whole service, which those that ask a running one do without.
  const { openVault } = await import('../../app/compose.ts');
  const vault = openVault(config);
  const call: Ask = async (name, ...args) => {
    try {
      return (await Reflect.apply(vault.rpc[name], vault.rpc, args)) as AnswerOf<typeof name>;
    } catch (error) {
      if (error instanceof KeyhearthError && opening.has(name)) {
        throw refusedWith(errorBody(error), { exitCodeOf: exitCodeOfOpening });
      }
      throw error;
    }
  };
  try {
    return await work({
      status: checkThere(directory, await vault.rpc.status()),
      isServed: false,
      call,
      // The keys go with the process, and the file says all the while that the vault is frozen.
      visit: () => Promise.resolve(new DisposableStack()),
    });
  } finally {
    vault.close();
  }
}

/**
 * Unlocks the vault for as long as the work takes, where it is locked; one that was frozen is frozen again. What unlocks it is
 * checked in any case.
 */
export async function unlocked<T>(vault: OpenedVault, how: UnlockWith, work: () => Promise<T>): Promise<T> {
  // It may have been frozen while its owner typed a secret.
  const { state, frozen } = await vault.call('status');
  using _ = await vault.visit();
  await vault.call('unlock', how);
  try {
    return await work();
  } finally {
    if (frozen !== null) await vault.call('freeze');
    else if (state === 'locked') await vault.call('lock');
  }
}

function checkThere(directory: string, status: VaultStatus): VaultStatus {
  if (status.state === 'none') throw noVault(directory);
  return status;
}
