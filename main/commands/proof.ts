/** The secrets that a command shows to change what opens the vault, and the vault that it shows them to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeCall, Keyslots, ProveWith, UnlockWith, VaultStatus } from '../../preload/contract.ts';
import type { Config } from '../config.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { openVault } from '../vault.ts';
import { findRunning, opening } from './client.ts';
import { dataDirectory } from './control.ts';
import { CommandError, exitCodes } from './output.ts';
import { askForPassword, canAsk, readPassword, readSecretFile, readShares } from './secrets.ts';

export interface ProofOptions {
  readonly passwordFile?: readonly string[];
  readonly passwordFd?: string;
  readonly recoveryFile?: string;
  readonly shareFile?: readonly string[];
}

/** A vault to be asked: the one that runs, or its file. */
export interface OpenedVault {
  readonly status: VaultStatus;
  /** Whether another process has it open. */
  readonly isServed: boolean;
  call<T>(name: BridgeCall, ...args: readonly unknown[]): Promise<T>;
}

/** What the options name, in the order in which it is tried. */
export function readProofs({
  passwordFile = [],
  passwordFd,
  recoveryFile,
  shareFile = [],
}: ProofOptions): ProveWith[] {
  const passwords = [
    ...passwordFile.map((file) => readPassword({ passwordFile: file }, undefined)),
    ...(passwordFd === undefined ? [] : [readPassword({ passwordFd }, undefined)]),
  ];
  return [
    ...passwords.flatMap((password) =>
      password === undefined ? [] : [{ with: 'password' as const, password }],
    ),
    ...(recoveryFile === undefined
      ? []
      : [{ with: 'recovery' as const, phrase: readSecretFile('--recovery-file', recoveryFile) }]),
    ...(shareFile.length === 0 ? [] : [{ with: 'shares' as const, shares: readShares(shareFile) }]),
  ];
}

/** @returns what the options name, or what is typed where somebody is there to be asked. */
export async function requireProof(options: ProofOptions, { keyslots }: VaultStatus): Promise<ProveWith> {
  const [proof] = readProofs(options);
  if (proof !== undefined) return proof;
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      'expected a secret that opens the vault now: give --password-file, --password-fd, --recovery-file or --share-file',
    );
  }
  return keyslots.includes('password')
    ? { with: 'password', password: await askForPassword('Password of the vault, as it is now') }
    : { with: 'recovery', phrase: await askForPassword('Recovery phrase of the vault') };
}

/** Asks the process that serves the vault, or opens the vault where none does. */
export async function withVault<T>(config: Config, work: (vault: OpenedVault) => Promise<T>): Promise<T> {
  const directory = dataDirectory(config);
  const running = await findRunning(directory);
  if (running !== undefined) {
    return work({
      status: checkThere(directory, await running.status()),
      isServed: true,
      call: async <Answer>(name: BridgeCall, ...args: readonly unknown[]) =>
        (await running.call(name, ...args)) as Answer,
    });
  }
  // Opening makes what is missing.
  if (!existsSync(join(directory, 'vault.db'))) throw noVault(directory);
  const vault = openVault(config);
  try {
    return await work({
      status: checkThere(directory, await vault.bridge.status()),
      isServed: false,
      call: async <Answer>(name: BridgeCall, ...args: readonly unknown[]) => {
        try {
          const answer: unknown = await Reflect.apply(vault.bridge[name], vault.bridge, args);
          return answer as Answer;
        } catch (error) {
          if (error instanceof LatchkeyError && opening.has(name)) {
            throw new CommandError(exitCodes.locked, error.message);
          }
          throw error;
        }
      },
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

/** @param wanted A keyslot's id, or its kind where there is one of that kind. */
export function findKeyslot({ keyslots }: Keyslots, wanted: string): Keyslots['keyslots'][number] {
  const found = keyslots.filter(({ id, kind }) => id === wanted || kind === wanted);
  const [slot] = found;
  if (slot !== undefined && found.length === 1) return slot;
  throw new CommandError(
    exitCodes.failed,
    found.length === 0
      ? `there is no keyslot ${JSON.stringify(wanted)}: \`latchkey keyslots list\` shows those there are`
      : `there are ${String(found.length)} keyslots of the kind ${wanted}: name one by its id`,
  );
}

function checkThere(directory: string, status: VaultStatus): VaultStatus {
  if (status.state === 'none') throw noVault(directory);
  return status;
}

const noVault = (directory: string): CommandError =>
  new CommandError(exitCodes.absent, `there is no vault in ${directory}: make one with \`latchkey init\``);
