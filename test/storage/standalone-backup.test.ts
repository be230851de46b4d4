/** The program that opens backups without Keyhearth: copied to a directory of its own, with nothing else there. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import { wordlists } from 'bip39';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derivePrivateKey } from '../../main/crypto/keys/derivation.ts';
import { curves } from '../../main/crypto/keys/curves.ts';
import { encodeAddress } from '../../main/chains/addresses/addresses.ts';
import { seedFromMnemonic } from '../../main/crypto/keys/mnemonics.ts';
import { toHex } from '../../main/crypto/encodings.ts';
import { newWallet, resultOf, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { TestVault } from '../support/support.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../main/standalone');
const password = 'Jürgen’s pässwörd';

let vault: TestVault;
let place: ReturnType<typeof temporaryDirectory>;
let backup: string;
let ethereum: string;
let publicKey: string;

beforeAll(async () => {
  vault = await startTestVault({ password });
  place = temporaryDirectory();
  ({ ethereum } = await newWallet(vault.root, 'Savings'));
  const privateKeys = [
    {
      privateKeyName: 'Validator',
      curve: 'CURVE_ED25519',
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_COMPRESSED'],
    },
  ];
  const made = resultOf(
    await vault.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys }),
  );
  publicKey = made.privateKeys[0]?.addresses[0]?.address ?? '';
  backup = join(place.path, 'b.backup');
  await vault.vault.rpc.backUp({ file: backup });
  mkdirSync(join(place.path, 'program'));
  for (const name of ['decrypt-backup.mjs', 'bip39-english.txt']) {
    copyFileSync(join(source, name), join(place.path, 'program', name));
  }
  writeFileSync(
    join(place.path, 'phrase'),
    `  ${vault.recoveryPhrase.toUpperCase().replaceAll(' ', '\n')}\n`,
  );
  writeFileSync(join(place.path, 'password'), `${password}\n`);
});
afterAll(async () => {
  place[Symbol.dispose]();
  await vault[Symbol.asyncDispose]();
});

const decrypt = (...argv: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
  run(process.execPath, [join(place.path, 'program/decrypt-backup.mjs'), ...argv], {
    cwd: place.path,
    env: {},
  });

test('its word list is that of BIP-39', () => {
  const words = readFileSync(join(source, 'bip39-english.txt'), 'utf8');
  expect(words).toBe(`${(wordlists['english'] ?? []).join('\n')}\n`);
  expect(words.split('\n')).toHaveLength(2049);
});

describe('decrypt-backup.mjs', () => {
  test.each([
    ['the recovery phrase', '--phrase-file', 'phrase'],
    ['the password', '--password-file', 'password'],
  ])('opens a backup with %s: the database, for its owner alone', async (_what, option, file) => {
    const output = join(place.path, `${file}.db`);
    await decrypt(backup, output, option, file);
    expect(statSync(output).mode & 0o777).toBe(0o600);
    const opened = new Sqlite(output, { readonly: true });
    try {
      expect(opened.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(opened.prepare('SELECT name FROM wallets').pluck().all()).toEqual(['Savings']);
      expect(opened.prepare('SELECT count(*) FROM activities').pluck().get()).toBe(2);
    } finally {
      opened.close();
    }
    expect(readdirSync(place.path).filter((name) => name.startsWith(`${file}.db`))).toEqual([`${file}.db`]);
  });

  test('writes the keys themselves where they are asked for', async () => {
    const output = join(place.path, 'all.db');
    await decrypt(backup, output, '--phrase-file', 'phrase', '--secrets');
    const file = `${output}.secrets.json`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { wallets, privateKeys } = JSON.parse(readFileSync(file, 'utf8')) as {
      wallets: { name: string; mnemonic: string; accounts: { address: string; path: string }[] }[];
      privateKeys: { name: string; publicKey: string; privateKey: string }[];
    };
    const [wallet] = wallets;
    expect(wallet).toMatchObject({ name: 'Savings', passphrase: '', accounts: [{ address: ethereum }, {}] });
    const secret = derivePrivateKey(
      'CURVE_SECP256K1',
      seedFromMnemonic(wallet?.mnemonic ?? ''),
      wallet?.accounts[0]?.path ?? '',
    );
    expect(
      encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', curves.CURVE_SECP256K1.publicKey(secret)),
    ).toBe(ethereum);
    const [key] = privateKeys;
    expect(key).toMatchObject({ name: 'Validator', publicKey });
    const bytes = new Uint8Array(Buffer.from(key?.privateKey ?? '', 'hex'));
    expect(toHex(curves.CURVE_ED25519.publicKey(bytes))).toBe(publicKey);
  });

  test.each<[string, () => string[], RegExp]>([
    ['no secret', () => [backup, 'x.db'], /^decrypt-backup: usage: /],
    ['no output', () => [backup, '--phrase-file', 'phrase'], /^decrypt-backup: usage: /],
    ['an output that exists', () => [backup, 'phrase', '--phrase-file', 'phrase'], /phrase exists already/],
    ['a file that is not there', () => ['gone', 'x.db', '--phrase-file', 'phrase'], /ENOENT.*gone/],
    ['no backup', () => ['phrase', 'x.db', '--phrase-file', 'phrase'], /this is no Keyhearth backup/],
    [
      'another password',
      () => [backup, 'x.db', '--password-file', given('other password')],
      /does not open it/,
    ],
    ['a phrase of two words', () => [backup, 'x.db', '--phrase-file', given('abandon art')], /has 2 words/],
    [
      'another phrase',
      () => [backup, 'x.db', '--phrase-file', given(`${'abandon '.repeat(23)}art`)],
      /does not open it/,
    ],
    [
      'a phrase with a wrong word',
      () => [backup, 'x.db', '--phrase-file', given(`${'abandon '.repeat(23)}abandon`)],
      /a word of the phrase is wrong/,
    ],
    [
      'a word that is none',
      () => [backup, 'x.db', '--phrase-file', given(`${'abandon '.repeat(23)}keyhearth`)],
      /word 24 of the phrase is not in the English list/,
    ],
    [
      'a cut backup',
      () => [damaged((bytes) => bytes.subarray(0, -7)), 'x.db', '--phrase-file', 'phrase'],
      /and should have/,
    ],
    [
      'a changed header',
      () => [damaged((bytes) => flipped(bytes, 200)), 'x.db', '--phrase-file', 'phrase'],
      /its header is damaged/,
    ],
    [
      'a slot that asks for days',
      () => [asking({ passes: 2 ** 32 - 1 }, 1), 'x.db', '--password-file', 'password'],
      /more work than those of any vault/,
    ],
    [
      'slots that together ask for hours',
      () => [asking({ memoryKiB: 2 ** 20, passes: 16 }, 500), 'x.db', '--password-file', 'password'],
      /more work than those of any vault/,
    ],
    [
      'slots of which one gives back what the others ask for',
      () => [
        asking({ memoryKiB: 2 ** 20, passes: 16 }, 500, { memoryKiB: -(2 ** 50), passes: 1 }),
        'x.db',
        '--password-file',
        'password',
      ],
      /more work than those of any vault/,
    ],
    [
      // Nothing of an empty database is sealed, so nothing of it would be verified.
      'a header that says the database is empty',
      () => [damaged((bytes) => withHeader(bytes, { size: 0 }, true)), 'x.db', '--phrase-file', 'phrase'],
      /its header is damaged/,
    ],
    [
      'a header without a size',
      () => [damaged((bytes) => withHeader(bytes, { size: '1' })), 'x.db', '--phrase-file', 'phrase'],
      /its header is damaged/,
    ],
    [
      'a header without slots',
      () => [damaged((bytes) => withHeader(bytes, { keyslots: {} })), 'x.db', '--phrase-file', 'phrase'],
      /its header is damaged/,
    ],
    [
      'text that would write on the terminal',
      () => [given('keyhearth-backup 1\r\u001b[2Kx.db:\n'), 'x.db', '--phrase-file', 'phrase'],
      /^decrypt-backup: its format has version 1⟨U\+d⟩⟨U\+1b⟩\[2Kx\.db:, /,
    ],
    [
      'a changed part',
      () => [damaged((bytes) => flipped(bytes, bytes.length - 3000)), 'x.db', '--phrase-file', 'phrase'],
      /part \d of \d is damaged/,
    ],
  ])('refuses %s by name, and writes nothing', async (_what, argv, message) => {
    await expect(decrypt(...argv())).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message) as unknown,
    });
    expect(existsSync(join(place.path, 'x.db'))).toBe(false);
  });
});

function given(text: string): string {
  writeFileSync(join(place.path, 'given'), text);
  return 'given';
}

function damaged(change: (bytes: Buffer) => Uint8Array): string {
  writeFileSync(join(place.path, 'damaged'), change(readFileSync(backup)));
  return 'damaged';
}

type Slot = Readonly<Record<'kind' | 'parameters', string>>;

/** The backup with a header of an attacker's, or its header alone. */
function withHeader(bytes: Buffer, changes: object, alone = false): Buffer {
  const end = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
  const header = JSON.parse(String(bytes.subarray(bytes.indexOf('\n'), end))) as object;
  const line = `${JSON.stringify({ ...header, ...changes })}\n`;
  const title = `keyhearth-backup 1 ${createHash('sha256').update(line).digest('hex')}\n`;
  return Buffer.concat([Buffer.from(title + line), alone ? Buffer.alloc(0) : bytes.subarray(end)]);
}

/** A backup whose password slots cost so much, the last of them something else. */
const asking = (cost: object, count: number, last: object = cost): string =>
  damaged((bytes) => {
    const { keyslots } = JSON.parse(String(bytes).split('\n')[1] ?? '') as { keyslots: readonly Slot[] };
    const [slot] = keyslots.filter(({ kind }) => kind === 'password');
    const costing = (asked: object): object => ({
      ...slot,
      parameters: JSON.stringify({ ...(JSON.parse(slot?.parameters ?? '') as object), ...asked }),
    });
    const slots = [...Array.from({ length: count - 1 }, () => costing(cost)), costing(last)];
    return withHeader(bytes, { keyslots: slots });
  });

const flipped = (bytes: Uint8Array, at: number): Uint8Array => bytes.with(at, (bytes[at] ?? 0) ^ 1);
