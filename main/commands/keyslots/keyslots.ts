/** `keyhearth keyslots`: what opens the vault, and how that is changed. */
import type {
  Keyslot,
  KeyslotChange,
  Keyslots,
  ProveWith,
  WordsOfPhrase,
} from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { confirmPhrase } from './confirm-phrase.ts';
import { findNamed } from '../shared/named.ts';
import { writeSecretFiles } from '../shared/new-files.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { startProgress } from '../shared/progress.ts';
import { didYouMean } from '../shared/suggestions.ts';
import { table, type Table } from '../shared/table.ts';
import { unlocked, withVault, type OpenedVault } from '../shared/opened-vault.ts';
import { readSecrets, withSecret, type SecretOptions } from '../shared/proof.ts';
import { askForNewPassword, askForPassword, canAsk, readPassword, tryUntilRight } from '../shared/secrets.ts';
import { defined } from '../../lib/defined.ts';

export interface ChangeOptions extends SecretOptions {
  readonly newPasswordFile?: string;
  readonly newPasswordFd?: string;
  /** The new file that takes a new recovery phrase. */
  readonly output?: string;
  readonly json: boolean;
}

export interface RotateOptions extends SecretOptions {
  readonly dropOthers?: boolean;
  readonly json: boolean;
}

type WithoutSecret<Change> = Change extends unknown ? Omit<Change, 'proof'> : never;

export async function listKeyslots(config: Config, json: boolean): Promise<void> {
  const keyslots = await withVault(config, (vault) => vault.call('keyslots'));
  print(json, keyslots, describe(keyslots));
}

export async function addKeyslot(config: Config, kind: string, options: ChangeOptions): Promise<void> {
  checkOutput(kind, options);
  await withVault(config, async (vault) => {
    switch (kind) {
      case 'keychain':
        return run(vault, options, { do: 'addKeychain' });
      case 'password':
        return run(vault, options, { do: 'addPassword', password: await newPassword(options) });
      case 'recovery':
        return runWithPhrase(vault, options, (words) => ({ do: 'addRecovery', ...words }));
      default:
        throw new CommandError(
          exitCodes.usage,
          `invalid kind ${JSON.stringify(kind)}: expected password, keychain or recovery${didYouMean(kind, ['password', 'keychain', 'recovery'])}`,
        );
    }
  });
}

export async function changeKeyslot(config: Config, wanted: string, options: ChangeOptions): Promise<void> {
  await withVault(config, async (vault) => {
    const { id: keyslotId, kind } = findKeyslot(await vault.call('keyslots'), wanted);
    checkOutput(kind, options);
    switch (kind) {
      case 'password':
        return run(vault, options, {
          do: 'changePassword',
          keyslotId,
          password: await newPassword(options),
        });
      case 'recovery':
        return runWithPhrase(vault, options, (words) => ({
          do: 'changeRecovery',
          keyslotId,
          ...words,
        }));
      case 'keychain':
        throw new CommandError(
          exitCodes.failed,
          'a keychain keyslot has no secret to change: `keyhearth keyslots rotate` gives it a new key',
        );
    }
  });
}

export async function removeKeyslot(config: Config, wanted: string, options: ChangeOptions): Promise<void> {
  await withVault(config, async (vault) => {
    const { id: keyslotId } = findKeyslot(await vault.call('keyslots'), wanted);
    await run(vault, options, { do: 'remove', keyslotId });
  });
}

export async function rotate(config: Config, options: RotateOptions): Promise<void> {
  await withVault(config, async (vault) => {
    const { keyslots } = await vault.call('keyslots');
    const offered = await readSecrets(options);
    const given = offered.length > 0 ? offered : undefined;
    const after = await tryUntilRight(
      given,
      () => askForEach(keyslots),
      ([proof, ...secrets]) => {
        if (proof === undefined) {
          throw new CommandError(
            exitCodes.usage,
            'expected the secrets of the keyslots that stay: give --password-file, --password-fd, --recovery-file or --share-file',
          );
        }
        const dropOthers = options.dropOthers === true;
        const change: KeyslotChange = { do: 'rotate', proof, secrets, dropOthers };
        return unlocked(vault, proof, async () => {
          using _ = startProgress('Replacing the master key', options.json);
          return await changed(vault, change);
        });
      },
    );
    print(options.json, after, [
      'Replaced the master key. Older copies and backups still open with their old secrets.',
      ...describe(after),
    ]);
  });
}

async function run(
  vault: OpenedVault,
  options: ChangeOptions,
  change: WithoutSecret<KeyslotChange>,
): Promise<void> {
  const after = await withSecret(options, vault.status, (proof) =>
    unlocked(vault, proof, () => changed(vault, { ...change, proof })),
  );
  print(options.json, after, describe(after));
}

