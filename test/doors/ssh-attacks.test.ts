/**
 * Attacks on the agent for SSH. The classes: what a connection says never makes a request look nearer than it is; what lies in the
 * place of a socket or a file is not used; a right that ends while a request waits ends the request.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { encodeSshMessage } from '../../main/chains/ssh/payloads.ts';
import { encodeSshKey, fingerprint, sshString } from '../../main/chains/ssh/wire.ts';
import { hostsOf } from '../../main/doors/ssh/known-hosts.ts';
import {
  activityOf,
  resultOf,
  startTestVault,
  type ActivityBody,
  type TestVault,
} from '../support/support.ts';
import {
  ask,
  askToSign,
  makeTaggedKey,
  pairSshProgram,
  signRequest,
  type TaggedKey,
  type TestProgram,
} from '../support/ssh-agent.ts';

let service: TestVault;
let key: TaggedKey;
let laptop: TestProgram;

beforeAll(async () => {
  service = await startTestVault({ password: 'correct horse battery staple' });
  key = await makeTaggedKey(service);
  laptop = await pairSshProgram(service, key, 'laptop');
});
afterAll(() => service[Symbol.asyncDispose]());

const failure = Buffer.from([5]);
const success = Buffer.from([6]);
const isSignature = (answer: Buffer | undefined): boolean => answer?.[0] === 14;

/** A message of ssh-keygen, whose hash alone comes. */
const message = (text: string): Uint8Array =>
  signRequest(key.blob, encodeSshMessage('file', 'sha512', Buffer.from(text)));

interface Host {
  readonly blob: Uint8Array;
  bind(session: Uint8Array, forwards: boolean, signed?: Uint8Array): Uint8Array;
}

function newHost(): Host {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const blob = encodeSshKey({ curve: 'CURVE_ED25519', publicKey: Buffer.from(x, 'base64url') });
  return {
    blob,
    bind: (session, forwards, signed = session) =>
      Buffer.concat([
        Uint8Array.of(27),
        ...['session-bind@openssh.com', blob, session].map(sshString),
        sshString(Buffer.concat([sshString('ssh-ed25519'), sshString(sign(null, signed, privateKey))])),
        Uint8Array.of(Number(forwards)),
      ]),
  };
}

const session = Buffer.alloc(32, 1);
const login = (hostKey: Uint8Array, id = session): Uint8Array =>
  signRequest(
    key.blob,
    Buffer.concat([
      sshString(id),
      Uint8Array.of(50),
      ...['git', 'ssh-connection', 'publickey-hostbound-v00@openssh.com'].map(sshString),
      Uint8Array.of(1),
      ...['ssh-ed25519', key.blob, hostKey].map(sshString),
    ]),
  );

const lastRefusal = async (): Promise<string> => (await service.root.query('list_refusals', {})).text;

