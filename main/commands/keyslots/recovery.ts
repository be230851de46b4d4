/** `keyhearth recovery`: whether the recovery phrase is right, and sheets of it to be printed and kept. */
import { extname } from 'node:path';
import type { ProveWith, SheetRequest } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { writeSecretFiles } from '../shared/new-files.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { unlocked, withVault, type OpenedVault } from '../shared/opened-vault.ts';
import { readSecrets } from '../shared/proof.ts';
import { sheetPage } from './recovery-sheet.ts';
import { askForPassword, canAsk, joinShares, tryUntilRight } from '../shared/secrets.ts';
import { defined } from '../../lib/defined.ts';

export interface RecoveryOptions {
  readonly recoveryFile?: string;
  readonly shareFile: readonly string[];
  readonly json: boolean;
}

export interface SheetOptions extends RecoveryOptions {
  readonly output: string;
  /** `2-of-3`. */
  readonly shares?: string;
}

type Recovery = Extract<ProveWith, { readonly with: 'recovery' | 'shares' }>;

export async function checkRecovery(config: Config, options: RecoveryOptions): Promise<void> {
  await withVault(config, async (vault) => {
    const how = await checkedRecovery(vault, options);
    const what = how.with === 'shares' ? 'shares' : 'recovery phrase';
    print(
      options.json,
      { right: true },
      `Right: the ${what} ${how.with === 'shares' ? 'open' : 'opens'} this vault.`,
    );
  });
}

export async function writeSheet(config: Config, options: SheetOptions): Promise<void> {
  const shares = options.shares === undefined ? undefined : readCounts(options.shares);
  await withVault(config, async (vault) => {
    const how = await checkedRecovery(vault, options);
    const phrase = how.with === 'shares' ? await joinShares(how.shares) : how.phrase;
    const request: SheetRequest = { phrase, ...defined({ shares }) };
    const sheets = await vault.call('recoverySheet', request);
    const files = writeFiles(
      options.output,
      sheets.map((sheet) => sheetPage(sheet)),
    );
    print(
      options.json,
      { files },
      [
        ...files.map((file) => `Written: ${file}`),
        files.length === 1
          ? 'Print it, keep the paper, and delete the file.'
          : 'Print them, give each paper a place of its own, and delete the files.',
      ].join('\n'),
    );
  });
}

/**
 * If no process serves the vault, the checked secret unlocks it, so that the date of the check can be noted.
 */
async function check(vault: OpenedVault, how: Recovery): Promise<void> {
  const ask = (): Promise<unknown> => vault.call('checkRecovery', how);
  await (vault.isServed ? ask() : unlocked(vault, how, ask));
}

async function checkedRecovery(
  vault: OpenedVault,
  { recoveryFile, shareFile }: RecoveryOptions,
): Promise<Recovery> {
  const secrets = await readSecrets({ shareFile, ...defined({ recoveryFile }) });
  const given = secrets.find((secret): secret is Recovery => secret.with !== 'password');
  if (given === undefined && !canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      'expected the recovery phrase: give --recovery-file, or --share-file for each share',
    );
  }
  const askForIt = async (): Promise<Recovery> => ({
    with: 'recovery',
    phrase: await askForPassword('Recovery phrase'),
  });
  return tryUntilRight(given, askForIt, async (how) => {
    await check(vault, how);
    return how;
  });
}

function readCounts(text: string): { readonly threshold: number; readonly count: number } {
  const [, threshold, count] = /^([0-9]{1,2})-of-([0-9]{1,2})$/.exec(text) ?? [];
  if (threshold === undefined || count === undefined) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --shares ${JSON.stringify(text)}: expected how many are needed of how many, like 2-of-3`,
    );
  }
  return { threshold: Number(threshold), count: Number(count) };
}

/** Writes new files for their owner alone, each page to one of its own: all of them, or none. */
function writeFiles(output: string, pages: readonly string[]): readonly string[] {
  const extension = extname(output);
  const stem = output.slice(0, output.length - extension.length);
  const files =
    pages.length === 1 ? [output] : pages.map((_, index) => `${stem}-${String(index + 1)}${extension}`);
  writeSecretFiles(files.map((file, index) => ({ file, text: pages[index] ?? '' })));
  return files;
}
