/** `keyhearth status`, `lock`, `unlock` and `open`: rpc calls to the process that holds the vault. */
import type { UnlockWith, VaultStatus } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { describeLastSignature } from '../../app/freeze-signal.ts';
import { describeFinding } from '../../storage/integrity/refusal.ts';
import { checkNotHeld, findRunning, noVault, requireRunning } from '../shared/client.ts';
import { CommandError, exitCodes, print, type Shown } from '../shared/output.ts';
import { fields, type Cell } from '../shared/table.ts';
import { readSecrets, secretFlags, unlockMethods, type SecretOptions } from '../shared/proof.ts';
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
      ? `Not running. Start the vault in ${directory} with: keyhearth serve`
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
  print(json, { state }, 'The vault is locked, and its keys are erased from memory.');
}

export interface UnlockOptions extends SecretOptions {
  readonly keychain?: boolean;
  readonly json: boolean;
}

export async function unlock(config: Config, { json, ...options }: UnlockOptions): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const { keyslots, frozen } = await running.status();
  const given = await chooseGiven(options, { keyslots, frozen });
  if (given === undefined && !(keyslots.includes('password') && canAsk())) {
    const ways = frozen === null ? keyslots : keyslots.filter((kind) => kind !== 'keychain');
    throw new CommandError(
      exitCodes.usage,
      `missing secret: the vault ${frozen === null ? 'unlocks' : 'is frozen, and unlocks'} with ${unlockMethods(ways)}. Give ${secretFlags}${ways.includes('keychain') ? ', or --keychain' : ''}`,
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

/** How a link to the window is shown. */
export const windowText = (link: string): string => `Window (the link works once, for ten minutes): ${link}`;

export async function openWindow(config: Config, json: boolean, browser: boolean): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  const link = await running.newLink();
  print(json, { windowUrl: link }, windowText(link));
  if (browser) openPage(await running.newPage());
}

/** @returns undefined where the password is to be asked for. */
async function chooseGiven(
  options: Omit<UnlockOptions, 'json'>,
  { keyslots, frozen }: Pick<VaultStatus, 'keyslots' | 'frozen'>,
): Promise<UnlockWith | undefined> {
  const [proof] = await readSecrets(options);
  if (proof !== undefined) return proof;
  if (
    options.keychain === true ||
    (frozen === null && keyslots.includes('keychain') && !keyslots.includes('password'))
  )
    return { with: 'keychain' };
  return undefined;
}

function describe(found: VaultStatus): Shown {
  const { unlocking, frozen, tampering, longestTurn } = found;
  return [
    fields([
      ['State', stateCell(found)],
      ['URL', found.url],
      ['Organization', found.organization ? `${found.organization.name} (${found.organization.id})` : ''],
      ['Owner', found.owner ? `${found.owner.userName} (${found.owner.userId})` : ''],
      ['Unlocks with', unlockMethods(found.keyslots)],
      ['Keychain', found.keychain.available ? 'available' : found.keychain.reason],
      [
        'Longest turn',
        longestTurn
          ? `${longestTurn.ms.toFixed(0)} ms, ${longestTurn.name}, at ${new Date(longestTurn.at).toISOString()}`
          : '',
      ],
      ['Signer key', found.serverKeys?.signer ?? ''],
    ]),
    ...(unlocking
      ? [`Unlocking: ${String(Math.floor((100 * unlocking.checked) / unlocking.total))} % checked.`]
      : []),
    ...(frozen
      ? [
          `Frozen since ${new Date(frozen.at).toISOString()}. Unlock with the password or the recovery phrase.`,
          describeLastSignature(frozen),
          ...(frozen.unsaved === null
            ? []
            : [`The freeze is in memory only, and a restart would lose it: ${frozen.unsaved}`]),
        ]
      : []),
    ...(tampering
      ? [
          'The vault’s file was changed outside Keyhearth. Run `keyhearth doctor` for details.',
          ...tampering.findings.map((finding) => `  ${describeFinding(finding)}`),
        ]
      : []),
    ...(found.storage ? [found.storage.problem] : []),
    ...(found.wordsNotShown ? [wordsNotShown] : []),
  ];
}

function stateCell({ state, frozen }: VaultStatus): Cell {
  if (frozen) return { text: 'frozen', tone: 'bad' };
  if (state === 'none') return { text: 'no vault yet', tone: 'notable' };
  return { text: state, tone: state === 'unlocked' ? 'good' : 'notable' };
}

/** The state after `init` ended before it showed the words of the recovery phrase, and the next step. */
export const wordsNotShown =
  'The recovery phrase was never shown, because `keyhearth init` was interrupted. Generate a new one with: keyhearth keyslots change recovery';

/** Every command but `dev` has a directory. */
export function dataDirectory(config: Config): string {
  if (config.remote !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      'this command works on the vault of this computer only, and KEYHEARTH_URL, KEYHEARTH_ORGANIZATION, KEYHEARTH_SIGNER or KEYHEARTH_VAULT_FILE names another: unset them, or give --data-dir',
    );
  }
  if (config.dataDirectory === null) throw new Error('a vault in memory has no directory');
  return config.dataDirectory;
}