describe('session bindings', () => {
  const [github, relay] = [newHost(), newHost()];

  test('a login and a message of this machine are signed', async () => {
    const [bound, signed] = await ask(laptop.socket, github.bind(session, false), login(github.blob));
    expect(bound).toEqual(success);
    expect(isSignature(signed)).toBe(true);
    expect(isSignature((await ask(laptop.socket, message('local')))[0])).toBe(true);
  });

  test.each<[string, readonly Uint8Array[]]>([
    ['forwards', [relay.bind(session, true)]],
    [
      'says that it forwards, with a host key that did not sign',
      [relay.bind(session, true, Buffer.alloc(32, 9))],
    ],
    [
      'has a binding of a host key of another type',
      [
        Buffer.concat([
          Uint8Array.of(27),
          ...[
            'session-bind@openssh.com',
            Buffer.concat([sshString('sk-ssh-ed25519@openssh.com'), sshString('x'), sshString('ssh:')]),
            session,
            'signature',
          ].map(sshString),
          Uint8Array.of(1),
        ]),
      ],
    ],
    ['has a binding that ends early', [relay.bind(session, true).subarray(0, 60)]],
    ['binds itself to another server afterwards', [relay.bind(session, true), github.bind(session, false)]],
  ])('a message on a connection that %s is refused, with a row', async (text, bindings) => {
    const answers = await ask(laptop.socket, ...bindings, message(`remote: ${text}`));
    expect(answers.at(-1)).toEqual(failure);
    expect(await lastRefusal()).toContain(laptop.userId);
  });

  test('a binding of another connection, replayed, opens no login', async () => {
    const other = Buffer.alloc(32, 2);
    const answers = await ask(laptop.socket, github.bind(session, false), login(github.blob, other));
    expect(answers).toEqual([success, failure]);
    // Nor one whose session is that of another server.
    expect(await ask(laptop.socket, relay.bind(session, false), login(github.blob))).toEqual([
      success,
      failure,
    ]);
  });

  test('bindings beyond what OpenSSH keeps, and one beyond its size, end the connection', async () => {
    const many = Array.from({ length: 17 }, (_, index) => relay.bind(Buffer.alloc(32, index), true));
    expect((await ask(laptop.socket, ...many, message('many'))).slice(-2)).toEqual([undefined, undefined]);
    const large = Buffer.concat([github.bind(session, false), Buffer.alloc(5000)]);
    expect(await ask(laptop.socket, large, message('large'))).toEqual([undefined, undefined]);
  });

  test('a program that may be forwarded by one server may not by another, nor by a chain with another', async () => {
    const jump = await pairSshProgram(service, key, 'jump', { forwarders: [fingerprint(relay.blob)] });
    const through = async (...hosts: readonly Host[]) => {
      const bindings = hosts.map((host, index) => host.bind(Buffer.alloc(32, 10 + index), true));
      const text = `through ${String(hosts.length)} of ${fingerprint(hosts[0]?.blob ?? new Uint8Array())}`;
      return isSignature((await ask(jump.socket, ...bindings, message(text))).at(-1));
    };
    expect(await through(relay)).toBe(true);
    expect(await through(github)).toBe(false);
    expect(await through(relay, github)).toBe(false);
  });
});

