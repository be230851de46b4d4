/**
 * Files that the system's own ssh-keygen wrote, and files that an attacker wrote. The class: whatever the bytes are, the reading
 * ends in bounded time with the file's own key or with a sentence, and a key is never that of another public key.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeSshKey, sshString, sshUint32 } from '../../chains/ssh/wire.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { longestKeyFile, readSshKeyFile, type KeyFileReading } from './ssh-key-file.ts';

const passphrase = 'Größe 7';
const secretOf = (text: string): Uint8Array => new TextEncoder().encode(text);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'key-files-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

let files = 0;
interface Written {
  readonly file: Uint8Array;
  /** The blob of the public key. */
  readonly blob: Uint8Array;
}

/** Has ssh-keygen write a key file. */
function keygen(...argv: readonly string[]): Written {
  files += 1;
  const path = join(directory, String(files));
  execFileSync('ssh-keygen', ['-q', '-a', '2', '-C', 'ann@desk', '-f', path, ...argv], { stdio: 'pipe' });
  return { file: readFileSync(path), blob: blobOf(readFileSync(`${path}.pub`, 'utf8')) };
}

const blobOf = (line: string): Uint8Array => Uint8Array.from(Buffer.from(line.split(' ')[1] ?? '', 'base64'));

/** Expects the key of the public key that ssh-keygen wrote beside it. */
function expectKey(reading: KeyFileReading, blob: Uint8Array): void {
  if (!reading.ok) throw new Error(reading.problem);
  const { curve, secret, publicKey } = reading.key;
  expect(encodeSshKey({ curve, publicKey })).toEqual(blob);
  expect(curves[curve].publicKey(secret)).toEqual(publicKey);
}

const problemOf = (reading: KeyFileReading): string => (reading.ok ? 'a key was read' : reading.problem);

describe('a file of ssh-keygen', () => {
  const types = [['ed25519'], ['ecdsa', '-b', '256']];
  test.each(types)('of the type %s without a passphrase is read, with its comment', (...type) => {
    const { file, blob } = keygen('-N', '', '-t', ...type);
    const reading = readSshKeyFile(file);
    expectKey(reading, blob);
    expect(reading).toMatchObject({ key: { comment: 'ann@desk' } });
  });

  const ciphers = ['aes256-ctr', 'aes256-cbc', 'aes128-ctr', 'aes192-cbc'].concat(
    ['aes256-gcm', 'aes128-gcm', 'chacha20-poly1305'].map((name) => `${name}@openssh.com`),
  );
  test.each(ciphers)('that is encrypted by %s is read with its passphrase alone', (cipher) => {
    const { file, blob } = keygen('-N', passphrase, '-t', 'ed25519', '-Z', cipher);
    expectKey(readSshKeyFile(file, secretOf(passphrase)), blob);
    expect(readSshKeyFile(file)).toMatchObject({ ok: false, kind: 'passphrase needed' });
    expect(readSshKeyFile(file, secretOf(`${passphrase}!`))).toMatchObject({ kind: 'wrong passphrase' });
  });

  test.each(['PEM', 'PKCS8'])('in the format %s is read, plain and encrypted', (format) => {
    const plain = keygen('-N', '', '-t', 'ecdsa', '-m', format);
    expectKey(readSshKeyFile(plain.file), plain.blob);
    const { file, blob } = keygen('-N', passphrase, '-t', 'ecdsa', '-m', format);
    expectKey(readSshKeyFile(file, secretOf(passphrase)), blob);
    expect(readSshKeyFile(file)).toMatchObject({ ok: false, kind: 'passphrase needed' });
    expect(readSshKeyFile(file, secretOf('another'))).toMatchObject({ kind: 'wrong passphrase' });
  });

  test('with the line ends of Windows is read', () => {
    const { file, blob } = keygen('-N', '', '-t', 'ed25519');
    expectKey(readSshKeyFile(Buffer.from(Buffer.from(file).toString().replaceAll('\n', '\r\n'))), blob);
  });

  test.each([
    [['rsa', '-b', '2048'], 'an RSA key'],
    [['rsa', '-b', '2048', '-m', 'PEM'], 'an RSA key'],
    [['rsa', '-b', '2048', '-m', 'PKCS8'], 'an RSA key'],
    [['ecdsa', '-b', '384'], 'on another curve'],
    [['ecdsa', '-b', '521', '-m', 'PEM'], 'on another curve'],
    [['ecdsa', '-b', '384', '-m', 'PKCS8'], 'on another curve'],
  ])('of the type %s is refused before its passphrase is asked for', (type, sentence) => {
    const encrypted = type.includes('-m') ? '' : passphrase;
    expect(problemOf(readSshKeyFile(keygen('-N', encrypted, '-t', ...type).file))).toContain(sentence);
  });

  test('that is a public key or a certificate is refused', () => {
    const { blob } = keygen('-N', '', '-t', 'ed25519');
    const line = `ssh-ed25519 ${Buffer.from(blob).toString('base64')} ann\n`;
    expect(problemOf(readSshKeyFile(Buffer.from(line)))).toContain('public key');
    const certificate = line.replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com');
    expect(problemOf(readSshKeyFile(Buffer.from(certificate)))).toContain('certificate');
  });
});

