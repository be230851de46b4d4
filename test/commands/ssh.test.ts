/**
 * The door for SSH with the system's own OpenSSH and git, on one service and one sshd. The classes: each signature is a request
 * of the program's user, with its policies, votes and log; nothing that an SSH client says widens what a policy allows; no key
 * is in any file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DoorStatus } from '../../preload/contract.ts';
import { fingerprint } from '../../main/chains/ssh/wire.ts';
import { longestMessage } from '../../main/doors/ssh/messages.ts';
import { runProgram, type Ran } from '../support/programs.ts';
import {
  activityOf,
  command,
  resultOf,
  runCommand,
  startTestVault,
  type Json,
  type TestClient,
  type TestVault,
} from '../support/support.ts';
import { connectTo, framed, signRequest } from '../support/ssh-agent.ts';

const password = 'correct horse battery staple';

let service: TestVault;
let root: TestClient;
let home = '';
let socket = '';
let port = 0;
let sshd: ReturnType<typeof spawn>;
let lines: readonly string[] = [];
let userId = '';

/** Runs a program of the system at home, with the agent of the vault. */
const run = (
  program: string,
  argv: readonly string[],
  { input = '', cwd = home, env = {} } = {},
): Promise<Ran> =>
  runProgram(program, argv, {
    cwd,
    env: { HOME: home, SSH_AUTH_SOCK: socket, GIT_CONFIG_NOSYSTEM: '1', ...env },
    input,
  });

const environment = () => ({
  KEYHEARTH_DATA_DIR: service.directory,
  KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
});

const keyhearth = async (...argv: readonly string[]): Promise<Json> => {
  const ran = await runCommand([...argv, '--json'], { environment: { HOME: home, ...environment() } });
  expect(ran.code, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Json;
};

const hostKey = (): string => join(home, 'host_key');

/** Logs in with one key alone. */
const login = (key: string, more: readonly string[] = [], command = 'echo in', env = {}) =>
  run(
    'ssh',
    [
      ...[
        '-p',
        String(port),
        '-i',
        join(home, `${key}.pub`),
        '-o',
        'IdentitiesOnly=yes',
        '-o',
        'BatchMode=yes',
      ],
      ...['-o', `UserKnownHostsFile=${join(home, '.ssh/known_hosts')}`, ...more],
      ...[`${userInfo().username}@127.0.0.1`, command],
    ],
    { env },
  );

async function startSshd(): Promise<void> {
  // The system's service makes it where there is one.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey()]);
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  ({ port } = free.address() as AddressInfo);
  await new Promise((resolve) => free.close(resolve));
  const settings = {
    ListenAddress: `127.0.0.1:${String(port)}`,
    HostKey: hostKey(),
    AuthorizedKeysFile: join(home, 'authorized_keys'),
    ...{ StrictModes: 'no', UsePAM: 'no', PidFile: 'none', PasswordAuthentication: 'no' },
    ...{ AllowAgentForwarding: 'yes', PermitRootLogin: 'yes', MaxStartups: '100', LogLevel: 'ERROR' },
    SetEnv: `HOME=${home}`,
    Subsystem: 'sftp internal-sftp',
  };
  const file = join(home, 'sshd_config');
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  );
  sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', file], { stdio: 'ignore' });
  await vi.waitFor(async () => {
    expect((await run('ssh-keyscan', ['-p', String(port), '127.0.0.1'])).out).toContain('ssh-ed25519');
  }, 10_000);
  const [, type, key] = /^(\S+) (\S+)/.exec(readFileSync(`${hostKey()}.pub`, 'utf8')) ?? [];
  appendFileSync(
    join(home, '.ssh/known_hosts'),
    `[127.0.0.1]:${String(port)} ${String(type)} ${String(key)}\n`,
  );
}

