/** `latchkey keyslots`: what opens the vault, and how that is changed. */
import type { Keyslot, KeyslotChange, Keyslots, ProveWith } from '../../preload/contract.ts';
import type { Config } from '../config.ts';
import { confirmPhrase } from './init.ts';
import { CommandError, exitCodes, print } from './output.ts';
import { unlocked, withVault, type OpenedVault } from './opened-vault.ts';
import { readProofs, requireProof, type ProofOptions } from './proof.ts';
import { askForPassword, canAsk, readPassword } from './secrets.ts';

export interface ChangeOptions extends ProofOptions {
  readonly newPasswordFile?: string;
  readonly newPasswordFd?: string;
  readonly json: boolean;
}

export interface RotateOptions extends ProofOptions {
  readonly dropOthers: boolean;
  readonly json: boolean;
}

type WithoutProof<Change> = Change extends unknown ? Omit<Change, 'proof'> : never;

export async function listKeyslots(config: Config, json: boolean): Promise<void> {
  const keyslots = await withVault(config, (vault) => vault.call('keyslots'));
  print(json, keyslots, describe(keyslots));
}

export async function addKeyslot(config: Config, kind: string, options: ChangeOptions): Promise<void> {
  await withVault(config, async (vault) => {
    switch (kind) {
      case 'keychain':
        return run(vault, options, { do: 'addKeychain' });
      case 'password':
        return run(vault, options, { do: 'addPassword', password: await newPassword(options) });
      case 'recovery':
        return runWithPhrase(vault, options, (confirmed) => ({ do: 'addRecovery', ...confirmed }));
      default:
        throw new CommandError(
          exitCodes.usage,
          `invalid kind ${JSON.stringify(kind)}: expected password, keychain or recovery`,
        );
    }
  });
}

export async function changeKeyslot(config: Config, wanted: string, options: ChangeOptions): Promise<void> {
  await withVault(config, async (vault) => {
    const { id: keyslotId, kind } = findKeyslot(await vault.call('keyslots'), wanted);
    switch (kind) {
      case 'password':
        return run(vault, options, {
          do: 'changePassword',
          keyslotId,
          password: await newPassword(options),
        });
      case 'recovery':
        return runWithPhrase(vault, options, (confirmed) => ({
          do: 'changeRecovery',
          keyslotId,
          ...confirmed,
        }));
      case 'keychain':
        throw new CommandError(
          exitCodes.failed,
          'the keychain’s keyslot has nothing to be changed: `latchkey keyslots rotate` gives it another key',
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
    const offered = readProofs(options);
    const [proof, ...secrets] = offered.length > 0 ? offered : await askForEach(keyslots);
    if (proof === undefined) {
      throw new CommandError(
        exitCodes.usage,
        'expected the secrets of the keyslots that are to stay: give --password-file, --password-fd, --recovery-file or --share-file',
      );
    }
    const change: KeyslotChange = { do: 'rotate', proof, secrets, dropOthers: options.dropOthers };
    const after = await unlocked(vault, proof, () => changed(vault, change));
    print(
      options.json,
      after,
      `The vault has a new master key. Older copies and backups of it open with what opened them then.\n${describe(after)}`,
    );
  });
}

async function run(
  vault: OpenedVault,
  options: ChangeOptions,
  change: WithoutProof<KeyslotChange>,
): Promise<void> {
  const proof = await requireProof(options, vault.status);
  const after = await unlocked(vault, proof, () => changed(vault, { ...change, proof }));
  print(options.json, after, describe(after));
}

type Confirmed = Pick<Extract<KeyslotChange, { do: 'addRecovery' }>, 'confirmedWords'>;

/** Draws a phrase, and shows it: to a person who then types some of it, or else in the result. */
async function runWithPhrase(
  vault: OpenedVault,
  options: ChangeOptions,
  change: (confirmed: Confirmed) => WithoutProof<KeyslotChange>,
): Promise<void> {
  const proof = await requireProof(options, vault.status);
  await unlocked(vault, proof, async () => {
    const { phrase } = await vault.call('newRecoveryPhrase');
    const words = phrase.split(' ');
    const asked = options.json || !canAsk() ? [] : await confirmPhrase(phrase, 'nothing was changed');
    const confirmedWords = asked.map((position) => ({ position, word: words[position - 1] ?? '' }));
    const after = await changed(vault, { ...change(asked.length === 0 ? {} : { confirmedWords }), proof });
    print(
      options.json,
      { ...after, recoveryPhrase: phrase },
      [
        ...(asked.length > 0
          ? []
          : ['Recovery phrase (write it down; it is not shown again):', '', phrase, '']),
        describe(after),
      ].join('\n'),
    );
  });
}

const changed = (vault: OpenedVault, change: KeyslotChange): Promise<Keyslots> =>
  vault.call('changeKeyslots', change);

async function newPassword({ newPasswordFile, newPasswordFd }: ChangeOptions): Promise<string> {
  const given = readPassword(
    {
      ...(newPasswordFile === undefined ? {} : { passwordFile: newPasswordFile }),
      ...(newPasswordFd === undefined ? {} : { passwordFd: newPasswordFd }),
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
  const typed = await askForPassword('New password for the vault');
  if (typed === (await askForPassword('The same password again'))) return typed;
  throw new CommandError(exitCodes.failed, 'the two passwords differ: nothing was changed');
}

/** Asks for the secret of every keyslot that has one; what is left empty is not given. */
async function askForEach(keyslots: readonly Keyslot[]): Promise<ProveWith[]> {
  if (!canAsk()) return [];
  const proofs: ProveWith[] = [];
  for (const { kind, createdAt } of keyslots) {
    if (kind === 'keychain') continue;
    const secret = await askForPassword(
      `${kind === 'password' ? 'Password' : 'Recovery phrase'} made on ${dateOf(createdAt)} (empty: not now)`,
    );
    if (secret === '') continue;
    proofs.push(kind === 'password' ? { with: kind, password: secret } : { with: kind, phrase: secret });
  }
  return proofs;
}

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const describe = ({ vaultId, keyslots }: Keyslots): string =>
  [
    `Vault ${vaultId} opens with:`,
    ...keyslots.map(
      ({ id, kind, createdAt, confirmedAt }) =>
        `  ${kind.padEnd(8)}  ${id}  made on ${dateOf(createdAt)}${
          kind === 'recovery'
            ? confirmedAt === null
              ? ', never checked'
              : `, checked on ${dateOf(confirmedAt)}`
            : ''
        }`,
    ),
  ].join('\n');

/** @param wanted A keyslot's id, or its kind where there is one of that kind. */
function findKeyslot({ keyslots }: Keyslots, wanted: string): Keyslots['keyslots'][number] {
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
