/** `keyhearth status`, `lock`, `unlock` and `open`: rpc calls to the process that holds the vault. */
import type { UnlockWith, VaultStatus } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { describeLastSignature } from '../../app/freeze-signal.ts';
import { describeFinding } from '../../storage/integrity/refusal.ts';
import { checkNotHeld, findRunning, noVault, requireRunning } from '../shared/client.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { readSecrets, secretFlags, type SecretOptions } from '../shared/proof.ts';
import { askForPasswordOfVault, canAsk, tryUntilRight } from '../shared/secrets.ts';
import { openPage } from '../shared/open-page.ts';
import { unlockingNotes } from '../shared/unlocking.ts';
import { hasVaultFile } from '../shared/vault-file.ts';

export async function status(config: Config, json: boolean): Promise<void> {
  const directory = dataDirectory(config);
  const running = await findRunning(directory);
  if (running === undefined) {
    checkNotHeld(directory);
    const text = hasVaultFile(directory)
      ? `Not running: \`keyhearth serve\` serves the vault in ${directory}.`
      : `Not running: ${noVault(directory).message}.`;
    print(json, { running: false, directory }, text);
    process.exitCode = exitCodes.absent;
    return;
  }
  const found = await running.status();
  print(json, { running: true, ...found }, describe(found));
}

export async function lock(config: Config, json: boolean): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const { state } = await running.call('lock');
  print(json, { state }, 'The vault is locked: its keys are out of memory.');
}

export interface UnlockOptions extends SecretOptions {
  readonly keychain: boolean;
}

export async function unlock(config: Config, json: boolean, options: UnlockOptions): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const { keyslots, frozen } = await running.status();
  const given = chooseGiven(options, { keyslots, frozen });
  if (given === undefined && !(keyslots.includes('password') && canAsk())) {
    throw new CommandError(
      exitCodes.usage,
      `nothing to unlock with: the vault opens with ${keyslots.join(', ')}; give ${secretFlags}, or --keychain`,
    );
  }
  const over = new AbortController();
  // Progress that cannot be read is not shown; the call reports the outcome.
  void running.listen(unlockingNotes(), over.signal).catch(() => undefined);
  try {
    const { state } = await tryUntilRight(given, askForPasswordOfVault, (how) => running.call('unlock', how));
    print(json, { state }, 'The vault is unlocked.');
  } finally {
    over.abort();
  }
}

export async function openWindow(config: Config, json: boolean, browser: boolean): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const link = await running.newLink();
  print(json, { windowUrl: link }, `Window, for one browser, within ten minutes: ${link}`);
  if (browser) openPage(await running.newPage());
}

/** @returns undefined where the password is to be asked for. */
function chooseGiven(
  options: UnlockOptions,
  { keyslots, frozen }: Pick<VaultStatus, 'keyslots' | 'frozen'>,
): UnlockWith | undefined {
  const [proof] = readSecrets(options);
  if (proof !== undefined) return proof;
  if (
    options.keychain ||
    (frozen === null && keyslots.includes('keychain') && !keyslots.includes('password'))
  )
    return { with: 'keychain' };
  return undefined;
}

function describe(found: VaultStatus): string {
  const lines = [
    `Running at ${found.url}; the vault is ${found.state === 'none' ? 'not made yet' : found.state}.`,
  ];
  if (found.unlocking) {
    const { checked, total } = found.unlocking;
    lines.push(`It is being unlocked: ${String(Math.floor((100 * checked) / total))} % of it was looked at.`);
  }
  if (found.frozen) {
    lines.push(
      `It is frozen since ${new Date(found.frozen.at).toISOString()}: it opens with its password or recovery phrase alone.`,
      describeLastSignature(found.frozen),
    );
    if (found.frozen.unsaved !== null) {
      lines.push(`The freeze is in memory only, and a restart would forget it: ${found.frozen.unsaved}`);
    }
  }
  if (found.tampering) {
    lines.push(
      'Its file was changed outside Keyhearth, and it is refused: run `keyhearth doctor`',
      ...found.tampering.findings.map((finding) => `  ${describeFinding(finding)}`),
    );
  }
  if (found.storage) lines.push(found.storage.problem);
  if (found.wordsNotShown) lines.push(wordsNotShown);
  if (found.organization) lines.push(`Organization ${found.organization.name} (${found.organization.id})`);
  if (found.owner) lines.push(`Owner ${found.owner.userName} (${found.owner.userId})`);
  if (found.keyslots.length > 0) lines.push(`Opens with: ${found.keyslots.join(', ')}`);
  lines.push(found.keychain.available ? 'Keychain: available' : `Keychain: ${found.keychain.reason}`);
  if (found.longestTurn) {
    const { name, ms, at } = found.longestTurn;
    lines.push(`Longest turn: ${ms.toFixed(0)} ms, ${name}, at ${new Date(at).toISOString()}`);
  }
  if (found.serverKeys) lines.push(`Signer public key: ${found.serverKeys.signer}`);
  return lines.join('\n');
}

/** The state after `init` ended before it showed the words of the recovery phrase, and the next step. */
export const wordsNotShown =
  'The words of its recovery phrase were never shown: the command that made the vault ended before that. Make new ones: `keyhearth keyslots change recovery`.';

/** Every command but `dev` has a directory. */
export function dataDirectory(config: Config): string {
  if (config.remote !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      'this command acts on the vault of this machine alone, and KEYHEARTH_URL, KEYHEARTH_ORGANIZATION, KEYHEARTH_SIGNER or KEYHEARTH_VAULT_FILE names another: unset them, or name the directory of the vault that you mean with --data-dir',
    );
  }
  if (config.dataDirectory === null) throw new Error('a vault in memory has no directory');
  return config.dataDirectory;
}
