/**
 * `keyhearth takeover`: imports the private key files of `~/.ssh`. A file is deleted only once a backup from after the
 * import restores with a secret of the owner's: the vault's own way into its backups would prove nothing for the day it is lost.
 */
import { rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { BackupSecret, ProveWith, VerifiedBackup } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { homeDirectory } from '../../app/home-directory.ts';
import { encodeSshKey, fingerprint } from '../../chains/ssh/wire.ts';
import { toHex } from '../../crypto/encodings.ts';
import { writeWholeFile } from '../../files/new-files.ts';
import { doorKinds } from '../../lib/policies/doors.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { changeKeyTagActivity, keyTag, keyTagList } from '../doors/key-tags.ts';
import { sealPrivateKey } from '../private-keys/import.ts';
import { agree, onTerminal } from '../requests/agree.ts';
import { readFileBytes } from '../shared/file-text.ts';
import { VaultApi } from '../shared/api.ts';
import { requireRunning, type Running } from '../shared/client.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { withSecret, type SecretOptions } from '../shared/proof.ts';
import { joinShares } from '../shared/secrets.ts';
import { table } from '../shared/table.ts';
import { dataDirectory } from '../vault/control.ts';
import { mostBytesOfKey, namedSource } from '../wallets/secret-sources.ts';
import { publicLine } from './agent-client.ts';
import { deleteKeyFile, findKeyFiles, type FoundKeyFile } from './find-key-files.ts';
import { openKeyFile } from './import-key.ts';

export interface TakeoverOptions extends SecretOptions {
  readonly directory?: string;
  readonly passphraseFile?: string;
  readonly passphraseFd?: string;
  readonly yes?: boolean;
  readonly delete?: boolean;
  readonly backup?: string;
  readonly apiKey: string;
  readonly json: boolean;
}

/** A key file whose key the vault has. */
interface Taken extends FoundKeyFile {
  readonly privateKeyId: string;
  readonly name: string;
  readonly fingerprint: string;
  /** False where the vault had the key before. */
  readonly isNew: boolean;
  /** Of a key that the vault had before. */
  readonly tagIds: readonly string[];
}

export async function takeOver(config: Config, options: TakeoverOptions): Promise<void> {
  const directory = resolve(options.directory ?? join(homeDirectory(), '.ssh'));
  const running = await requireRunning(dataDirectory(config));
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const found = findKeyFiles(directory);
  const usable = found.filter(({ problem }) => problem === undefined);
  note(found.length === 0 ? `${directory} has no private keys.` : shownFound(found));
  if (usable.length > 0 && options.yes !== true && onTerminal()) {
    await agree(`Import ${count(usable.length, 'key')} and offer them to programs of the door for SSH?`, {
      what: 'whether to import the keys',
      otherwise: '--yes',
      undone: 'nothing was imported',
    });
  }
  const taken: Taken[] = [];
  const problems = new Map(
    found.flatMap(({ file, problem }) => (problem === undefined ? [] : [[file, problem]])),
  );
  for (const each of usable) {
    try {
      taken.push(await take(api, each, options));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems.set(each.file, error.message);
      note(`Not imported: ${error.message}`);
      process.exitCode = exitCodes.failed;
    }
  }
  await offer(api, taken);
  await noteNotOffered(api, taken);
  const removal = await remove(running, taken, options);
  const keys = found.map(({ file }) => {
    const own = taken.find((each) => each.file === file);
    return own === undefined
      ? { file, problem: problems.get(file) }
      : {
          file,
          privateKeyId: own.privateKeyId,
          privateKeyName: own.name,
          fingerprint: own.fingerprint,
          imported: own.isNew,
          deleted: removal.deleted.includes(file),
        };
  });
  print(options.json, { directory, keys, backup: removal.backup }, [
    ...taken.map(
      ({ file, name, isNew }) => `${isNew ? 'Imported' : 'In the vault already:'} ${name}, from ${file}`,
    ),
    ...removal.deleted.map((file) => `Deleted ${file}. Its public key stays in ${file}.pub`),
    ...(taken.length > removal.deleted.length
      ? ['The key files are still there. To delete them after a tested backup: keyhearth takeover --delete']
      : []),
    ...(taken.length > 0 ? ['To use the keys: keyhearth doors add NAME, then keyhearth ssh setup'] : []),
  ]);
}

const count = (number: number, what: string): string => `${String(number)} ${what}${number === 1 ? '' : 's'}`;

const shownFound = (found: readonly FoundKeyFile[]): string =>
  table(
    ['File', 'Status'],
    found.map(({ file, needsPassphrase, problem }) => [
      file,
      problem ?? (needsPassphrase ? 'Can be imported with its passphrase' : 'Can be imported'),
    ]),
  ).render(false);

/** Imports a key, unless the vault has it. */
async function take(api: VaultApi, found: FoundKeyFile, options: TakeoverOptions): Promise<Taken> {
  const { file } = found;
  const bytes = readFileBytes(file, file, mostBytesOfKey);
  const passphrase = namedSource('--passphrase', options.passphraseFile, options.passphraseFd);
  const key = await openKeyFile(bytes, file, passphrase).finally(() => bytes.fill(0));
  const blob = encodeSshKey(key);
  try {
    keepPublicHalf(`${file}.pub`, publicLine({ blob, comment: key.comment }));
  } catch (error) {
    key.secret.fill(0);
    throw error;
  }
  const all = await listings.privateKey.all(api);
  const known = all.find(({ publicKey }) => publicKey.toLowerCase() === toHex(key.publicKey));
  const common = { ...found, fingerprint: fingerprint(blob) };
  if (known !== undefined) {
    key.secret.fill(0);
    return {
      ...common,
      privateKeyId: known.privateKeyId,
      name: known.privateKeyName,
      isNew: false,
      tagIds: known.privateKeyTags,
    };
  }
  const name = freeName(
    basename(file),
    all.map(({ privateKeyName }) => privateKeyName),
  );
  const wanted = { privateKeyName: name, curve: key.curve, addressFormats: [] };
  const { privateKeyId } = await sealPrivateKey(api, key.secret, wanted);
  return { ...common, privateKeyId, name, isNew: true, tagIds: [] };
}

/**
 * SSH chooses a key by its public half, which stays when the private one goes. An empty file is none: a run of an earlier version
 * that was killed left it.
 * @throws CommandError
 */
function keepPublicHalf(file: string, line: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !(found.isFile() && found.size === 0)) return;
  try {
    if (found !== undefined) rmSync(file);
    writeWholeFile(file, `${line}\n`);
  } catch (error) {
    throw new CommandError(exitCodes.failed, `${file} cannot be written: ${reasonOf(error)}`);
  }
}