/**
 * Keeps a new phrase before the vault takes it: in a file, or by a person who types some of its words. A process that dies
 * between the two leaves the old words in force.
 */
async function runWithPhrase(
  vault: OpenedVault,
  options: ChangeOptions,
  change: (words: WordsOfPhrase) => WithoutSecret<KeyslotChange>,
): Promise<void> {
  // The words are generated once the secret has proved right, so that the owner never writes down unused
  // words.
  await withSecret(options, vault.status, (proof) =>
    unlocked(vault, proof, () => giveWords(vault, options, change, proof)),
  );
}

async function giveWords(
  vault: OpenedVault,
  { output, json }: Pick<ChangeOptions, 'output' | 'json'>,
  change: (words: WordsOfPhrase) => WithoutSecret<KeyslotChange>,
  proof: ProveWith,
): Promise<void> {
  const { phrase } = await vault.call('newRecoveryPhrase');
  const words = phrase.split(' ').map((word, index) => ({ position: index + 1, word }));
  if (output === undefined) {
    const asked = await confirmPhrase(phrase, 'nothing was changed');
    const confirmedWords = words.filter(({ position }) => asked.includes(position));
    const after = await changed(vault, { ...change({ confirmedWords }), proof });
    print(json, after, describe(after));
    return;
  }
  writeSecretFiles([{ file: output, text: `${phrase}\n` }]);
  const after = await changed(vault, { ...change({ keptWords: words }), proof }).catch((error: unknown) => {
    // The vault may have changed although its answer did not come: the file stays.
    note(
      `${output} has the new words. To see whether they open the vault, run \`keyhearth recovery check --recovery-file ${output}\`.`,
    );
    throw error;
  });
  print(json, { ...after, recoveryFile: output }, [
    `The new recovery phrase is in ${output}. Write it down, check it with \`keyhearth recovery check\`, then delete the file.`,
    ...describe(after),
  ]);
}

/** @throws CommandError for a phrase that would not be shown, and for a file that would hold none. */
function checkOutput(kind: string, { output, json }: ChangeOptions): void {
  if (kind !== 'recovery' && output !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      '--output is for a recovery phrase: give it with that kind of keyslot alone',
    );
  }
  if (kind !== 'recovery' || output !== undefined || (canAsk() && !json)) return;
  throw new CommandError(
    exitCodes.usage,
    'nothing was changed: without a terminal the new words need a file. To write them to a new file of your own, give --output FILE',
  );
}

const changed = (vault: OpenedVault, change: KeyslotChange): Promise<Keyslots> =>
  vault.call('changeKeyslots', change);

async function newPassword({ newPasswordFile, newPasswordFd }: ChangeOptions): Promise<string> {
  const given = readPassword(
    {
      ...defined({ passwordFile: newPasswordFile, passwordFd: newPasswordFd }),
    },
    undefined,
  );
  if (given !== undefined) return given;
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      'expected a new password: give --new-password-file or --new-password-fd',
    );
  }
  return askForNewPassword();
}

/** Asks for the secret of every keyslot that has one; what is left empty is not given. */
async function askForEach(keyslots: readonly Keyslot[]): Promise<ProveWith[]> {
  if (!canAsk()) return [];
  const secrets: ProveWith[] = [];
  for (const { kind, createdAt } of keyslots) {
    if (kind === 'keychain') continue;
    const secret = await askForPassword(
      `${kind === 'password' ? 'Password' : 'Recovery phrase'} of ${dateOf(createdAt)} (leave empty to skip)`,
    );
    if (secret === '') continue;
    secrets.push(kind === 'password' ? { with: kind, password: secret } : { with: kind, phrase: secret });
  }
  return secrets;
}

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const describe = ({ vaultId, keyslots }: Keyslots): readonly (string | Table)[] => [
  `Keyslots of vault ${vaultId}:`,
  table(
    ['ID', 'Kind', 'Created', 'Checked'],
    keyslots.map(({ id, kind, createdAt, confirmedAt }) => [
      id,
      kind,
      dateOf(createdAt),
      kind !== 'recovery'
        ? ''
        : confirmedAt === null
          ? { text: 'never', tone: 'notable' }
          : dateOf(confirmedAt),
    ]),
  ),
];

/** @param wanted A keyslot's id, how it begins, or its kind where there is one of that kind. */
const findKeyslot = ({ keyslots }: Keyslots, wanted: string): Keyslot =>
  findNamed('keyslot', wanted, keyslots, ({ id, kind }) => ({ id, name: kind }));