beforeAll(async () => {
  service = await startTestVault({ password });
  ({ root } = service);
  home = join(dirname(service.directory), 'home');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, 'owner.public'), service.key.publicKey);
  writeFileSync(join(keysDirectory, 'owner.private'), service.key.privateKey, { mode: 0o600 });
  const privateKeys = (['CURVE_ED25519', 'CURVE_P256', 'CURVE_ED25519'] as const).map((curve, index) => ({
    privateKeyName: ['ed', 'p256', 'other'][index],
    curve,
    privateKeyTags: [],
    addressFormats: [],
  }));
  activityOf(await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys }));
  ({ userId } = (await keyhearth('doors', 'add', 'laptop')) as { userId: string });
  await keyhearth('doors', 'on', 'ssh');
  ({ socket } = (await keyhearth('ssh', 'agent')) as { socket: string });
  await keyhearth('ssh', 'keys', '--add', 'ed');
  ({ keys: lines } = (await keyhearth('ssh', 'keys', '--add', 'p256')) as { keys: string[] });
  for (const line of lines) writeFileSync(join(home, `${String(line.split(' ')[2])}.pub`), `${line}\n`);
  writeFileSync(join(home, 'authorized_keys'), `${lines.join('\n')}\n`);
  await startSshd();
}, 120_000);
afterAll(async () => {
  sshd.kill();
  await service[Symbol.asyncDispose]();
});

/** The newest activity of the program, with its request. */
async function lastOfProgram(): Promise<{
  readonly status: string;
  readonly intent: Json;
  readonly fingerprint: string;
}> {
  const answer = await root.query('list_activities', { paginationOptions: { limit: '10' } });
  const activities = answer.body?.['activities'] as {
    status: string;
    type: string;
    intent: Json;
    fingerprint: string;
  }[];
  const found = activities.find(({ type }) => type === 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2');
  if (found === undefined) throw new Error('the program has done nothing');
  return found;
}

const originOf = ({ intent }: { readonly intent: Json }): Json =>
  (intent['signRawPayloadIntentV2'] as { origin: Json }).origin;

/** Changes who must agree to signatures by tagged keys. */
async function requireConsensus(consensus: string): Promise<void> {
  const listed = await root.query('list_policies', {});
  const policies = listed.body?.['policies'] as { policyId: string; policyName: string }[];
  const policy = policies.find(({ policyName }) => policyName === 'SSH laptop: signs with tagged keys');
  const wanted = { policyId: policy?.policyId, policyConsensus: consensus };
  activityOf(await root.submit('update_policy', 'UPDATE_POLICY_V2', wanted));
}
const program = () => `approvers.any(user, user.id == '${userId}')`;
const owner = () => `approvers.any(user, user.id == '${service.rootUserId}')`;

/** Has the agent sign a file with the key that is not tagged. */
async function signWithOther(): Promise<{ readonly code: number | null; readonly isSigned: boolean }> {
  const keys = await root.query('list_private_keys', {});
  const other = (
    keys.body as { privateKeys: { privateKeyName: string; publicKey: string }[] }
  ).privateKeys.find(({ privateKeyName }) => privateKeyName === 'other');
  const blob = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    Buffer.from(other?.publicKey ?? '', 'hex'),
  ]);
  const pub = join(home, 'other.pub');
  writeFileSync(join(home, 'message'), 'hello');
  writeFileSync(pub, `ssh-ed25519 ${blob.toString('base64')} other\n`);
  const { code } = await run('ssh-keygen', ['-Y', 'sign', '-n', 'file', '-f', pub, 'message']);
  return { code, isSigned: existsSync(join(home, 'message.sig')) };
}

const connect = (): Promise<Socket> => connectTo(socket);
/** The number of the answer; undefined where the connection is closed without one. */
const answerTo = async (bytes: Uint8Array): Promise<number | undefined> => {
  const connection = await connect();
  connection.write(bytes);
  return new Promise((resolve) => {
    connection.on('data', (chunk: Buffer) => {
      connection.destroy();
      resolve(chunk[4]);
    });
    connection.on('close', () => {
      resolve(undefined);
    });
  });
};

/** @param line A public key, as `ssh-add -L` lists it. */
const signBy = (line: string, data: Buffer): Uint8Array =>
  signRequest(Buffer.from(line.split(' ')[1] ?? '', 'base64'), data);

test('ssh-add lists the tagged keys alone', async () => {
  const { out } = await run('ssh-add', ['-L']);
  expect(out.trim().split('\n')).toEqual(lines);
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['ssh-ed25519', 'ecdsa-sha2-nistp256']);
  expect(out).not.toContain('other');
});