function freeName(wanted: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted} ${String(number)}`;
    if (!taken.includes(name)) return name;
  }
}

/** Gives the keys the tag by which programs of the door are offered them. */
async function offer(api: VaultApi, taken: readonly Taken[]): Promise<void> {
  const privateKeyIds = taken.filter(({ isNew }) => isNew).map(({ privateKeyId }) => privateKeyId);
  if (privateKeyIds.length === 0) return;
  const privateKeyTagId = await keyTag(api, doorKinds.ssh.keyTag ?? '');
  await api.submit(changeKeyTagActivity, {
    privateKeyTagId,
    addPrivateKeyIds: privateKeyIds,
    removePrivateKeyIds: [],
  });
}

/**
 * A run that was killed may have imported a key without its tag, and a person may have taken the tag away: this command does not
 * know which, and says how to offer the key.
 */
async function noteNotOffered(api: VaultApi, taken: readonly Taken[]): Promise<void> {
  const before = taken.filter(({ isNew }) => !isNew);
  if (before.length === 0) return;
  const { privateKeyTags } = await api.query('list_private_key_tags', keyTagList, {});
  const tagId = privateKeyTags.find(({ tagName }) => tagName === doorKinds.ssh.keyTag)?.tagId ?? '';
  for (const { name, privateKeyId, tagIds } of before) {
    if (tagIds.includes(tagId)) continue;
    note(
      `Not offered to programs of the door for SSH: ${name}. To offer it: \`keyhearth ssh keys --add ${privateKeyId}\``,
    );
  }
}

interface Removal {
  readonly backup: string | null;
  readonly deleted: readonly string[];
}

/** Offers to delete the files, once a backup has proven to restore their keys. A script deletes with `--delete` alone. */
async function remove(running: Running, taken: readonly Taken[], options: TakeoverOptions): Promise<Removal> {
  if (taken.length === 0 || (options.delete !== true && (options.yes === true || !onTerminal()))) {
    return { backup: null, deleted: [] };
  }
  if (options.delete !== true) {
    const message = `Create and test a backup now, to delete ${count(taken.length, 'key file')}?`;
    await agree(message, {
      what: 'whether to delete the files',
      otherwise: '--delete',
      undone: 'the keys are in the vault, and the files stay',
    });
  }
  const file = await provenBackup(running, options);
  if (options.delete !== true) {
    note(taken.map((each) => each.file).join('\n'));
    await agree(`The backup ${file} restores these keys. Delete the files?`, {
      what: 'whether to delete the files',
      otherwise: '--delete',
      undone: 'the keys are in the vault, and the files stay',
    });
  }
  const deleted: string[] = [];
  for (const each of taken) {
    const problem = deleteKeyFile(each);
    if (problem === undefined) deleted.push(each.file);
    else {
      note(`Not deleted: ${each.file}: ${problem}`);
      process.exitCode = exitCodes.failed;
    }
  }
  return { backup: file, deleted };
}

/** @returns the file of a new backup, which restores with a secret of the owner's. @throws CommandError otherwise. */
async function provenBackup(running: Running, options: TakeoverOptions): Promise<string> {
  const wish = options.backup === undefined ? {} : { file: resolve(options.backup) };
  const { file } = await running.call('backUp', wish);
  const verified = await withSecret(options, await running.status(), async (secret) =>
    running.call('verifyBackup', { file, secret: await asBackupSecret(secret) }),
  );
  const problem = problemOf(verified);
  if (problem === undefined) return file;
  throw new CommandError(exitCodes.failed, `no key file was deleted: the backup ${file} ${problem}`);
}

const asBackupSecret = async (secret: ProveWith): Promise<BackupSecret> =>
  secret.with === 'shares' ? { with: 'recovery', phrase: await joinShares(secret.shares) } : secret;

function problemOf({ openedWith, problemCount, problems, uncovered }: VerifiedBackup): string | undefined {
  if (problemCount > 0) return `does not restore: ${problems.join('; ')}`;
  if (openedWith === 'vault') return 'was opened by the vault alone, with no secret of yours';
  if (uncovered === null) return 'is not of this vault';
  const lacks = uncovered.resources.map(({ kind }) => kind);
  return lacks.length > 0 ? `lacks changes made since: ${lacks.join(', ')}` : undefined;
}
