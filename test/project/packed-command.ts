/** The abilities of every packed `keyhearth` command, in any directory: all that loads a file of its own. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { hashMessage, recoverAddress } from 'viem';
import { expect } from 'vitest';
import { CommandProcess, ethereumAccount, runCommand, temporaryDirectory } from '../support/support.ts';
import type { CommandOptions, Json } from '../support/support.ts';
import { runProgram } from '../support/programs.ts';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';

/**
 * Makes a vault, serves it with its window, signs with a wallet of it, writes and tries a backup, and has an event posted:
 * the database, argon2, the wasm of secp256k1, both threads, the window and the pages of the API. Then git signs by it.
 * @param program the words that run the command.
 * @param environment what it needs beside a home of its own.
 */
export async function expectToServeAndSign(
  program: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  using home = temporaryDirectory();
  await using receiver = await WebhookReceiver.start();
  const options: CommandOptions = {
    program,
    environment: {
      HOME: home.path,
      KEYHEARTH_DATA_DIR: join(home.path, 'vault'),
      KEYHEARTH_CONFIG_DIR: join(home.path, 'config'),
      ...environment,
      PATH: [environment['PATH'], gitsPath(home.path)].filter(Boolean).join(delimiter),
    },
  };
  const run = async (...argv: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await runCommand([...argv, '--json'], options);
    expect({ argv, code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout) as Json;
  };
  const submit = async (operation: string, parameters: Json, version = ''): Promise<Json> => {
    const type = `ACTIVITY_TYPE_${operation.toUpperCase()}${version}`;
    const body = JSON.stringify({ type, parameters });
    return run('request', '--path', `/public/v1/submit/${operation}`, '--body', body);
  };

  const passwordFile = join(home.path, 'password');
  writeFileSync(passwordFile, 'correct horse battery staple\n', { mode: 0o600 });
  const secret = ['--no-keychain', '--password-file', passwordFile];
  await run('init', ...secret);
  await using service = new CommandProcess(['serve', '--ui', '--port', '0', ...secret, '--json'], options);
  const { url, state, windowUrl } = JSON.parse(await service.nextLine()) as Record<string, string>;
  expect(state).toBe('unlocked');

  const made = await submit('create_wallet', { walletName: 'Packed', accounts: [ethereumAccount] });
  const [address] = /0x[0-9a-fA-F]{40}/.exec(JSON.stringify(made)) ?? [];
  expect(address).toBeDefined();
  const file = join(home.path, 'message.txt');
  writeFileSync(file, '\u0019Ethereum Signed Message:\n6packed');
  const signed = await run(
    ...['sign', 'payload', file, '--encoding', 'text', '--hash', 'keccak256', '--with', String(address)],
  );
  const { r, s, v } = signed as Record<string, string>;
  const signature = {
    r: `0x${String(r)}`,
    s: `0x${String(s)}`,
    yParity: Number.parseInt(String(v), 16),
  } as const;
  expect(await recoverAddress({ hash: hashMessage('packed'), signature })).toBe(address);

  // Each is a thread of its own, from a file of its own.
  const backup = join(home.path, 'backup.keyhearth');
  await run('backup', backup, '--password-file', passwordFile, '--no-keychain');
  await run('backup', 'verify', backup, '--password-file', passwordFile, '--no-keychain');
  const endpoint = await submit('create_webhook_endpoint', { name: 'Packed', url: receiver.url });
  const [, endpointId] = /"endpointId":"([^"]+)"/.exec(JSON.stringify(endpoint)) ?? [];
  await run('webhooks', 'test', String(endpointId));
  await expect.poll(() => receiver.events.length).toBeGreaterThan(0);

  for (const [page, content] of [
    [windowUrl, '<div id="window">'],
    [`${String(url)}/docs/api/scalar.js`, 'function'],
  ] as const) {
    const answer = await fetch(String(page));
    expect({ page, status: answer.status }).toMatchObject({ status: 200 });
    expect(await answer.text()).toContain(content);
  }
  if (process.platform !== 'win32') await expectToSignForGit(run, options.environment?.['HOME'] ?? home.path);
  expect(await service.stop()).toBe(0);
}

/** Git starts the command again by a launcher, with a path that has nothing but git's own programs. */
async function expectToSignForGit(run: (...argv: string[]) => Promise<Json>, home: string): Promise<void> {
  await run('private-keys', 'create', '--name', 'git', '--curve', 'ed25519');
  await run('doors', 'add', 'git');
  await run('doors', 'on', 'ssh');
  await run('ssh', 'keys', '--add', 'git');
  await run('git', 'setup', '--global', '--email', 'ann@example.com', '--yes');
  const repository = join(home, 'repository');
  const git = async (...argv: readonly string[]): Promise<void> => {
    const env = { PATH: gitsPath(home), HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
    const { code, err } = await runProgram('git', argv, { cwd: home, env });
    expect({ argv, code, err }).toMatchObject({ code: 0 });
  };
  await git('init', '--quiet', repository);
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  await git('-C', repository, ...identity, 'commit', '--quiet', '--allow-empty', '--message', 'Packed');
  await git('-C', repository, 'verify-commit', 'HEAD');
}

/** A directory with links to the programs of the system that git needs, and no Node. */
function gitsPath(home: string): string {
  const directory = join(home, 'git-programs');
  mkdirSync(directory, { recursive: true });
  for (const name of ['git', 'ssh-keygen']) {
    const found = (process.env['PATH'] ?? '').split(delimiter).map((each) => join(each, name));
    const program = found.find((each) => existsSync(each));
    if (program !== undefined && !existsSync(join(directory, name)))
      symlinkSync(program, join(directory, name));
  }
  return directory;
}