describe('a login to a real server', () => {
  test.each(['ed', 'p256'])(
    'by the key %s goes through, and the log names door, program and server',
    async (key) => {
      expect(await login(key)).toMatchObject({ code: 0, out: 'in\n' });
      expect(originOf(await lastOfProgram())).toMatchObject({ door: 'ssh', program: 'laptop' });
    },
  );

  test('copies a file there and back by scp', async () => {
    const [from, there, back] = ['from', 'there', 'back'].map((name) => join(home, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(from, 'by scp');
    const scp = (...files: readonly string[]) =>
      run('scp', [
        ...[
          '-q',
          '-P',
          String(port),
          '-i',
          join(home, 'ed.pub'),
          '-o',
          'IdentitiesOnly=yes',
          '-o',
          'BatchMode=yes',
        ],
        ...['-o', `UserKnownHostsFile=${join(home, '.ssh/known_hosts')}`, ...files],
      ]);
    const server = `${userInfo().username}@127.0.0.1`;
    expect(await scp(from, `${server}:${there}`)).toMatchObject({ code: 0 });
    expect(await scp(`${server}:${there}`, back)).toMatchObject({ code: 0 });
    expect(readFileSync(back, 'utf8')).toBe('by scp');
  });

  test('with a host certificate is known by the host’s key', async () => {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, 'ca')]);
    await run('ssh-keygen', [
      '-q',
      '-s',
      join(home, 'ca'),
      '-h',
      '-I',
      'here',
      '-n',
      '127.0.0.1',
      `${hostKey()}.pub`,
    ]);
    appendFileSync(join(home, 'sshd_config'), `HostCertificate ${hostKey()}-cert.pub\n`);
    sshd.kill('SIGHUP');
    const authorities = join(home, 'authorities');
    const ca = readFileSync(join(home, 'ca.pub'), 'utf8');
    writeFileSync(authorities, `@cert-authority * ${ca}`);
    const byCertificate = ['-o', `UserKnownHostsFile=${authorities}`, '-o', 'StrictHostKeyChecking=yes'];
    await vi.waitFor(async () => {
      expect(await login('ed', byCertificate)).toMatchObject({ code: 0, out: 'in\n' });
    }, 10_000);
    const blob = Buffer.from(readFileSync(`${hostKey()}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    const { intent } = await lastOfProgram();
    const described = await root.query('describe_payload', intent['signRawPayloadIntentV2'] as Json);
    expect(described.text).toContain(fingerprint(blob));
    expect(described.text).not.toContain('Unknown');
  });

  /** Logs in to the server with the agent forwarded, and from there again. */
  const loginTwice = (agent: string) =>
    login(
      'ed',
      ['-A'],
      `ssh -p ${String(port)} -o BatchMode=yes -o StrictHostKeyChecking=no 127.0.0.1 echo inner`,
      { SSH_AUTH_SOCK: agent },
    );

  test('through a forwarded agent is refused', async () => {
    const ran = await loginTwice(socket);
    expect(ran.out).not.toContain('inner');
    expect(ran.err).toContain('Permission denied');
  });

  test('through a forwarded agent is allowed to a program whose policies name the server that forwards', async () => {
    const blob = Buffer.from(readFileSync(`${hostKey()}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    const relay = await keyhearth('doors', 'add', 'relay', '--forwarder', fingerprint(blob));
    const ran = await loginTwice(String(relay['socket']));
    expect(ran.out, ran.err).toContain('inner');
    await keyhearth('doors', 'remove', 'relay', '--yes');
  });

  test('needs the program’s own policies: one that lets all users do anything widens nothing', async () => {
    const anything = {
      policyName: 'Anything',
      effect: 'EFFECT_ALLOW',
      condition: '',
      consensus: '',
      notes: '',
    };
    const { policyId } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', anything),
    ) as unknown as { policyId: string };
    expect((await loginTwice(socket)).out).not.toContain('inner');
    expect(await signWithOther()).toEqual({ code: 255, isSigned: false });
    // A transaction of Solana is signed by the same keys, and begins with the number of its signatures.
    const notSsh = Buffer.concat([Buffer.from([1]), Buffer.alloc(64), Buffer.from([1, 0, 1, 3])]);
    expect(await answerTo(framed(signBy(lines[0] ?? '', notSsh)))).toBe(5);
    expect((await login('ed')).out).toBe('in\n');
    activityOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  });
});

