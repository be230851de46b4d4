/**
 * A vault that another process holds: of two that want it, the second becomes the first one's window, where its owner says
 * so. The keys stay where they are.
 */
import { app, dialog } from 'electron';
import { rpcCalls } from '../../preload/contract.ts';
import type { RpcCall, VaultRpc, VaultEvent } from '../../preload/contract.ts';
import { findRunning, type Running } from '../commands/shared/client.ts';
import type { Config } from '../app/config.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { startAgain } from './relaunch.ts';
import { report } from './report.ts';

/** The rpc of a vault that another process serves. */
export interface JoinedVault {
  readonly rpc: VaultRpc;
  close(): Promise<void>;
}

/**
 * Asks if the app should become the window of the process that holds the vault.
 * @param error The reason why the vault did not open here.
 * @returns undefined if the owner chooses to quit.
 * @throws the error, if it is another one, or if the process that holds the vault does not answer.
 */
export async function attachToService(
  error: unknown,
  config: Pick<Config, 'dataDirectory' | 'appImage'>,
): Promise<JoinedVault | undefined> {
  const { dataDirectory: directory } = config;
  if (!(error instanceof Error) || error.name !== 'VaultInUseError' || directory === null) throw error;
  const running = await findRunning(directory);
  // It opens the vault without serving it, as a command does for a moment; or it has stopped answering.
  if (running === undefined) throw error;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    title: 'Keyhearth',
    message: 'The vault is already in use',
    detail: `${error.message}\n\nThis window can use the vault in that process, which keeps the keys and locks the vault.`,
    buttons: ['Use this window', 'Quit'],
    defaultId: 0,
    cancelId: 1,
  });
  return response === 0 ? join(running, config) : undefined;
}

function join(running: Running, config: Pick<Config, 'appImage'>): JoinedVault {
  const listeners = new Set<(event: VaultEvent) => void>();
  const closing = new AbortController();
  running
    .listen((event) => {
      for (const listener of listeners) listener(event);
    }, closing.signal)
    .catch((error: unknown) => {
      report('the events of the process that holds the vault', error);
    })
    .finally(() => {
      if (!closing.signal.aborted) void sayGone(config);
    });
  const call = async (name: RpcCall, args: readonly unknown[]): Promise<unknown> => {
    try {
      return await running.pass(name, args);
    } catch (error) {
      if (error instanceof Error && error.name === 'CommandError') {
        throw new KeyhearthError('FAILED_PRECONDITION', error.message);
      }
      throw new KeyhearthError('UNAVAILABLE', 'The process that holds the vault does not answer.', {
        cause: error,
      });
    }
  };
  const calls = Object.fromEntries(
    rpcCalls.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]),
  ) as unknown as Pick<VaultRpc, RpcCall>;
  return {
    rpc: {
      ...calls,
      onEvent(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

async function sayGone(config: Pick<Config, 'appImage'>): Promise<void> {
  try {
    const { response } = await dialog.showMessageBox({
      type: 'info',
      title: 'Keyhearth',
      message: 'The process that held the vault has ended',
      detail: 'You can open the vault here. As after every start, the vault is locked.',
      buttons: ['Open here', 'Quit'],
      defaultId: 0,
      cancelId: 1,
    });
    if (response === 0) startAgain(config);
  } catch (error) {
    report('nobody could be asked about the vault', error);
  }
  app.quit();
}
