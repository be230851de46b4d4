/**
 * Payloads of SSH keys, read from the bytes that are signed. The classes: a fact comes from the signed bytes or from a server's
 * own signature, else it is unknown; bytes that only begin like SSH make every fact unknown; a message counts only if it has
 * the hash that is signed.
 */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { curves } from '../../crypto/keys/curves.ts';
import { sha512 } from '../../crypto/hashes.ts';
import { readSshKeyFile } from '../../lib/key-files/ssh-key-file.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { Writer } from '../description.ts';
import { originLines, type Origin } from '../origin.ts';
import { openPayload } from '../payloads/open.ts';
import { readBinding } from './bindings.ts';
import { encodeSshMessage } from './payloads.ts';
import { encodeSshKey, fingerprint, sshString } from './wire.ts';

const secret = new Uint8Array(32).fill(7);
const key = { curve: 'CURVE_ED25519', publicKey: curves.CURVE_ED25519.publicKey(secret) } as const;
const context: Context = {
  key: { ...key, format: undefined },
  interfaces: { abi: () => undefined, idl: () => undefined },
  ours: () => undefined,
};
const own = encodeSshKey(key);
const hex = (...parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString('hex');
const session = Buffer.alloc(32, 5);

interface Server {
  readonly key: Uint8Array;
  binding(sessionId: Uint8Array, forwards: boolean): string;
}

function newServer(): Server {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const blob = encodeSshKey({ curve: 'CURVE_ED25519', publicKey: Buffer.from(x, 'base64url') });
  return {
    key: blob,
    binding: (sessionId, forwards) => {
      const signature = [sshString('ssh-ed25519'), sshString(sign(null, sessionId, privateKey))];
      return hex(
        sshString(blob),
        sshString(sessionId),
        sshString(Buffer.concat(signature)),
        Uint8Array.of(Number(forwards)),
      );
    },
  };
}

const login = (hostKey?: Uint8Array, signer = own): string =>
  hex(
    sshString(session),
    Uint8Array.of(50),
    ...['git', 'ssh-connection', hostKey ? 'publickey-hostbound-v00@openssh.com' : 'publickey'].map(
      sshString,
    ),
    Uint8Array.of(1),
    sshString('ssh-ed25519'),
    sshString(signer),
    ...(hostKey ? [sshString(hostKey)] : []),
  );

/** @param file In PEM, or Ed25519's in OpenSSH's own format. */
function privateKeyOf(file: Buffer): KeyObject {
  const read = readSshKeyFile(file);
  if (!read.ok || read.key.curve !== 'CURVE_ED25519') return createPrivateKey(file);
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const { secret: d, publicKey: x } = read.key;
  return createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d: text(d), x: text(x) } });
}

function open(payload: string, more: { origin?: Partial<Origin>; message?: Uint8Array } = {}) {
  const { origin, message } = more;
  return openPayload(
    {
      payload,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
      ...(message && { preimage: { bytes: hex(message), hashFunction: 'HASH_FUNCTION_SHA512' } }),
      ...(origin && { origin: { door: 'ssh', program: 'test', ...origin } }),
    },
    context,
    'payload',
  );
}

/** Facts with `unknown` for those that are. */
function factsOf(opened: ReturnType<typeof open>, keyword: 'ssh' | 'git'): unknown {
  const fact = opened.facts()[keyword]?.();
  if (fact instanceof Unknown) return 'unknown';
  return (
    fact &&
    Object.fromEntries(Object.entries(fact).map(([k, v]) => [k, v instanceof Unknown ? 'unknown' : v]))
  );
}