const seed = new Uint8Array(32).fill(7);
const own = curves.CURVE_ED25519.publicKey(seed);
const other = curves.CURVE_ED25519.publicKey(new Uint8Array(32).fill(8));
const blobOfEd = (key: Uint8Array): Uint8Array =>
  Uint8Array.from(Buffer.concat([sshString('ssh-ed25519'), sshString(key)]));

interface Parts {
  readonly cipher: string;
  readonly derivation: string;
  readonly options: Uint8Array;
  readonly count: number;
  readonly blobs: readonly Uint8Array[];
  readonly checks: readonly number[];
  readonly inner: Uint8Array;
  readonly secret: Uint8Array;
  readonly padding: readonly number[];
  readonly after: Uint8Array;
}

const usual: Parts = {
  cipher: 'none',
  derivation: 'none',
  options: new Uint8Array(),
  count: 1,
  blobs: [blobOfEd(own)],
  checks: [1, 1],
  inner: own,
  secret: Buffer.concat([seed, own]),
  padding: [1, 2, 3, 4],
  after: new Uint8Array(),
};

/** An Ed25519 key as openssh-key-v1 has it, with one part changed. */
function made(changes: Partial<Parts>): Uint8Array {
  const { cipher, derivation, options, count, blobs, checks, inner, secret, padding, after } = {
    ...usual,
    ...changes,
  };
  const plain = Buffer.concat([
    ...checks.map(sshUint32),
    ...[sshString('ssh-ed25519'), sshString(inner), sshString(secret), sshString('me@there!')],
    Uint8Array.from(padding),
  ]);
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[sshString(cipher), sshString(derivation), sshString(options), sshUint32(count)],
    ...[...blobs.map(sshString), sshString(plain), after],
  ]);
  return armored(bytes);
}

