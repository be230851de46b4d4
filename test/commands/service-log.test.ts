/**
 * The log of a service, as the built command keeps it: in a file of its own, without secrets, and without
 * delaying a request.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sourceLines } from '../../main/app/source-lines.ts';
import { password, ServedVault } from '../campaigns/served-vault.ts';
import { SecretWatch } from '../support/secret-watch.ts';
import { newWallet, runCommand, send } from '../support/support.ts';

const logOf = (vault: ServedVault): string => readFileSync(join(vault.directory, 'keyhearth.log'), 'utf8');

describe('a service', () => {
  test('logs its start, its states and its end, and with --verbose each request without its path or body', async () => {
    await using vault = await ServedVault.make();
    const served = await vault.serve({}, ['--verbose']);
    const { client, process: service } = served;
    const secrets = new SecretWatch();
    const secret = 'correct horse battery staple';
    secrets.addText('secret', secret);
    secrets.addText('in an address', encodeURIComponent(secret));
    await newWallet(client);
    await client.submit('create_wallet', 'CREATE_WALLET', { walletName: secret, accounts: secret });
    for (const path of [
      `/public/v1/query/${encodeURIComponent(secret)}`,
      `/${encodeURIComponent(secret)}?${secret.replaceAll(' ', '+')}`,
    ]) {
      await send(client.url, { path, body: JSON.stringify({ [secret]: secret }) });
    }
    expect(await service.stop('SIGTERM')).toBe(0);
    const log = logOf(vault);
    expect(statSync(join(vault.directory, 'keyhearth.log')).mode & 0o777).toBe(0o600);
    const entry = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z `;
    for (const text of [
      String.raw`info  Keyhearth \S+ starts: process \d+, \w+, v\d`,
      String.raw`info  The service listens on port \d+$`,
      'info  The vault is unlocked$',
      String.raw`debug request submit/create_wallet: 200 in \d+ ms, \d+ bytes in, \d+ out$`,
      String.raw`debug request submit/create_wallet: 400 INVALID_ARGUMENT in \d+ ms, `,
      'debug request a path that is no operation: 404',
      'info  The vault is locked$',
      'info  Keyhearth ends$',
    ]) {
      expect(log).toMatch(new RegExp(entry + text, 'm'));
    }
    expect(service.stderr).toContain('The vault is unlocked\n');
    const places = new Map([
      ['log', Buffer.from(log)],
      ['standard error', Buffer.from(service.stderr)],
    ]);
    expect(secrets.find(places)).toEqual([]);

    const doctor = await vault.run(['doctor', '--no-keychain']);
    expect(doctor.stdout).toMatch(/^ok +log of the service +.*keyhearth\.log: \d+ KB in one file$/m);
  });

  test('without --verbose logs no request, and writes nothing of it to standard error', async () => {
    await using vault = await ServedVault.make();
    const { client, process: service } = await vault.serve();
    await newWallet(client);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(logOf(vault)).toContain('The vault is unlocked');
    expect(logOf(vault)).not.toContain('request');
    expect(service.stderr).toBe('');
  });

  test('goes on where its log cannot be written, and says why, once', async () => {
    await using vault = await ServedVault.make();
    const victim = join(vault.home, 'victim');
    const file = join(vault.directory, 'keyhearth.log');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, file);
    const { client, process: service } = await vault.serve({}, ['--verbose']);
    await newWallet(client);
    for (let count = 0; count < 20; count++) expect((await client.query('whoami')).status).toBe(200);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(service.stderr.split('loses entries')).toHaveLength(2);
    expect(service.stderr).toContain(
      `The log of the service loses entries: ${file} is not this user’s own file: move it away`,
    );
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  test('leaves its log out of backups', async () => {
    await using vault = await ServedVault.make();
    const { process: service } = await vault.serve();
    const backup = join(vault.home, 'all.backup');
    expect(await vault.run(['backup', backup])).toMatchObject({ code: 0 });
    await service.stop('SIGTERM');
    const restored = join(vault.home, 'restored');
    const argv = [
      'restore',
      backup,
      '--data-dir',
      restored,
      '--config-dir',
      vault.home,
      '--password-fd',
      '3',
    ];
    const { code, stderr } = await runCommand(argv, { descriptor3: password });
    expect(code, stderr).toBe(0);
    expect(readdirSync(restored)).toContain('vault.db');
    expect(existsSync(join(restored, 'keyhearth.log'))).toBe(false);
  });
});

test('a stack of the built program names the lines of its sources', () => {
  const dist = join(import.meta.dirname, '../../dist/main/');
  const chunk = execFileSync('grep', ['-l', 'async function startVault(', '-r', dist, '--include=*.js'], {
    encoding: 'utf8',
  }).trim();
  const lines = readFileSync(chunk, 'utf8').split('\n');
  const line = lines.findIndex((text) => text.startsWith('async function startVault('));
  const sources = readFileSync(join(import.meta.dirname, '../../main/app/compose.ts'), 'utf8').split('\n');
  const expected = sources.findIndex((text) => text.includes('async function startVault('));
  expect(expected).toBeGreaterThan(0);
  expect(sourceLines(dist)(`    at startVault (file://${chunk}:${String(line + 1)}:1)`)).toMatch(
    new RegExp(String.raw`\(main/app/compose\.ts:${String(expected + 1)}:\d+\)$`),
  );
});