test('a key file of OpenSSH is imported by its passphrase, and logs in without the file', async () => {
  const file = join(home, 'id_old');
  const passphrase = join(home, 'passphrase');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'tick tock', '-C', 'old', '-f', file]);
  const add = ['import', 'ssh-key', '--name', 'old', '--key-file', file, '--json'];
  const attempt = async (...argv: readonly string[]) =>
    runCommand([...add, ...argv], { environment: { HOME: home, ...environment() } });
  const unasked = await attempt();
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain('The key file needs its passphrase. Give it with --passphrase-file');
  writeFileSync(passphrase, 'tick\n');
  expect(await attempt('--passphrase-file', passphrase)).toMatchObject({ code: 2 });
  writeFileSync(passphrase, 'tick tock\n');
  const imported = await attempt('--passphrase-file', passphrase);
  expect(imported.code, imported.stderr).toBe(0);
  const shown = await run('ssh-keygen', ['-l', '-f', `${file}.pub`]);
  expect(shown.out).toContain((JSON.parse(imported.stdout) as { fingerprint: string }).fingerprint);
  rmSync(file);
  const { keys } = (await keyhearth('ssh', 'keys', '--add', 'old')) as { keys: string[] };
  const pub = readFileSync(`${file}.pub`, 'utf8');
  expect(keys).toContain(pub.trim());
  writeFileSync(join(home, 'old.pub'), pub);
  appendFileSync(join(home, 'authorized_keys'), pub);
  expect(await login('old')).toMatchObject({ code: 0, out: 'in\n' });
  await keyhearth('ssh', 'keys', '--remove', 'old');
});

test('ssh-keygen signs and verifies a file', async () => {
  writeFileSync(join(home, 'file'), 'hello');
  writeFileSync(join(home, 'signers'), `me ${String(lines[0])}\n`);
  const signed = await run('ssh-keygen', ['-Y', 'sign', '-n', 'file', '-f', join(home, 'ed.pub'), 'file']);
  expect(signed.code, signed.err).toBe(0);
  const verify = (namespace: string) =>
    run('ssh-keygen', ['-Y', 'verify', '-n', namespace, '-f', 'signers', '-I', 'me', '-s', 'file.sig'], {
      input: 'hello',
    });
  expect((await verify('file')).code).toBe(0);
  expect((await verify('git')).code).not.toBe(0);
});

/** A disk with no room for the last of what is written is a limit on the size of files. */
test.skipIf(process.platform === 'win32')(
  'setup writes all of its entry or none of it, where the file cannot grow as far',
  async () => {
    const limited = (...argv: readonly string[]): Promise<Ran> =>
      run('sh', ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, command, ...argv, '--yes'], {
        env: { ...environment(), NODE_DISABLE_COMPILE_CACHE: '1' },
      });
    const config = join(home, '.ssh', 'config');
    mkdirSync(dirname(config), { recursive: true });
    // A comment as an older program wrote it, not in UTF-8.
    const before = Buffer.from(`# \xe4${'x'.repeat(1000)}\n`, 'latin1');
    writeFileSync(join(home, 'dotfile'), before);
    symlinkSync(join(home, 'dotfile'), config);
    expect((await limited('ssh', 'setup')).code).not.toBe(0);
    expect(readFileSync(config)).toEqual(before);
    const { entry } = (await keyhearth('ssh', 'setup', '--yes')) as { entry: string };
    expect(readFileSync(join(home, 'dotfile'))).toEqual(Buffer.concat([before, Buffer.from(`\n${entry}`)]));
    rmSync(config);

    const signers = join(service.directory, 'git', 'allowed_signers');
    mkdirSync(dirname(signers), { recursive: true });
    const colleagues = `bob@example.com ${String(lines[0])}\n`.repeat(20).slice(0, 1000);
    writeFileSync(signers, colleagues);
    expect((await limited('git', 'setup', '--key', 'ed', '--email', 'ann@example.com')).code).not.toBe(0);
    expect(readFileSync(signers, 'utf8')).toBe(colleagues);
    rmSync(signers);
  },
);

