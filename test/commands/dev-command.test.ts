/** `keyhearth dev -- COMMAND`, its lifetime, and where it runs: as a pipeline and a container start it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { networkInterfaces } from 'node:os';
import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  command,
  CommandProcess,
  runCommand,
  send,
  startDevProcess,
  type DevLine,
} from '../support/support.ts';

const node = realpathSync(process.execPath);
/** A program for `sh -c` that runs the command again. */
const keyhearth = `'${node}' '${command}'`;

/** Runs a shell's program beside a vault. */
const runShell = (program: string, options = {}) => runCommand(['dev', '--', 'sh', '-c', program], options);

async function isGone(url: string): Promise<boolean> {
  return fetch(url).then(
    () => false,
    () => true,
  );
}

describe('a command after --', () => {
  test('reaches the vault by its environment, and the vault is gone after it', async () => {
    const { code, stdout, stderr } = await runShell(
      [
        'set -eu',
        'test -z "${KEYHEARTH_VAULT_FILE:-}"',
        `made=$(${keyhearth} wallets create --name Sandbox --account ethereum --json)`,
        String.raw`address=$(printf %s "$made" | sed 's/.*"address":"\(0x[0-9a-fA-F]*\)".*/\1/')`,
        `printf hello | ${keyhearth} sign payload - --encoding text --hash keccak256 --with "$address" --json`,
        'echo "$KEYHEARTH_URL"',
        'exit 7',
      ].join('\n'),
      { environment: { KEYHEARTH_VAULT_FILE: '/no/such', KEYHEARTH_PORT: '1' } },
    );
    expect(stderr).toBe('');
    const [signature = '', url = '', ...rest] = stdout.split('\n');
    expect(JSON.parse(signature)).toMatchObject({ r: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    // The line of JSON would disturb the command's own output.
    expect(rest).toEqual(['']);
    expect(code).toBe(7);
    expect(await isGone(url)).toBe(true);
  });

  test('ends it by the signal that ended the command', async () => {
    expect((await runShell('kill -TERM $$')).code).toBe('SIGTERM');
    // A signal that leaves a core file becomes a shell's exit code: no memory with keys is written.
    expect((await runShell('kill -KILL $$')).code).toBe(137);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)(
    'is passed %s, and waited for',
    async (signal) => {
      const name = signal.slice(3);
      const program = `trap 'echo got; exit 9' ${name}; echo "$KEYHEARTH_URL"; while :; do sleep 0.05; done`;
      await using running = new CommandProcess(['dev', '--', 'sh', '-c', program]);
      const url = await running.nextLine();
      expect(await running.stop(signal)).toBe(9);
      expect(running.stdout).toBe(`${url}\ngot\n`);
      expect(await isGone(url)).toBe(true);
    },
  );

  test('that is not there, or is none, ends it as a shell would', async () => {
    const missing = await runCommand(['dev', '--', 'no-such-command', '--json']);
    expect(missing).toEqual({
      code: 127,
      stdout: '',
      stderr: 'keyhearth: "no-such-command" is not found\n',
    });
    const none = await runCommand(['dev', '--', '/']);
    expect(none).toMatchObject({ code: 126, stdout: '' });
    expect(none.stderr).toMatch(/^keyhearth: "\/" cannot be run: permission is denied\n$/);
  });

  test('keeps its own options, and an error before it starts is text', async () => {
    const { code, stderr } = await runCommand(['dev', '--no-such', '--', 'true', '--json']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^keyhearth: unknown option '--no-such'/);
    const both = await runCommand(['dev', '--stdin-lifetime', '--', 'true']);
    expect(both).toMatchObject({ code: 2, stdout: '' });
    expect(both.stderr).toMatch(/invalid --stdin-lifetime: with a command/);
  });

  test('cannot take the vault of this machine for it', async () => {
    const { code, stdout, stderr } = await runShell(
      [
        'lock',
        'status',
        'settings list',
        'backup status',
        'keyslots list',
        'requests',
        'sessions list',
        'doctor',
      ]
        .map((words) => `${keyhearth} ${words} </dev/null; echo $?`)
        .join('\n'),
    );
    expect(code).toBe(0);
    // `status` and the like, and not one of them, has looked at the vault of this machine.
    expect(stdout).toBe('2\n'.repeat(8));
    expect(stderr.match(/^keyhearth: this command works on the vault of this computer only/gm)).toHaveLength(
      8,
    );
  });
});

test('--stdin-lifetime ends it when standard input does, however that comes', async () => {
  const child = spawn(node, [command, 'dev', '--port', '0', '--stdin-lifetime'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const ended = once(child, 'exit');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { url } = JSON.parse(line) as DevLine;
    // Its input neither ends nor disturbs it.
    child.stdin.write('not read\n');
    expect((await send(url, { method: 'GET', path: '/dev/clock' })).status).toBe(200);
    child.stdin.destroy();
    expect(await ended).toEqual([0, null]);
    expect(await isGone(url)).toBe(true);
  } finally {
    child.kill('SIGKILL');
  }
});

/** Answers a request with any Host header. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(`${url}/dev/clock`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('--host and --allow-host', () => {
  const elsewhere = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.internal === false && each.family === 'IPv4')?.address;

  test('answer only the names that are allowed, by whatever address they come', async () => {
    const names = ['--allow-host', 'Vault', '--allow-host', 'localhost:8080'];
    await using dev = await startDevProcess(['--host', '0.0.0.0', ...names]);
    const { port } = new URL(dev.line.url);
    expect(dev.line.url).toBe(`http://127.0.0.1:${port}`);
    expect(dev.process.stderr).toBe('');
    const statuses: Record<string, number | undefined> = {};
    const hosts = [
      ...[`127.0.0.1:${port}`, `localhost:${port}`, `vault:${port}`, `VAULT:${port}`, 'localhost:8080'],
      ...[
        'vault',
        'vault:1',
        `evil.example:${port}`,
        `0.0.0.0:${port}`,
        `vault.evil.example:${port}`,
        'x:8080',
      ],
    ];
    for (const host of hosts) statuses[host] = await statusFor(dev.line.url, host);
    expect(Object.values(statuses)).toEqual([200, 200, 200, 200, 200, 403, 403, 403, 403, 403, 403]);
    // Everything of this machine's own network is one address more: the same rule holds there.
    if (elsewhere === undefined) return;
    const outside = `http://${elsewhere}:${port}`;
    expect(await statusFor(outside, `vault:${port}`)).toBe(200);
    expect(await statusFor(outside, `${elsewhere}:${port}`)).toBe(403);
  });

  test('without --host, loopback alone listens', async (context) => {
    if (elsewhere === undefined) {
      context.skip('this machine has no address beside loopback');
      return;
    }
    await using dev = await startDevProcess(['--allow-host', 'vault']);
    expect(await isGone(`http://${elsewhere}:${new URL(dev.line.url).port}`)).toBe(true);
  });

  test('a page’s origin is checked as before', async () => {
    await using dev = await startDevProcess(['--allow-host', 'vault']);
    const { port } = new URL(dev.line.url);
    const ask = async (origin: string): Promise<number> =>
      (await send(dev.line.url, { method: 'GET', path: '/dev/clock', headers: { origin } })).status;
    expect(await ask('http://evil.example')).toBe(403);
    expect(await ask(`http://vault:${port}`)).toBe(403);
    expect(await ask('http://localhost:1')).toBe(200);
  });

  test.each([
    [['dev', '--host', 'vault'], /invalid --host "vault": expected an IP address/],
    [['dev', '--allow-host', 'http://vault'], /invalid --allow-host "http:\/\/vault": expected a host name/],
    [['dev', '--allow-host', 'a/b'], /invalid --allow-host/],
    [['dev', '--allow-host', 'user@vault'], /invalid --allow-host/],
    [['dev', '--ui', '--host', '0.0.0.0'], /invalid --ui: the window is served on loopback alone/],
    [['serve', '--host', '0.0.0.0'], /unknown option '--host'/],
    [['serve', '--allow-host', 'vault'], /unknown option '--allow-host'/],
  ])('%j is refused', async (argv, message) => {
    const { code, stdout, stderr } = await runCommand(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('in a container', () => {
  /** No user by that number, no environment, no working directory of its own. */
  const bare = ['setpriv', '--reuid=12345', '--regid=12345', '--clear-groups', 'env', '-i'] as const;
  /** All mounts that matter are read-only; where a container may not mount, the directories that a program would choose are. */
  const readOnly = [
    'set -eu',
    'if [ "$1" = mount ]; then',
    '  mount --bind / / && mount -o remount,ro,bind / && mount -t tmpfs -o ro none /dev/shm',
    '  if touch /tmp/written 2>/dev/null; then exit 99; fi',
    'fi',
    'shift && cd /proc && exec "$@"',
  ].join('\n');
  const mounts = (): boolean => spawnSync('unshare', ['--mount', 'mount', '--bind', '/', '/']).status === 0;

  test('without HOME, user, environment and a disk to write, it signs and is gone', async (context) => {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) {
      context.skip('only root on Linux may change the user and mount');
      return;
    }
    const shell = ['sh', '-c', readOnly, 'sh'];
    const place = mounts() ? ['unshare', '--mount', ...shell, 'mount'] : [...shell, 'no'];
    const program = [...place, ...bare, 'TMPDIR=/proc', node, command, 'dev', '--'];
    const signing = [
      `made=$(${keyhearth} wallets create --name Sandbox --account ethereum --json)`,
      String.raw`address=$(printf %s "$made" | /bin/sed 's/.*"address":"\(0x[0-9a-fA-F]*\)".*/\1/')`,
      `printf hello | ${keyhearth} sign payload - --encoding text --hash keccak256 --with "$address" --json`,
      'echo "$KEYHEARTH_URL"',
    ].join(' && ');
    const { code, stdout, stderr } = await runCommand(['/bin/sh', '-c', signing], {
      program: program as [string, ...string[]],
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [signature = '', url = ''] = stdout.split('\n');
    expect(JSON.parse(signature)).toMatchObject({ v: expect.stringMatching(/^0[01]$/) as string });
    expect(await isGone(url)).toBe(true);
  });
});
