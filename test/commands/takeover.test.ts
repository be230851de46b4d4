/**
 * `keyhearth takeover` on a directory of key files of OpenSSH. The class: a file is deleted only when its very bytes are a key of
 * the vault, and a backup restores that key with a secret of the owner's. All else in the directory stays as it is.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FaultyDisk } from '../campaigns/faulty-disk.ts';
import { resultOf, runCommand, startTestVault, type Json, type TestVault } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

const password = 'correct horse battery staple';
const passphrase = 'tick tock';

let service: TestVault;
let home = '';
const inSsh = (name: string): string => join(home, '.ssh', name);
const inHome = (name: string): string => join(home, name);

const keygen = (...argv: readonly string[]) =>
  execFileSync('ssh-keygen', ['-q', '-a', '2', ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });

beforeAll(async () => {
  service = await startTestVault({ password });
  home = join(dirname(service.directory), 'home');
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, 'owner.public'), service.key.publicKey);
  writeFileSync(join(keysDirectory, 'owner.private'), service.key.privateKey, { mode: 0o600 });
});
afterAll(() => service[Symbol.asyncDispose]());

let keys = 0;
/** A new key file. @returns its path. */
function newKey(name: string, phrase = '', type = 'ed25519'): string {
  keys += 1;
  keygen('-t', type, '-N', phrase, '-C', `key ${String(keys)}`, '-f', inSsh(name));
  return inSsh(name);
}

beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  // Not the vault's own files: the search for secrets after the tests would find the password there.
  writeFileSync(inHome('passphrase'), passphrase);
});

const environment = () => ({
  HOME: home,
  KEYHEARTH_DATA_DIR: service.directory,
  KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
});

interface Outcome {
  readonly code: number | string;
  readonly err: string;
  readonly keys: readonly Json[];
  readonly backup: string | null;
}

let backups = 0;
async function takeover(...argv: readonly string[]): Promise<Outcome> {
  backups += 1;
  const own = ['takeover', '--json', '--backup', inHome(`backup-${String(backups)}`)];
  const ran = await runCommand(
    [...own, '--passphrase-file', inHome('passphrase'), ...argv, '--password-fd', '3'],
    {
      environment: environment(),
      descriptor3: password,
    },
  );
  const shown = (ran.stdout === '' ? {} : JSON.parse(ran.stdout)) as Partial<Outcome>;
  return { code: ran.code, err: ran.stderr, keys: shown.keys ?? [], backup: shown.backup ?? null };
}

const tagged = async (): Promise<readonly string[]> => {
  const { body = {} } = await service.root.query('list_private_keys', {});
  return (body['privateKeys'] as { privateKeyName: string; privateKeyTags: string[] }[])
    .filter(({ privateKeyTags }) => privateKeyTags.length > 0)
    .map(({ privateKeyName }) => privateKeyName);
};