test('several setups at once each leave their entry, whichever vaults of the user they are of', async () => {
  await using other = await startTestVault({ password });
  const config = join(dirname(other.directory), 'config');
  mkdirSync(join(config, 'keys'), { recursive: true });
  writeFileSync(join(config, 'keys', 'owner.public'), other.key.publicKey);
  writeFileSync(join(config, 'keys', 'owner.private'), other.key.privateKey, { mode: 0o600 });
  const environments = [
    environment(),
    { KEYHEARTH_DATA_DIR: other.directory, KEYHEARTH_CONFIG_DIR: config },
  ] as const;
  for (const argv of [
    ['add', 'laptop'],
    ['on', 'ssh'],
  ]) {
    const ran = await runCommand(['doors', ...argv], { environment: { HOME: home, ...environments[1] } });
    expect(ran.code, ran.stderr).toBe(0);
  }
  const hosts = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
  const file = join(home, '.ssh', 'config');
  // Most turns at losing an entry lose none.
  for (let turn = 0; turn < 3; turn += 1) {
    rmSync(file, { force: true });
    const made = await Promise.all(
      hosts.map((host, index) =>
        run(process.execPath, [command, 'ssh', 'setup', '--host', host, '--yes'], {
          env: environments[index % 2],
        }),
      ),
    );
    expect(made.map(({ code }) => code)).toEqual(hosts.map(() => 0));
    const found = [...readFileSync(file, 'utf8').matchAll(/^Host (.*)$/gm)].map(([, host]) => host);
    expect(found.sort()).toEqual([...hosts].sort());
  }
  expect(readdirSync(join(home, '.ssh')).filter((name) => name.includes('draft'))).toEqual([]);
});

/** The class: git signs as before, or through the vault, and never with the program of one and the key of the other. */
describe.skipIf(process.platform === 'win32')('git setup that is stopped in its middle', () => {
  const settings = ['user.signingKey', 'commit.gpgSign', 'gpg.format', 'gpg.ssh.program', 'tag.gpgSign'];

  /** Sets up a repository whose commits another program signs. @returns its settings before and afterwards. */
  async function setUp(name: string, prepare: (directory: string) => Promise<string>) {
    const cwd = join(home, name);
    mkdirSync(cwd);
    const git = (...argv: readonly string[]) => run('git', argv, { cwd });
    await git('init', '-q');
    await git('config', 'user.email', 'ann@example.com');
    await git('config', 'user.signingKey', 'ABCDEF01');
    await git('config', 'commit.gpgSign', 'true');
    const path = await prepare(cwd);
    const found = () =>
      Promise.all(settings.map(async (each) => (await git('config', '--get-all', each)).out));
    const before = await found();
    const ran = await run(process.execPath, [command, 'git', 'setup', '--key', 'ed', '--yes'], {
      cwd,
      env: { ...environment(), PATH: path },
    });
    return { ran, before, after: await found() };
  }

  /** A PATH whose git does this for one of its calls. */
  function gitThat(cwd: string, call: string, deed: string): string {
    const programs = join(cwd, 'programs');
    mkdirSync(programs);
    const { PATH = '' } = process.env;
    const text = `#!/bin/sh\ncase "$*" in "${call}"*) ${deed};; esac\nPATH='${PATH}' exec git "$@"\n`;
    writeFileSync(join(programs, 'git'), text, { mode: 0o700 });
    return `${programs}:${PATH}`;
  }

  test('by a setting that git refuses: all is as before', async () => {
    const { ran, before, after } = await setUp('refused', (cwd) =>
      Promise.resolve(gitThat(cwd, 'config --local commit.gpgSign', 'exit 4')),
    );
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('git config --local commit.gpgSign true failed');
    expect(after).toEqual(before);
  });

  test('by several values of a setting: all is as before', async () => {
    const { ran, before, after } = await setUp('doubled', async (cwd) => {
      await run('git', ['config', '--add', 'user.signingKey', '99999999'], { cwd });
      return process.env['PATH'] ?? '';
    });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('nothing was changed: git has 2 values of user.signingKey');
    expect(after).toEqual(before);
  });

  test('by a signal: all is set', async () => {
    const { after } = await setUp('signalled', (cwd) =>
      Promise.resolve(gitThat(cwd, 'config --local gpg.ssh.program', 'kill -TERM $PPID')),
    );
    expect(after[0]).toMatch(/^key::ssh-ed25519 /);
    expect(after.slice(1)).toEqual([
      'true\n',
      'ssh\n',
      `${join(service.directory, 'git', 'keyhearth-ssh-sign')}\n`,
      'true\n',
    ]);
  });
});