describe('policies bind', () => {
  const [github, relay] = [newHost(), newHost()];
  async function deny(condition: string): Promise<AsyncDisposable> {
    const policy = { policyName: condition, effect: 'EFFECT_DENY', condition, consensus: '', notes: '' };
    const { policyId } = resultOf(
      await service.root.submit('create_policy', 'CREATE_POLICY_V3', policy),
    ) as unknown as { policyId: string };
    return {
      [Symbol.asyncDispose]: async () => {
        resultOf(await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
      },
    };
  }

  test('a program to one server: another server, and one that is not known, get no login', async () => {
    await using _ = await deny(
      `submitter.alias == 'ssh laptop' && ssh.purpose == 'LOGIN' && ssh.host_key != '${fingerprint(github.blob)}'`,
    );
    const logIn = async (host: Host, bound = host) =>
      (await ask(laptop.socket, bound.bind(session, false), login(host.blob))).map((answer) => answer?.[0]);
    expect(await logIn(github)).toEqual([6, 14]);
    expect(await logIn(relay)).toEqual([6, 5]);
    expect(await logIn(relay, github)).toEqual([6, 5]);
    expect(isSignature((await ask(laptop.socket, message('no login')))[0])).toBe(true);
  });

  test('a forwarded request to one key', async () => {
    const jump = await pairSshProgram(service, key, 'one-key', { forwarders: [fingerprint(relay.blob)] });
    const forwarded = async (text: string) =>
      isSignature((await ask(jump.socket, relay.bind(session, true), message(text))).at(-1));
    const rule = (id: string) =>
      `submitter.alias == 'ssh one-key' && ssh.forwarded == true && private_key.id != '${id}'`;
    {
      await using _ = await deny(rule(key.privateKeyId));
      expect(await forwarded('by this key')).toBe(true);
    }
    await using _ = await deny(rule(jump.userId));
    expect(await forwarded('by another key')).toBe(false);
    expect(isSignature((await ask(jump.socket, message('of this machine')))[0])).toBe(true);
  });
});

describe('bytes that are not a payload of SSH', () => {
  test.each<[string, Uint8Array]>([
    [
      'a certificate in the place of the key',
      signRequest(
        Buffer.concat([sshString('ssh-ed25519-cert-v01@openssh.com'), key0()]),
        encodeSshMessage('file', 'sha512', Buffer.from('x')),
      ),
    ],
    ['a transaction', Buffer.from([13])],
  ])('%s is refused', async (_, request) => {
    expect(await ask(laptop.socket, request)).toEqual([failure]);
  });
  function key0(): Uint8Array {
    return sshString(Buffer.alloc(32, 3));
  }

  test('an empty namespace, an unknown hash or a digest of another length is refused', async () => {
    const whole = Buffer.from(encodeSshMessage('file', 'sha512', Buffer.from('x')));
    for (const changed of [
      encodeSshMessage('', 'sha512', Buffer.from('x')),
      Buffer.from(whole.toString('latin1').replace('sha512', 'sha513'), 'latin1'),
      whole.subarray(0, -1),
      Buffer.concat([whole, Uint8Array.of(0)]),
    ]) {
      expect(await ask(laptop.socket, signRequest(key.blob, changed))).toEqual([failure]);
    }
  });
});

describe('a right that ends while a request waits', () => {
  const asked = async (): Promise<ActivityBody | undefined> => {
    const { body = {} } = await service.root.query('list_activities', {
      filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
    });
    return (body['activities'] as readonly ActivityBody[])[0];
  };
  /** Sends a request of a program that asks. @returns it, and the fingerprint that waits. */
  async function waiting(program: TestProgram, text: string) {
    const request = await askToSign(program.socket, key.blob, text);
    await vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(1);
    });
    return { ...request, fingerprint: (await asked())?.fingerprint ?? '' };
  }

  test('by the end date of the program: the vote gives no signature', async () => {
    const ending = await pairSshProgram(service, key, 'ending', { asks: true, seconds: 60 });
    const { answer, fingerprint } = await waiting(ending, 'late');
    service.clock.advance(61_000);
    // The owner's vote still signs: the owner may. The program, which waits, does not get it.
    activityOf(await service.root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
    expect(await answer).toMatchObject({ ok: false });
    const again = await askToSign(ending.socket, key.blob, 'late');
    expect(await again.answer).toMatchObject({ ok: false });
  });

  test.each(['user', 'program', 'door'] as const)(
    'by revoking the %s: the caller gets no signature',
    async (what) => {
      const program = await pairSshProgram(service, key, `revoked-${what}`, { asks: true });
      const { answer, fingerprint } = await waiting(program, `revoked ${what}`);
      if (what === 'user') {
        resultOf(await service.root.submit('delete_users', 'DELETE_USERS', { userIds: [program.userId] }));
      } else if (what === 'program') {
        await service.vault.rpc.changeDoors({ change: 'remove', door: 'ssh', name: `revoked-${what}` });
      } else {
        await service.vault.rpc.changeDoors({ change: 'switch', door: 'ssh', on: false });
      }
      const vote = await service.root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
      // A request of a deleted user is not signed. Without its door it is signed, and no caller can fetch it.
      expect(vote.status).toBe(what === 'user' ? 400 : 200);
      if (what === 'user') {
        await service.vault.rpc.changeDoors({ change: 'remove', door: 'ssh', name: `revoked-${what}` });
      }
      expect(await answer).not.toMatchObject({ ok: true });
      await vi.waitFor(() => {
        expect(service.vault.waiters.size).toBe(0);
      });
      await service.vault.rpc.changeDoors({ change: 'switch', door: 'ssh', on: true });
    },
  );

  test('by the lock of the vault, for a program that is revoked before the unlock', async () => {
    const program = await pairSshProgram(service, key, 'locked-out');
    const { userIds } = { userIds: [program.userId] };
    await service.vault.rpc.lock();
    const { answer } = await askToSign(program.socket, key.blob, 'locked');
    await vi.waitFor(async () => {
      const [door] = await service.vault.rpc.doors();
      expect(door?.programs.find(({ name }) => name === 'locked-out')?.waiting).toBe(1);
    });
    await service.unlock();
    expect(await answer).toMatchObject({ ok: true });
    resultOf(await service.root.submit('delete_users', 'DELETE_USERS', { userIds }));
    const again = await askToSign(program.socket, key.blob, 'locked');
    expect(await again.answer).toMatchObject({ ok: false });
  });
});

