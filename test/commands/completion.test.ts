/** The completions of each shell at the Tab key, from the shell itself. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resultOf, runCommand, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { TestKey, TestVault } from '../support/support.ts';

const directory = temporaryDirectory();
const scripts = new Map<string, string>();

function keepKey({ config: { keysDirectory } }: TestVault, name: string, key: TestKey): void {
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, `${name}.public`), key.publicKey);
  writeFileSync(join(keysDirectory, `${name}.private`), key.privateKey, { mode: 0o600 });
}

beforeAll(async () => {
  const other = join(directory.path, 'keyhearth');
  writeFileSync(other, '#!/bin/sh\ntouch started\n');
  chmodSync(other, 0o755);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await runCommand(['completion', shell]);
    expect({ shell, code, stderr }).toEqual({ shell, code: 0, stderr: '' });
    const file = join(directory.path, shell);
    writeFileSync(file, stdout);
    scripts.set(shell, file);
  }
});
afterAll(() => {
  directory[Symbol.dispose]();
});

/** Words of a command line; the last is where the cursor is. */
type Line = readonly string[];

const quoted = (word: string): string => `'${word}'`;

/** For each shell, the arguments that print its completions without a terminal, one on each line. */
const asking: Readonly<Record<string, (script: string, line: Line) => readonly string[]>> = {
  bash: (script, line) => [
    '-c',
    `source '${script}'; COMP_WORDS=(${line.map(quoted).join(' ')}); COMP_CWORD=${line.length - 1}; _keyhearth; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Its own functions write to a terminal: here they print their arguments.
  zsh: (script, line) => [
    '-f',
    '-c',
    [
      'compdef() { :; }; _files() { print -- "(files $*)"; }; _message() { :; }',
      'compadd() { shift; print -l -- "$@"; }',
      '_describe() { local -a list; list=("${(@P)@[-1]}"); print -l -- "${(@)list%%:*}"; }',
      `source '${script}'; words=(${line.map(quoted).join(' ')}); CURRENT=${line.length}; _keyhearth`,
    ].join('\n'),
  ],
  fish: (script, line) => ['--no-config', '-c', `source '${script}'; complete -C '${line.join(' ')}'`],
};

const offered = (shell: string, ...words: Line): Promise<string[]> => offeredWith({}, shell, ...words);

async function offeredWith(
  variables: Readonly<Record<string, string>>,
  shell: string,
  ...words: Line
): Promise<string[]> {
  const argv = asking[shell]?.(scripts.get(shell) ?? '', words) ?? [];
  const environment = { HOME: directory.path, PATH: process.env['PATH'], ...variables };
  try {
    const { stdout } = await promisify(execFile)(shell, argv, { cwd: directory.path, env: environment });
    // A description follows a tab.
    return stdout
      .split('\n')
      .flatMap((line) => line.split('\t')[0] ?? [])
      .filter((word) => word !== '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new Error(`${shell} is missing: sudo apt-get install ${shell}`, { cause: error });
    }
    throw error;
  }
}

describe.each(['bash', 'zsh', 'fish'])('%s', (shell) => {
  test('offers commands, and those below them', async () => {
    expect(await offered(shell, 'keyhearth', '')).toEqual(
      expect.arrayContaining(['init', 'serve', 'keyslots', 'completion']),
    );
    const below = await offered(shell, 'keyhearth', 'backup', '');
    expect(below).toEqual(expect.arrayContaining(['verify', 'status', 'schedule']));
    expect(below).not.toContain('init');
  });

  test('offers a command’s options and those of all, and knows where an option’s value is', async () => {
    const options = await offered(shell, 'keyhearth', '--data-dir', 'init', 'serve', '--port', '0', '--');
    expect(options).toEqual(expect.arrayContaining(['--port', '--ui', '--json', '--data-dir']));
    expect(options).not.toContain('--organization');
    expect(options).not.toContain('--version');
  });

  test('offers the few words that an option or a command takes', async () => {
    expect((await offered(shell, 'keyhearth', 'dev', '--clock', '')).sort()).toEqual(['fixed', 'real']);
    expect((await offered(shell, 'keyhearth', 'completion', '')).sort()).toEqual(['bash', 'fish', 'zsh']);
    expect(await offered(shell, 'keyhearth', 'settings', 'set', 'autoLock.')).toContain('autoLock.onSuspend');
  });
});

test('zsh offers files where a file is meant, and nothing where anything is', async () => {
  expect(await offered('zsh', 'keyhearth', 'backup', 'verify', '')).toEqual(['(files )']);
  expect(await offered('zsh', 'keyhearth', 'backup', 'schedule', '')).toEqual(['(files -/)']);
  expect(await offered('zsh', 'keyhearth', 'serve', '--port', '')).toEqual([]);
});

test('fish offers files where a file is meant, and none elsewhere', async () => {
  writeFileSync(join(directory.path, 'mine.backup'), '');
  expect(await offered('fish', 'keyhearth', 'backup', 'verify', 'mi')).toEqual(['mine.backup']);
  expect(await offered('fish', 'keyhearth', 'serve', 'mi')).toEqual([]);
});

describe('what a vault has', () => {
  let service: TestVault;
  const environment = () => ({
    KEYHEARTH_DATA_DIR: service.directory,
    KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
  });
  const create = async (walletName: string): Promise<void> => {
    resultOf(await service.root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] }));
  };

  beforeAll(async () => {
    service = await startTestVault();
    keepKey(service, 'owner', service.key);
    await create('Daily');
    await create('Rainy day');
    await create('$(touch stolen)');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(['bash', 'zsh', 'fish'])('%s offers names, as the shell takes them', async (shell) => {
    const wallets = await offeredWith(environment(), shell, 'keyhearth', 'wallets', 'show', '');
    const plain = (word: string): string => word.replaceAll('\\', '');
    expect(wallets.map(plain).sort()).toEqual(['$(touch stolen)', 'Daily', 'Rainy day']);
    // The class: text from a vault that a shell executes, and a program of the same name that it starts.
    expect(readdirSync(directory.path)).not.toContain('stolen');
    const begun = await offeredWith(environment(), shell, './keyhearth', 'wallets', 'show', 'Dai');
    expect(begun).toContain('Daily');
    expect(readdirSync(directory.path)).not.toContain('started');
  });

  test('bash offers users, keys, and the vault of the options before the cursor', async () => {
    await service.newUser('Ann');
    expect(await offeredWith(environment(), 'bash', 'keyhearth', 'users', 'show', '')).toEqual([
      'Root',
      'Ann',
    ]);
    expect(await offeredWith(environment(), 'bash', 'keyhearth', 'wallets', 'list', '--api-key', '')).toEqual(
      ['owner'],
    );
    const { KEYHEARTH_DATA_DIR: data, KEYHEARTH_CONFIG_DIR: config } = environment();
    expect(
      await offered('bash', 'keyhearth', '--data-dir', data, '--config-dir', config, 'users', 'show', 'A'),
    ).toEqual(['Ann']);
  });

  // The class: the Tab key does what only Enter may.
  test('is not asked for at a server that the line names', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    try {
      for (const named of [['--url', url], [`--url=${url}`]]) {
        const line = ['wallets', 'show', ...named, '--organization-id', service.organizationId, ''];
        expect(await offeredWith(environment(), 'bash', 'keyhearth', ...line)).toEqual([]);
      }
      expect(asked).toBe(0);
      // One that the environment names is asked.
      const variables = { KEYHEARTH_URL: url, KEYHEARTH_ORGANIZATION: service.organizationId };
      await offeredWith({ ...environment(), ...variables }, 'bash', 'keyhearth', 'wallets', 'show', '');
      expect(asked).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });

  test('is not offered by a locked vault, nor without one', async () => {
    service.vault.keyring.lock();
    expect(await offeredWith(environment(), 'bash', 'keyhearth', 'wallets', 'show', '')).toEqual([]);
    expect(await offered('bash', 'keyhearth', 'wallets', 'show', '')).toEqual([]);
  });
});

test('another shell is refused with those that there are', async () => {
  const { code, stderr } = await runCommand(['completion', 'tcsh']);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('invalid <shell> "tcsh": expected bash, zsh or fish') as string,
  });
});