describe('a login', () => {
  const github = newServer();
  const shell = newServer();

  test('names user, server and way, where the client bound its session', () => {
    const opened = open(login(github.key), {
      origin: { bindings: [github.binding(session, false)], host: 'github.com' },
    });
    expect(factsOf(opened, 'ssh')).toEqual({
      purpose: 'LOGIN',
      user: 'git',
      service: 'ssh-connection',
      host_key: fingerprint(github.key),
      host: 'github.com',
      via: [],
      forwarded: false,
    });
    expect(opened.describe().title).toBe('Log in as git; the request says host “github.com”');
  });

  test('that was forwarded says through which server', () => {
    const bindings = [shell.binding(Buffer.alloc(32, 6), true), github.binding(session, false)];
    const opened = open(login(github.key), { origin: { bindings } });
    expect(factsOf(opened, 'ssh')).toMatchObject({ forwarded: true, via: [fingerprint(shell.key)] });
    expect(opened.describe().warnings.join(' ')).toContain('came from another machine');
  });

  test.each<[string, string, readonly string[] | undefined, object]>([
    ['without a binding', login(), undefined, { host_key: 'unknown', forwarded: 'unknown', via: 'unknown' }],
    [
      'whose server is signed alone',
      login(github.key),
      [],
      { host_key: fingerprint(github.key), forwarded: 'unknown' },
    ],
    [
      'of another session',
      login(),
      [github.binding(Buffer.alloc(32, 9), false)],
      { host_key: 'unknown', forwarded: 'unknown' },
    ],
    [
      'bound to another server',
      login(github.key),
      [shell.binding(session, false)],
      { host_key: 'unknown', forwarded: 'unknown' },
    ],
    [
      'whose binding is not signed',
      login(),
      [github.binding(session, false).replace(/..$/, '01'), 'ff'],
      { host_key: 'unknown', forwarded: 'unknown' },
    ],
  ])('%s has unknown facts', (_, payload, bindings, expected) => {
    expect(factsOf(open(payload, { origin: bindings ? { bindings } : {} }), 'ssh')).toMatchObject(expected);
  });

  test('for another key than the one that signs is unknown', () => {
    const { facts, describe } = open(login(undefined, newServer().key));
    expect(facts().ssh?.()).toBeInstanceOf(Unknown);
    expect(describe().unread).toContain('another key');
  });

  test('that is cut anywhere, or longer, is unknown or nothing of SSH, and never a login', () => {
    const whole = login(github.key);
    for (let length = 2; length < whole.length; length += 2) {
      expect(factsOf(open(whole.slice(0, length)), 'ssh')).toSatisfy(
        (fact) => fact === undefined || fact === 'unknown',
      );
    }
    expect(factsOf(open(`${whole}00`), 'ssh')).toBe('unknown');
  });

  test.each(['ed25519', 'rsa', 'ecdsa'] as const)(
    'a server with a certificate over its %s key counts as that key, in the binding and in the login',
    (type) => {
      const directory = mkdtempSync(join(tmpdir(), 'host-keys-'));
      const keygen = (...argv: readonly string[]) =>
        execFileSync('ssh-keygen', ['-q', ...argv], { cwd: directory });
      for (const [name, kind] of [
        ['ca', 'ed25519'],
        ['host', type],
      ] as const) {
        keygen('-t', kind, '-N', '', '-m', 'PEM', '-f', name);
      }
      keygen('-s', 'ca', '-h', '-I', 'server', '-n', 'example.com', 'host.pub');
      const blobOf = (file: string) =>
        Buffer.from(readFileSync(join(directory, file), 'utf8').split(' ')[1] ?? '', 'base64');
      const [plain, certificate] = [blobOf('host.pub'), blobOf('host-cert.pub')];
      const signer = privateKeyOf(readFileSync(join(directory, 'host')));
      rmSync(directory, { recursive: true });
      /** As short as the number is: no zeros before it but the one that keeps it positive. */
      const mpint = (bytes: Uint8Array) => {
        const number = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
        return sshString(Buffer.concat([new Uint8Array((number[0] ?? 0) >= 0x80 ? 1 : 0), number]));
      };
      const scheme = {
        ed25519: { algorithm: 'ssh-ed25519', hash: null },
        rsa: { algorithm: 'rsa-sha2-512', hash: 'sha512' },
        ecdsa: { algorithm: 'ecdsa-sha2-nistp256', hash: 'sha256' },
      }[type];
      const { algorithm, hash } = scheme;
      const signed = () => sign(hash, session, { key: signer, dsaEncoding: 'ieee-p1363' });
      const raws = [signed()];
      // Of ECDSA also one with a number that is shorter than others.
      while (type === 'ecdsa' && raws.at(-1)?.[0] !== 0) raws.splice(1, 1, signed());
      for (const raw of raws) {
        const bytes =
          type === 'ecdsa' ? Buffer.concat([mpint(raw.subarray(0, 32)), mpint(raw.subarray(32))]) : raw;
        const signature = Buffer.concat([sshString(algorithm), sshString(bytes)]);
        const binding = hex(
          ...[sshString(certificate), sshString(session), sshString(signature), Uint8Array.of(0)],
        );
        expect(factsOf(open(login(certificate), { origin: { bindings: [binding] } }), 'ssh')).toMatchObject({
          host_key: fingerprint(plain),
          forwarded: false,
        });
      }
    },
  );

  test.each(['ed25519', 'rsa', 'ecdsa'])(
    'a certificate over a key of %s, which its authority signs, is unknown and not a payload without facts',
    (type) => {
      const directory = mkdtempSync(join(tmpdir(), 'keyhearth-ssh-authority-'));
      try {
        const keygen = (...argv: readonly string[]) => execFileSync('ssh-keygen', argv, { cwd: directory });
        keygen('-q', '-t', 'ed25519', '-N', '', '-f', 'authority');
        keygen('-q', '-t', type, '-N', '', '-f', 'user');
        keygen('-q', '-s', 'authority', '-I', 'id', '-n', 'root', 'user.pub');
        const [, base64 = ''] = readFileSync(join(directory, 'user-cert.pub'), 'utf8').split(' ');
        const certificate = Buffer.from(base64, 'base64');
        // Its last field is the signature: 4 bytes of length, 15 of `ssh-ed25519`, 68 of 64 bytes.
        const { facts, describe } = open(hex(certificate.subarray(0, -(4 + 15 + 68))));
        expect(facts().ssh?.()).toBeInstanceOf(Unknown);
        expect(describe().unread).toContain('certificates are not read');
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  );

  test('a binding with any byte changed does not hold', () => {
    const bytes = Buffer.from(github.binding(session, false), 'hex');
    expect(readBinding(bytes).ok).toBe(true);
    // The last byte says whether the client forwards: the server does not sign it.
    for (let at = 0; at < bytes.length - 1; at += 1) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(readBinding(changed).ok).toBe(false);
    }
  });
});

describe('a signature over a message', () => {
  const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const author = 'Ann <ann@example.com> 1 +0000';
  const commit = Buffer.from(
    `tree ${tree}\nauthor ${author}\ncommitter ${author}\n\nFix the pump\nand its valve\n\nMore.\n`,
  );

  test('names the commit, from the object that is signed', () => {
    const opened = open(hex(encodeSshMessage('git', 'sha512', commit)), {
      message: commit,
      origin: { repository: 'pump', branch: 'main' },
    });
    expect(factsOf(opened, 'ssh')).toEqual({
      purpose: 'SIGNATURE',
      namespace: 'git',
      via: [],
      forwarded: false,
    });
    expect(factsOf(opened, 'git')).toEqual({
      kind: 'commit',
      subject: 'Fix the pump and its valve',
      author,
      repository: 'pump',
      branch: 'main',
    });
    const { title, lines } = opened.describe();
    // The subject is in the signed bytes. Repository and branch are not, and the title says so.
    expect(title).toBe(
      'Sign the commit “Fix the pump and its valve”; the request says repository “pump”, branch “main”',
    );
    expect(lines).toContainEqual({ label: 'Author', value: author });
    const origin = { door: 'ssh', program: 'test', repository: 'pump' };
    expect(originLines(origin, new Writer())).toEqual([
      { label: 'Program, as the request says', value: 'test, through the door ssh' },
      { label: 'Repository, as the request says', value: 'pump' },
    ]);
  });

  test('a subject or a claim with hidden characters, or others that turn the text, is shown with marks', () => {
    const message = Buffer.from(commit.toString().replace('Fix', 'Fix\u202eevil\u0007'));
    const { title, warnings } = open(hex(encodeSshMessage('git', 'sha512', message)), {
      message,
      origin: { repository: 'pump\u200b' },
    }).describe();
    expect(title).toContain('Fix⟨U+202E⟩evil⟨U+0007⟩');
    expect(title).toContain('repository “pump⟨U+200B⟩”');
    expect(warnings.join(' ')).toContain('not visible');
  });

  test('a tag has its name among the lines', () => {
    const tag = Buffer.from(`object ${tree}\ntype commit\ntag v1\ntagger ${author}\n\nFirst\n`);
    const opened = open(hex(encodeSshMessage('git', 'sha512', tag)), { message: tag });
    expect(factsOf(opened, 'git')).toMatchObject({ kind: 'tag', subject: 'First' });
    expect(opened.describe().lines).toContainEqual({ label: 'Tag', value: 'v1' });
  });

  test('with its hash alone has no subject', () => {
    const opened = open(hex(encodeSshMessage('git', 'sha512', commit)));
    expect(factsOf(opened, 'git')).toMatchObject({ kind: 'unknown', subject: 'unknown', author: 'unknown' });
    expect(opened.describe().warnings.join(' ')).toContain('Only a hash of the message came');
  });

  test.each([
    ['no object of git', 'hello'],
    ['a commit without an author', `tree ${tree}\n\nFix\n`],
    [
      'a header in the middle that is none',
      `tree ${tree}\nauthor ${author}\nnothing\ncommitter ${author}\n\nFix\n`,
    ],
    ['an object that names no other', `tree abc\nauthor ${author}\ncommitter ${author}\n\nFix\n`],
  ])('%s has no subject', (_, text) => {
    const message = Buffer.from(text);
    const opened = open(hex(encodeSshMessage('git', 'sha512', message)), { message });
    expect(factsOf(opened, 'git')).toMatchObject({ subject: 'unknown' });
  });

  test('the message of another hash is refused', () => {
    const payload = hex(encodeSshMessage('git', 'sha512', commit));
    expect(() => open(payload, { message: Buffer.concat([commit, Buffer.from('x')]) })).toThrow(
      'parameters.preimage',
    );
    expect(() => open(hex(sha512(commit)), { message: commit })).toThrow('parameters.preimage');
  });

  test('for another purpose is not an object of git', () => {
    const opened = open(hex(encodeSshMessage('file', 'sha512', commit)), { message: commit });
    expect(factsOf(opened, 'git')).toBeUndefined();
    expect(factsOf(opened, 'ssh')).toMatchObject({ namespace: 'file' });
  });

  test('that is cut, or has a field more, is unknown', () => {
    const whole = hex(encodeSshMessage('git', 'sha512', commit));
    for (let length = 12; length < whole.length; length += 2) {
      expect(factsOf(open(whole.slice(0, length)), 'ssh')).toBe('unknown');
    }
    expect(factsOf(open(`${whole}00`), 'ssh')).toBe('unknown');
  });
});