describe('what lies in the place of a file', () => {
  test('a link in the place of the socket is replaced, and what it leads to stays', async () => {
    const target = join(dirname(service.directory), 'target');
    writeFileSync(target, 'content', { mode: 0o644 });
    const path = join(service.directory, 'ssh-linked.sock');
    symlinkSync(target, path);
    const { socket } = await pairSshProgram(service, key, 'linked');
    expect(socket).toBe(path);
    expect(lstatSync(path).isSocket()).toBe(true);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(target).mode & 0o777).toBe(0o644);
    expect(isSignature((await ask(socket, message('linked')))[0])).toBe(true);
  });

  test('a directory in its place leaves the program without a socket, and says so', async () => {
    mkdirSync(join(service.directory, 'ssh-blocked.sock'));
    const { socket } = await pairSshProgram(service, key, 'blocked');
    expect(socket).toBe('');
    const [door] = await service.vault.rpc.doors();
    expect(door?.problem).toContain('blocked');
    expect(service.faults.splice(0)).not.toEqual([]);
    await service.vault.rpc.changeDoors({ change: 'remove', door: 'ssh', name: 'blocked' });
    rmSync(join(service.directory, 'ssh-blocked.sock'), { recursive: true });
  });

  test.runIf(process.getuid?.() === 0)(
    'another user cannot connect, also where the directory were open',
    () => {
      const connect = `import socket; socket.socket(socket.AF_UNIX).connect('${laptop.socket}')`;
      const asNobody = () =>
        execFileSync('python3', ['-c', connect], { stdio: 'pipe', uid: 65_534, gid: 65_534 });
      expect(asNobody).toThrow('Permission denied');
      const outer = dirname(service.directory);
      const modes = [outer, service.directory].map((path) => [path, lstatSync(path).mode] as const);
      for (const [path] of modes) chmodSync(path, 0o755);
      try {
        expect(asNobody).toThrow('Permission denied');
      } finally {
        for (const [path, mode] of modes) chmodSync(path, mode);
      }
    },
  );

  test('known hosts that are a pipe, too large, or hold other lines name no host', () => {
    const home = join(dirname(service.directory), 'hosts');
    const file = join(home, '.ssh', 'known_hosts');
    mkdirSync(dirname(file), { recursive: true });
    const { blob } = newHost();
    const line = `ssh-ed25519 ${Buffer.from(blob).toString('base64')}`;
    const written = (text: string): readonly string[] => {
      rmSync(file, { force: true });
      writeFileSync(file, text);
      return hostsOf(blob, home);
    };
    execFileSync('mkfifo', [file]);
    expect(hostsOf(blob, home)).toEqual([]);
    expect(written(`# ${line}\n|1|c2FsdA==|aGFzaA== ${line}\n@revoked gone ${line}\n\n \0 \n`)).toEqual([]);
    expect(written(`${`|1|c2FsdA==|aGFzaA== ${line}\n`.repeat(20_000)}example.com ${line}\n`)).toEqual([]);
    expect(written(`${'a,'.repeat(50)}b ${line}\nexample.com,[example.com]:22 ${line}\n`)).toHaveLength(3);
    expect(existsSync(file)).toBe(true);
  });
});

test('two programs whose names look alike have their own rights, rows and sockets', async () => {
  const [one, other] = [
    await pairSshProgram(service, key, 'modern', { asks: true }),
    await pairSshProgram(service, key, 'modem'),
  ];
  const { answer } = await askToSign(other.socket, key.blob, 'alike');
  expect(await answer).toMatchObject({ ok: true });
  const { body = {} } = await service.root.query('list_activities', { paginationOptions: { limit: '1' } });
  const [newest] = body['activities'] as readonly ActivityBody[];
  expect(newest).toMatchObject({
    intent: { signRawPayloadIntentV2: { origin: { program: 'modem' } } },
    votes: [{ userId: other.userId }],
  });
  expect(one.socket).not.toBe(other.socket);
});