describe('git', () => {
  let repository = '';
  const git = (...argv: readonly string[]) => run('git', argv, { cwd: repository });

  beforeAll(async () => {
    repository = join(home, 'pump');
    mkdirSync(repository);
    await git('init', '-q', '-b', 'main');
    await git('config', 'user.email', 'ann@example.com');
    await git('config', 'user.name', 'Ann');
    const argv = [command, 'git', 'setup', '--key', 'ed', '--yes', '--json'];
    const ran = await run(process.execPath, argv, { cwd: repository, env: environment() });
    expect(ran.code, ran.err).toBe(0);
  });

  test('signs a commit and a tag, and verifies both', async () => {
    const commit = await git('commit', '-q', '--allow-empty', '-m', 'Fix the pump\n\nIt leaked.');
    expect(commit.code, commit.err).toBe(0);
    const activity = await lastOfProgram();
    expect(originOf(activity)).toMatchObject({ program: 'laptop', branch: 'main' });
    const verified = await git('verify-commit', 'HEAD');
    expect(verified.code, verified.err).toBe(0);
    const described = await root.query('describe_payload', activity.intent['signRawPayloadIntentV2'] as Json);
    expect(described.text).toContain('Sign the commit “Fix the pump”');
    const { activities } = (await keyhearth('activities', 'list', '--limit', '1')) as {
      activities: readonly { summary: string }[];
    };
    expect(activities[0]?.summary).toContain(
      `Sign the commit “Fix the pump”; the request says repository “${repository}”, branch “main”`,
    );
    expect((await git('tag', '-s', '-m', 'First', 'v1')).code).toBe(0);
    expect((await git('verify-tag', 'v1')).code).toBe(0);
  });

  // Programs beside git call it as they call ssh-keygen, which reads its standard input without a file.
  test.each([
    { what: 'no file, and a namespace last', given: ['-f', '../ed.pub', '-n', 'git'], left: 'git.sig' },
    { what: 'no file, and a key last', given: ['-n', 'git', '-f', '../ed.pub'], left: '../ed.pub.sig' },
    { what: 'two files', given: ['-n', 'git', '-f', '../ed.pub', 'one', 'git'], left: 'git.sig' },
    { what: 'another option', given: ['-n', 'git', '-f', '../ed.pub', '-O', 'x', 'git'], left: 'git.sig' },
  ])('a call with $what signs nothing', async ({ given, left }) => {
    const commit = (await git('cat-file', 'commit', 'HEAD')).out;
    for (const name of ['one', 'git']) writeFileSync(join(repository, name), commit);
    const launcher = join(service.directory, 'git', 'keyhearth-ssh-sign');
    const before = await lastOfProgram();
    const signed = await run(launcher, ['-Y', 'sign', ...given], { cwd: repository, input: 'hello' });
    expect(signed.code).toBe(2);
    expect(existsSync(join(repository, left))).toBe(false);
    expect(await lastOfProgram()).toEqual(before);
  });

  test('a policy on the subject holds, and one denied commit leaves none', async () => {
    const { policyId } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'No drafts',
        effect: 'EFFECT_DENY',
        condition: "git.subject == 'draft' || git.repository == 'nowhere'",
        consensus: '',
        notes: '',
      }),
    ) as unknown as { policyId: string };
    const commit = await git('commit', '-q', '--allow-empty', '-m', 'draft');
    activityOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
    expect(commit.code).not.toBe(0);
    expect(commit.err).toContain('denied by the policy "No drafts"');
    expect((await git('log', '--format=%s')).out).toBe('Fix the pump\n');
  });

  test('a push waits for a vote, and goes through with it', async () => {
    await requireConsensus(`${program()} && ${owner()}`);
    const bare = join(home, 'bare.git');
    await git('init', '-q', '--bare', bare);
    const ssh = `ssh -p ${String(port)} -i ${join(home, 'ed.pub')} -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile=${join(home, '.ssh/known_hosts')}`;
    const pushing = run('git', ['push', '-q', `${userInfo().username}@127.0.0.1:${bare}`, 'main'], {
      cwd: repository,
      env: { GIT_SSH_COMMAND: ssh },
    });
    await vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(1);
    }, 20_000);
    const { fingerprint: waiting, status } = await lastOfProgram();
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    activityOf(await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint: waiting }));
    const pushed = await pushing;
    expect(pushed.code, pushed.err).toBe(0);
    expect((await git('--git-dir', bare, 'log', '--format=%s', 'main')).out).toBe('Fix the pump\n');
    expect(service.vault.waiters.size).toBe(0);
    await requireConsensus(program());
  });
});