const armored = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${Buffer.from(bytes).toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`,
  );

const rounds = (count: number): Uint8Array =>
  Buffer.concat([sshString(new Uint8Array(16)), sshUint32(count)]);
const encrypted = { cipher: 'aes256-ctr', derivation: 'bcrypt' };

describe('a file that an attacker wrote', () => {
  test('begins as one that is read', () => {
    expectKey(readSshKeyFile(made({})), blobOfEd(own));
  });

  test.each<[string, Partial<Parts>, string]>([
    ['two numbers that differ', { checks: [1, 2] }, 'damaged'],
    ['a public key outside that is another one', { blobs: [blobOfEd(other)] }, 'does not belong'],
    ['a public key inside that is another one', { inner: other }, 'does not belong'],
    ['halves that are not of one pair', { secret: Buffer.concat([seed, other]) }, 'does not belong'],
    ['a private key that is too short', { secret: seed, padding: [1, 2, 3, 4] }, 'damaged'],
    ['two keys', { count: 2, blobs: [blobOfEd(own), blobOfEd(other)] }, 'holds 2 keys'],
    ['no key', { count: 0, blobs: [] }, 'holds 0 keys'],
    ['wrong padding', { padding: [1, 2, 4, 4] }, 'damaged'],
    ['a padding of a whole block more', { padding: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }, 'damaged'],
    ['bytes after its end', { after: Uint8Array.of(0) }, 'damaged'],
    ['a billion rounds', { ...encrypted, options: rounds(1_000_000_000) }, 'at most 500'],
    ['the most rounds that fit', { ...encrypted, options: rounds(0xffffffff) }, 'at most 500'],
    ['no rounds', { ...encrypted, options: rounds(0) }, 'damaged'],
    ['a cipher that objects have by nature', { ...encrypted, cipher: 'constructor' }, 'unsupported'],
    ['a cipher without a key', { cipher: 'aes256-ctr' }, 'unknown way'],
    ['a security key', { blobs: [Buffer.from(sshString('sk-ssh-ed25519@openssh.com'))] }, 'security key'],
    ['a certificate', { blobs: [Buffer.from(sshString('ssh-ed25519-cert-v01@openssh.com'))] }, 'certificate'],
  ])('is refused with %s', (_, changes, sentence) => {
    const blocks = made(changes);
    expect(problemOf(readSshKeyFile(blocks, secretOf('secret')))).toContain(sentence);
  });

  test('is refused with a second key after the first', () => {
    const two = Buffer.concat([made({}), made({})]);
    expect(problemOf(readSshKeyFile(two))).toContain('holds 2 keys');
  });

  test.each([
    ['nothing', new Uint8Array()],
    ['noise', Uint8Array.from({ length: 1000 }, (_, index) => (index * 7919) % 256)],
    ['text beside the key', Buffer.concat([Buffer.from('hello\n'), made({})])],
    ['more bytes than a key file has', new Uint8Array(longestKeyFile + 1).fill(45)],
    ['beginnings alone', Buffer.from('-----BEGIN OPENSSH PRIVATE KEY-----\n'.repeat(400))],
    ['a key of PuTTY', Buffer.from('PuTTY-User-Key-File-3: ssh-ed25519\n')],
  ])('is refused with %s', (_, bytes) => {
    expect(readSshKeyFile(bytes)).toMatchObject({ ok: false, kind: 'refused' });
  });

  test.each(['openssh', 'PEM', 'PKCS8'])(
    'in the format %s gives no other key when bytes change',
    (format) => {
      const { file } =
        format === 'openssh'
          ? keygen('-N', '', '-t', 'ed25519')
          : keygen('-N', '', '-t', 'ecdsa', '-m', format);
      const text = Buffer.from(file).toString();
      const [, head = '', body = '', foot = ''] = /^(-+BEGIN.+-\n)([^-]+)(-+END.+)/s.exec(text) ?? [];
      const bytes = Buffer.from(body, 'base64');
      const right = readSshKeyFile(file);
      if (!right.ok) throw new Error(right.problem);
      const read = (changed: Uint8Array): KeyFileReading =>
        readSshKeyFile(Buffer.from(`${head}${Buffer.from(changed).toString('base64')}\n${foot}`));
      let refused = 0;
      for (let index = 0; index < bytes.length; index += 1) {
        expect(read(bytes.subarray(0, index)).ok, `the first ${String(index)} bytes`).toBe(false);
        const changed = Uint8Array.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ 0x41;
        const reading = read(changed);
        // A change of the comment, or of the checked numbers' equals, leaves the key as it is.
        if (reading.ok) expect(reading.key.secret).toEqual(right.key.secret);
        else refused += 1;
      }
      expect(refused).toBeGreaterThan(bytes.length / 2);
    },
  );

  test('leaves the bytes of the file as they are', () => {
    const file = made({});
    const before = Buffer.from(file).toString();
    readSshKeyFile(file);
    expect(Buffer.from(file).toString()).toBe(before);
  });
});
