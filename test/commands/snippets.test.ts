/** The code that the window gives a script to start from runs as it stands. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { commandLines, curlExample, environmentLines } from '../../renderer/features/connect/snippets.ts';
import {
  CommandProcess,
  newTestKey,
  resultOf,
  runCommand,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';

/** Runs a script as a person does who has saved it beside its `.env`. */
async function bash(
  script: string,
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn('bash', [script], {
    cwd: directory,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw new Error('there is no bash; install it with: apt-get install -y bash', { cause: error });
  })) as [number];
  const [stdout, stderr] = await output;
  if (/(curl|openssl): command not found/.test(stderr)) {
    throw new Error(`${stderr.trim()}; install it with: apt-get install -y curl openssl`);
  }
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

test('the curl example signs a request by the lines of the environment', async () => {
  await using service = await startTestVault();
  using home = temporaryDirectory();
  const save = (name: string, content: string): void => {
    writeFileSync(join(home.path, name), content, { mode: 0o600 });
  };
  save('example.sh', curlExample);
  // Of many keys some begin with a zero, and some have a signature of another length.
  for (let attempt = 0; attempt < 3; attempt++) {
    const { publicKey, privateKey } = newTestKey();
    const apiKeys = [{ apiKeyName: `Script ${String(attempt)}`, publicKey, curveType: 'API_KEY_CURVE_P256' }];
    resultOf(
      await service.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
        userId: service.rootUserId,
        apiKeys,
      }),
    );
    const { url, organizationId } = service;
    save('.env', environmentLines({ url, organizationId, publicKey, privateKey }));
    expect(JSON.parse(await bash('example.sh', home.path))).toMatchObject({
      organizationId,
      userId: service.rootUserId,
      username: 'Root',
    });
  }
});

test('the command lines make a key of their own and ask with it', async () => {
  await using resources = new AsyncDisposableStack();
  const home = resources.use(temporaryDirectory());
  const places = { KEYHEARTH_DATA_DIR: join(home.path, 'vault'), KEYHEARTH_CONFIG_DIR: home.path };
  const secret = { descriptor3: 'a password for this test', environment: places };
  const opened = ['--no-keychain', '--json', '--password-fd', '3'];
  await runCommand(['init', ...opened], secret);
  const running = resources.use(new CommandProcess(['serve', '--port', '0', ...opened], secret));
  await running.nextLine();
  const wallet = ['wallets', 'create', '--name', 'Daily', '--account', 'ethereum'];
  expect(await runCommand(wallet, { environment: places })).toMatchObject({ code: 0 });
  // The command as it is installed.
  const bin = join(home.path, 'bin');
  mkdirSync(bin);
  const program = join(import.meta.dirname, '../../dist/main/cli.js');
  writeFileSync(join(bin, 'keyhearth'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(bin, 'keyhearth'), 0o755);
  writeFileSync(
    join(home.path, 'lines.sh'),
    `set -e\n${commandLines.replaceAll('\nkeyhearth', ' 2>&1\nkeyhearth')}`,
  );
  const PATH = [bin, process.env['PATH']].join(delimiter);
  const output = await bash('lines.sh', home.path, { ...places, PATH });
  expect(output).toContain('"username"');
  expect(output).toContain('"wallets"');
  expect(readFileSync(join(home.path, 'keys/my-script.public'), 'utf8')).toMatch(/^0[23][0-9a-f]{64}/);
});