describe('a client that is none', () => {
  test.each<[string, Uint8Array]>([
    ['an unknown message', framed(Uint8Array.of(99))],
    ['adding a key', framed(Uint8Array.of(17, 0, 0, 0, 0))],
    ['removing all keys', framed(Uint8Array.of(19))],
    ['locking the agent', framed(Uint8Array.of(22, 0, 0, 0, 0))],
    ['a list with something after it', framed(Uint8Array.of(11, 0))],
    ['a request that ends early', framed(Uint8Array.of(13, 0, 0, 0, 9, 1))],
    ['a string longer than its message', framed(Uint8Array.of(13, 255, 255, 255, 255))],
    ['a key of no type', framed(Uint8Array.of(13, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0))],
  ])('gets a failure for %s', async (_, bytes) => {
    expect(await answerTo(bytes)).toBe(5);
  });

  test.each([
    ['no message', framed(new Uint8Array())],
    ['a message beyond the bound', framed(Uint8Array.of(11), longestMessage + 1)],
    ['all that it can send', Buffer.alloc(3 * longestMessage, 1)],
  ])('is cut off for %s', async (_, bytes) => {
    expect(await answerTo(bytes)).toBeUndefined();
  });

  test('a message in single bytes is read', async () => {
    const connection = await connect();
    const answered = new Promise<number | undefined>((resolve) => {
      connection.on('data', (chunk: Buffer) => {
        resolve(chunk[4]);
      });
    });
    for (const byte of framed(Uint8Array.of(11))) connection.write(Uint8Array.of(byte));
    expect(await answered).toBe(12);
    connection.destroy();
  });

  test('1,000 connections at once leave the agent at work, and nothing behind', async () => {
    const connections: Socket[] = [];
    const answered = async (): Promise<Socket> => {
      const connection = await connect();
      connection.write(framed(Uint8Array.of(99)));
      await once(connection, 'data');
      return connection;
    };
    // The system keeps some 500 that were not accepted yet, and refuses more.
    while (connections.length < 1000) {
      connections.push(...(await Promise.all(Array.from({ length: 100 }, answered))));
    }
    expect((await run('ssh-add', ['-L'])).out).toContain(' ed');
    for (const connection of connections) connection.destroy();
    await vi.waitFor(async () => {
      expect(await answerTo(framed(Uint8Array.of(11)))).toBe(12);
    });
    expect(service.vault.waiters.size).toBe(0);
  });
});

test('a key that is not tagged signs nothing, and the log has the refusal', async () => {
  expect(await signWithOther()).toEqual({ code: 255, isSigned: false });
  const refusals = await root.query('list_refusals', {});
  expect(refusals.text).toContain(userId);
});

test('the list of doors tells when a program was last used, and when it ends', async () => {
  await keyhearth('doors', 'add', 'brief', '--expires', '2');
  const { doors } = (await keyhearth('doors', 'list')) as { doors: DoorStatus[] };
  const programs = doors.flatMap((door) => door.programs);
  const [used, brief] = ['laptop', 'brief'].map((name) => programs.find((each) => each.name === name));
  expect(Date.now() - Number(used?.lastUsedAt)).toBeLessThan(10 * 60_000);
  expect(used?.expiresAt).toBeNull();
  expect(brief?.lastUsedAt).toBeNull();
  expect(Number(brief?.expiresAt) - Date.now()).toBeGreaterThan(47 * 3_600_000);
  await keyhearth('doors', 'remove', 'brief', '--yes');
});

test('a locked vault keeps the client waiting until it is unlocked', async () => {
  await service.vault.rpc.lock();
  const listing = run('ssh-add', ['-L']);
  await vi.waitFor(async () => {
    const [door] = await service.vault.rpc.doors();
    expect(door?.programs[0]?.waiting).toBe(1);
  });
  await service.unlock();
  expect((await listing).out).toContain(' ed');
});

test('a program that was revoked is refused, and its socket goes', async () => {
  await keyhearth('doors', 'remove', 'laptop', '--yes');
  expect((await run('ssh-add', ['-L'])).code).toBe(2);
  const users = await root.query('list_users', {});
  expect(users.text).not.toContain(userId);
});

test('a frozen vault refuses at once, and a door that is off has no socket', async () => {
  const made = (await keyhearth('doors', 'add', 'frozen')) as { socket: string };
  await service.vault.rpc.freeze();
  expect((await run('ssh-add', ['-L'], { env: { SSH_AUTH_SOCK: made.socket } })).code).toBe(1);
  await service.unlock();
  await keyhearth('doors', 'off', 'ssh');
  expect(existsSync(made.socket)).toBe(false);
});