describe('a script', () => {
  test('imports what the vault can hold, names the rest, and deletes nothing', async () => {
    const [plain, secret, rsa] = [
      newKey('plain'),
      newKey('secret', passphrase, 'ecdsa'),
      newKey('id_rsa', '', 'rsa'),
    ];
    writeFileSync(inSsh('known_hosts'), 'example.com ssh-ed25519 AAAA\n');
    writeFileSync(inSsh('damaged'), readFileSync(plain, 'utf8').slice(0, 200));
    symlinkSync(plain, inSsh('id_link'));
    execFileSync('mkfifo', [inSsh('id_pipe')]);
    rmSync(`${plain}.pub`);
    const before = readdirSync(inSsh(''));
    const { code, err, keys: found, backup } = await takeover('--yes');
    expect(code, err).toBe(0);
    expect(found).toEqual([
      { file: inSsh('damaged'), problem: expect.stringContaining('damaged') as string },
      { file: inSsh('id_link'), problem: expect.stringContaining('link') as string },
      { file: rsa, problem: expect.stringContaining('RSA') as string },
      expect.objectContaining({ file: plain, privateKeyName: 'plain', imported: true, deleted: false }),
      expect.objectContaining({ file: secret, privateKeyName: 'secret', imported: true, deleted: false }),
    ]);
    expect(backup).toBeNull();
    expect(await tagged()).toEqual(expect.arrayContaining(['plain', 'secret']));
    // The public half, by which SSH chooses the key, was missing.
    expect(readdirSync(inSsh(''))).toEqual([...before, 'plain.pub'].toSorted());
    const shown = execFileSync('ssh-keygen', ['-l', '-f', `${plain}.pub`]).toString();
    expect(shown).toContain(String(found[3]?.['fingerprint']));
  });

  test('deletes after a tested backup, and what another run imported too', async () => {
    const file = newKey('again');
    await takeover('--yes');
    const { code, err, keys: found, backup } = await takeover('--delete');
    expect(code, err).toBe(0);
    expect(found).toEqual([expect.objectContaining({ file, imported: false, deleted: true })]);
    expect([existsSync(file), existsSync(`${file}.pub`)]).toEqual([false, true]);
    expect(existsSync(backup ?? '')).toBe(true);
  });

  test('a file whose public half is missing keeps it, also where another run imported the key', async () => {
    const file = newKey('halved');
    await takeover('--yes');
    rmSync(`${file}.pub`);
    const { code, err } = await takeover('--delete');
    expect(code, err).toBe(0);
    expect(readdirSync(inSsh(''))).toEqual(['halved.pub']);
  });

  test('a file whose public half cannot be written is not imported, and the others are', async () => {
    const [file, other] = [newKey('blocked'), newKey('free')];
    rmSync(`${file}.pub`);
    symlinkSync(inHome('nowhere'), `${file}.pub`);
    const { code, err, keys: found } = await takeover('--delete');
    expect(code).toBe(1);
    expect(err).toContain(`${file}.pub cannot be written`);
    expect(found).toEqual([
      { file, problem: expect.stringContaining(`${file}.pub`) as string },
      expect.objectContaining({ file: other, imported: true, deleted: true }),
    ]);
    expect(existsSync(file)).toBe(true);
    expect(await tagged()).toContain('free');
  });

  test('a public half has its name once it is whole, and one that a killed run left empty is written', async () => {
    const [file, other] = [newKey('whole'), newKey('emptied')];
    rmSync(`${file}.pub`);
    writeFileSync(`${other}.pub`, '');
    const disk = new FaultyDisk(dirname(service.directory), inSsh(''));
    const ran = await runCommand(['takeover', '--json', '--yes'], {
      environment: { ...environment(), ...disk.environment },
    });
    expect(ran.code, ran.stderr).toBe(0);
    const written = disk.operations().filter(({ call }) => call === 'write');
    expect(written).toHaveLength(2);
    expect(written.filter(({ path }) => path.endsWith('.pub'))).toEqual([]);
    for (const each of [file, other]) {
      expect(execFileSync('ssh-keygen', ['-l', '-f', `${each}.pub`]).toString()).toContain('ED25519');
    }
  });

  test('a key of a run that was killed before it was offered is named', async () => {
    newKey('unoffered');
    const first = await takeover('--yes');
    expect(first.err).not.toContain('Not offered');
    const { body = {} } = await service.root.query('list_private_key_tags', {});
    const { tagId } = (body['privateKeyTags'] as { tagId: string; tagName: string }[]).find(
      ({ tagName }) => tagName === 'ssh',
    ) ?? { tagId: '' };
    const privateKeyId = String(first.keys[0]?.['privateKeyId']);
    const taken = { privateKeyTagId: tagId, addPrivateKeyIds: [], removePrivateKeyIds: [privateKeyId] };
    resultOf(await service.root.submit('update_private_key_tag', 'UPDATE_PRIVATE_KEY_TAG', taken));
    const { code, err, keys: found } = await takeover('--yes');
    expect(code, err).toBe(0);
    expect(found).toEqual([expect.objectContaining({ privateKeyId, imported: false })]);
    expect(err).toContain('Not offered to programs of the door for SSH: unoffered');
    expect(err).toContain(`ssh keys --add ${privateKeyId}`);
    expect(await tagged()).not.toContain('unoffered');
  });

  test('a wrong secret, a wrong passphrase or no backup deletes nothing', async () => {
    const file = newKey('kept');
    expect((await takeover('--delete', '--backup', '/dev/null/none')).code).not.toBe(0);
    const ran = await runCommand(
      ['takeover', '--delete', '--json', '--backup', inHome('b'), '--password-fd', '3'],
      {
        environment: environment(),
        descriptor3: 'not the password',
      },
    );
    expect(ran.code).not.toBe(0);
    expect(existsSync(file)).toBe(true);
    keygen('-p', '-P', '', '-N', 'another one', '-f', file);
    const { code, keys: found } = await takeover('--delete');
    expect(code).toBe(1);
    expect(found).toEqual([{ file, problem: expect.stringContaining('passphrase is wrong') as string }]);
    expect(existsSync(file)).toBe(true);
  });

  test('a file that has another name on the disk stays, with its content', async () => {
    const file = newKey('linked');
    const content = readFileSync(file, 'utf8');
    linkSync(file, inHome('other-name'));
    const { code, err, keys: found } = await takeover('--delete');
    expect(code).toBe(1);
    expect(err).toContain('it has 2 names on the disk');
    expect(found).toEqual([expect.objectContaining({ file, deleted: false })]);
    expect(readFileSync(inHome('other-name'), 'utf8')).toBe(content);
  });
});

test('a person is asked before the import, and again with the tested backup before the files go', async () => {
  const file = newKey('asked', passphrase);
  await using terminal = new Terminal(`takeover --backup ${inHome('asked-backup')}`, environment());
  await terminal.type('y', 'Import 1 key');
  await terminal.type(`${passphrase}\r`, 'passphrase of');
  await terminal.type('y', 'Create and test a backup now');
  await terminal.type(`${password}\r`, 'Password of the vault');
  await terminal.type('y', 'Delete the files?');
  expect(await terminal.ended(), terminal.shown).toBe(0);
  expect(terminal.shown).toContain(`Deleted ${file}`);
  expect([existsSync(file), existsSync(inHome('asked-backup'))]).toEqual([false, true]);
});
