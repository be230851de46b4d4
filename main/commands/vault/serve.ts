/** `keyhearth serve`: the service, and with `--ui` its window, until a signal ends it. */
import type { VaultStatus } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { VaultInUseError } from '../../storage/file/vault-directory.ts';
import { defined } from '../../lib/defined.ts';
import { errorBody, KeyhearthError, type ErrorCodeName } from '../../lib/errors.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { freezeOnSignal } from '../../app/freeze-signal.ts';
import { eraseAfterLock } from '../../keys/erasure.ts';
import { startVault, type Vault } from '../../app/compose.ts';
import { startServiceLog } from '../../app/service-log.ts';
import { windowText } from './control.ts';
import { offerFormerVault } from './former-vault.ts';
import { findRunning, noVault } from '../shared/client.ts';
import { openPage } from '../shared/open-page.ts';
import { exitCodeOfOpening, note, print, refusedWith, type CommandError } from '../shared/output.ts';
import { untilSignalled } from '../shared/signals.ts';
import { unlockingNotes } from '../shared/unlocking.ts';
import { hasVaultFile } from '../shared/vault-file.ts';

export interface ServeOptions {
  /** UTF-8, which is erased once it was tried. */
  readonly password?: Uint8Array;
  /** Open the window in the browser. */
  readonly open: boolean;
  readonly json: boolean;
}

export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const { dataDirectory } = config;
  await offerFormerVault(config, options.json);
  // Without a window no vault could be created, and starting would leave an empty file.
  if (!config.ui && dataDirectory !== null && !hasVaultFile(dataDirectory)) throw nothingToServe(config);
  using _log = startServiceLog(config);
  const vault = await startOrJoin(config, options);
  if (vault === undefined) return;
  const stopListening = freezeOnSignal(vault.rpc);
  const stopErasing = eraseAfterLock(vault.keyring);
  try {
    const hush = vault.rpc.onEvent(unlockingNotes());
    const status = await unlockAtStart(vault, options.password).finally(() => {
      options.password?.fill(0);
      hush();
    });
    if (status.state === 'none' && !config.ui) throw nothingToServe(config);
    const link = config.ui ? vault.newLink() : undefined;
    // The program that reads the line may send the signal at once.
    const signalled = untilSignalled(config);
    print(
      options.json,
      { url: vault.url, state: status.state, ...defined({ windowUrl: link }) },
      [
        `Keyhearth serves ${vault.url}; the vault is ${status.state === 'none' ? 'not created yet' : status.state}.`,
        ...(link === undefined ? [] : [windowText(link)]),
      ].join('\n'),
    );
    if (link !== undefined && options.open) openPage(vault.newPage());
    await signalled;
  } finally {
    stopListening();
    stopErasing();
    await vault.close();
  }
}

const nothingToServe = ({ dataDirectory }: Config): CommandError =>
  noVault(String(dataDirectory), ', or in the window of `keyhearth serve --ui --open`');

/** If another process already serves the vault, opens its window, since that is the user's goal. */
async function startOrJoin(config: Config, options: ServeOptions): Promise<Vault | undefined> {
  try {
    return await startVault(config);
  } catch (error) {
    const running =
      error instanceof VaultInUseError && config.ui && config.dataDirectory !== null
        ? await findRunning(config.dataDirectory)
        : undefined;
    if (running === undefined) throw error;
    const link = await running.newLink();
    print(
      options.json,
      { url: running.url, windowUrl: link },
      `Keyhearth is already running at ${running.url}.\n${windowText(link)}`,
    );
    if (options.open) openPage(await running.newPage());
    return undefined;
  }
}

async function unlockAtStart(vault: Vault, password: Uint8Array | undefined): Promise<VaultStatus> {
  const status = await vault.rpc.status();
  if (status.state === 'none') return status;
  if (status.frozen !== null) {
    // A password in a file is there at every start: it would lift a freeze.
    note('The vault stays frozen. Unlock it with its password or recovery phrase: keyhearth unlock');
    return status;
  }
  if (password !== undefined) return unlockWithPassword(vault, password, status);
  if (!status.keyslots.includes('keychain')) {
    note(
      'The vault stays locked: it has no keychain keyslot, and --password-file was not given. Unlock it in the window or with: keyhearth unlock',
    );
    return status;
  }
  try {
    return await vault.rpc.unlock({ with: 'keychain' });
  } catch (error) {
    note(`The vault stays locked: ${reasonOf(error)}`);
    return status;
  }
}

/**
 * Errors of the vault's file or disk: the service stays, and reports them to the window and to every request.
 */
const ofTheFile: ReadonlySet<string> = new Set<ErrorCodeName>([
  'VAULT_TAMPERED',
  'VAULT_ROLLED_BACK',
  'STORAGE_UNAVAILABLE',
]);

/** @throws CommandError where the password is not the vault's: to start again does not help. */
async function unlockWithPassword(
  vault: Vault,
  password: Uint8Array,
  status: VaultStatus,
): Promise<VaultStatus> {
  try {
    return await vault.unlockWithPassword(password);
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    if (!ofTheFile.has(error.code)) {
      throw refusedWith(errorBody(error), { exitCodeOf: exitCodeOfOpening });
    }
    note(`The vault stays locked: ${error.message}`);
    return status;
  }
}
