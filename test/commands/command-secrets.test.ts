/** `keyhearth import` and `keyhearth export`: secrets in and out of a served vault, by the command, as scripts use it. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { decryptExportBundle, generateP256KeyPair } from '@turnkey/crypto';
import { english, generateMnemonic, mnemonicToAccount, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postControl } from '../../main/control/client.ts';
import { listenForControl } from '../../main/control/server.ts';
import {
  newWallet,
  resultOf,
  runCommand,
  send,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import type { CommandOptions, Json, TestKey, TestVault } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

/** A served vault, and the command at work for its owner. */
class Desk implements AsyncDisposable {
  readonly service: TestVault;
  readonly #papers = temporaryDirectory();

  private constructor(service: TestVault) {
    this.service = service;
    this.addKey('owner', service.key);
  }

  static async open(): Promise<Desk> {
    return new Desk(await startTestVault());
  }

  get environment(): Record<string, string> {
    const { directory } = this.service;
    return {
      HOME: this.#papers.path,
      KEYHEARTH_DATA_DIR: directory,
      KEYHEARTH_CONFIG_DIR: join(dirname(directory), 'config'),
    };
  }

  addKey(name: string, { publicKey, privateKey }: TestKey): void {
    const { keysDirectory } = this.service.config;
    mkdirSync(keysDirectory, { recursive: true });
    writeFileSync(join(keysDirectory, `${name}.public`), publicKey);
    writeFileSync(join(keysDirectory, `${name}.private`), privateKey, { mode: 0o600 });
  }

  /** @returns how it ended, what it wrote, its JSON and its error, where they are. */
  async run(argv: readonly string[], options: CommandOptions = {}) {
    const ended = await runCommand(argv, { environment: this.environment, ...options });
    const parse = (text: string): Json => (text.startsWith('{') ? (JSON.parse(text) as Json) : {});
    const { error } = parse(ended.stderr) as { error?: { message: string } };
    return { ...ended, json: parse(ended.stdout), error: error?.message };
  }

  /** A path that nothing is at. */
  path(name: string): string {
    return join(this.#papers.path, name);
  }

  /** A file with a secret in it. */
  paper(text: string | Uint8Array): string {
    const file = this.path(`paper ${String(readdirSync(this.#papers.path).length)}`);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  async wallet(walletName: string): Promise<Json | undefined> {
    const { body } = await this.service.root.query('list_wallets');
    return (body as { wallets: Json[] }).wallets.find((wallet) => wallet['walletName'] === walletName);
  }

  async privateKey(privateKeyName: string): Promise<Json | undefined> {
    const { body } = await this.service.root.query('list_private_keys');
    return (body as { privateKeys: Json[] }).privateKeys.find(
      (key) => key['privateKeyName'] === privateKeyName,
    );
  }

  /** The number of all resources that an import can create. */
  stored(): Json {
    return Object.fromEntries(
      ['wallets', 'wallet_accounts', 'private_keys', 'import_targets'].map((table) => [
        table,
        this.service.vault.connection.all(`SELECT * FROM ${table}`).length,
      ]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#papers[Symbol.dispose]();
    await this.service[Symbol.asyncDispose]();
  }
}

let desk: Desk;
/** A second vault: what goes out of the first comes in here. */
let elsewhere: Desk;

beforeAll(async () => {
  desk = await Desk.open();
  elsewhere = await Desk.open();
});
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});

let names = 0;
const newName = (): string => `Name ${String(++names)}`;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown;

const twelve = `${'abandon '.repeat(11)}about`;
const twentyFour = `${'abandon '.repeat(23)}art`;

/** The addresses that other wallets show for these words. */
const ofTwelve = {
  ethereum: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  bitcoin: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
};
const ofTwentyFour = { ethereum: '0xF278cF59F82eDcf871d630F28EcC8056f25C1cdb' };

const importWallet = (name: string, ...more: string[]): string[] => [
  ...['import', 'wallet', '--json', '--name', name],
  ...more,
];
const importKey = (name: string, curve: string, ...more: string[]): string[] => [
  ...['import', 'private-key', '--json', '--name', name, '--curve', curve],
  ...more,
];

/** The parts that give a secret away: itself, and of a mnemonic any two words that follow each other. */
function partsOf(secret: string): string[] {
  const words = secret.split(' ');
  return [secret, ...words.slice(1).map((word, index) => `${String(words[index])} ${word}`)];
}

/** Nothing of the secrets is in what was written. */
function expectSilence(written: string, ...secrets: readonly string[]): void {
  for (const part of secrets.flatMap(partsOf))
    expect(written.toLowerCase()).not.toContain(part.toLowerCase());
}

/** A run that shows nothing of a secret, with any outcome. */
async function quietly(secret: string, argv: readonly string[], options: CommandOptions = {}) {
  const ended = await desk.run(argv, options);
  expectSilence(`${ended.stdout}${ended.stderr}`, secret);
  return ended;
}

describe('a mnemonic', () => {
  test('of 12 words comes from standard input and has the addresses that it has everywhere', async () => {
    const name = newName();
    const accounts = ['--account', 'ethereum', '--account', 'bitcoin', '--account', 'solana'];
    const ended = await quietly(twelve, importWallet(name, ...accounts), { input: `${twelve}\n` });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { ethereum, bitcoin, solana } = ofTwelve;
    expect(ended.json).toEqual({
      walletId: uuid,
      walletName: name,
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
          address: ethereum,
        },
        {
          curve: 'CURVE_SECP256K1',
          path: "m/84'/0'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
          address: bitcoin,
        },
        {
          curve: 'CURVE_ED25519',
          path: "m/44'/501'/0'/0'",
          addressFormat: 'ADDRESS_FORMAT_SOLANA',
          address: solana,
        },
      ],
    });
    expect(await desk.wallet(name)).toMatchObject({ imported: true, exported: false });
    expect((await desk.run(['export', 'wallet', name])).stdout).toBe(`${twelve}\n`);
    expect(await desk.wallet(name)).toMatchObject({ imported: true, exported: true });
  });

  test('of 24 words comes from a file, untidy, and goes out tidy', async () => {
    const name = newName();
    const file = desk.paper(`\n ${twentyFour.toUpperCase().replaceAll(' ', ' \r\n')}\t`);
    const argv = importWallet(name, '--account', 'ethereum', '--mnemonic-file', file);
    const { code, json } = await quietly(twentyFour, argv);
    expect(code).toBe(0);
    expect(json['accounts']).toMatchObject([{ address: ofTwentyFour.ethereum }]);
    expect((await desk.run(['export', 'wallet', name])).stdout).toBe(`${twentyFour}\n`);
  });

  test('comes from a file descriptor, and says to a person what was made of it', async () => {
    const mnemonic = generateMnemonic(english);
    const name = newName();
    const argv = ['import', 'wallet', '--name', name, '--account', 'ethereum', '--mnemonic-fd', '3'];
    const { code, stdout, stderr } = await quietly(mnemonic, argv, { descriptor3: mnemonic });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const id = String((await desk.wallet(name))?.['walletId']);
    const { address } = mnemonicToAccount(mnemonic);
    expect(stdout).toBe(
      `Imported wallet "${name}": ${id}\nFormat    Address                                     Path\nethereum  ${address}  m/44'/60'/0'/0/0\n`,
    );
  });

  test('needs no account, and takes any that the API has', async () => {
    const mnemonic = generateMnemonic(english);
    const bare = await quietly(mnemonic, importWallet(newName()), { input: mnemonic });
    expect(bare).toMatchObject({ code: 0, json: { accounts: [] } });

    const other = generateMnemonic(english);
    const accounts = [
      "secp256k1:m/44'/60'/0'/0/7:ethereum",
      'CURVE_SECP256K1:m/44h/60h/0h/0/8:ADDRESS_FORMAT_ETHEREUM',
      'bitcoin-testnet',
      'bitcoin-signet',
      'bitcoin-regtest',
      'bitcoin-taproot',
      'tron',
      'ton-v4r2',
      "p256:m/0'/1:compressed",
      "ed25519:m/44'/501'/3'/0':compressed",
    ];
    const argv = importWallet(newName(), ...accounts.flatMap((account) => ['--account', account]));
    const { code, json } = await quietly(other, argv, { input: other });
    expect(code).toBe(0);
    const ethereum = (addressIndex: number) => mnemonicToAccount(other, { addressIndex }).address;
    expect(json['accounts']).toMatchObject([
      { path: "m/44'/60'/0'/0/7", address: ethereum(7) },
      { path: "m/44'/60'/0'/0/8", address: ethereum(8) },
      { address: expect.stringMatching(/^tb1q/) as unknown },
      { address: expect.stringMatching(/^tb1q/) as unknown },
      { address: expect.stringMatching(/^bcrt1q/) as unknown },
      { path: "m/86'/0'/0'/0/0", address: expect.stringMatching(/^bc1p/) as unknown },
      { path: "m/44'/195'/0'", address: expect.stringMatching(/^T/) as unknown },
      { path: "m/44'/607'/0'/0'/0'", address: expect.stringMatching(/^UQ/) as unknown },
      { curve: 'CURVE_P256', address: expect.stringMatching(/^0[23][0-9a-f]{64}$/) as unknown },
      { curve: 'CURVE_ED25519', address: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
    ]);
  });

  test('is imported beside others at the same time', async () => {
    const imports = Array.from({ length: 4 }, () => [newName(), generateMnemonic(english)] as const);
    const ended = await Promise.all(
      imports.map(([name, mnemonic]) => quietly(mnemonic, importWallet(name), { input: mnemonic })),
    );
    expect(ended.map(({ code, stderr }) => `${String(code)} ${stderr}`)).toEqual(imports.map(() => '0 '));
  });

  test('is imported once', async () => {
    const mnemonic = generateMnemonic(english);
    const name = newName();
    expect(await desk.run(importWallet(name), { input: mnemonic })).toMatchObject({ code: 0 });
    const again = await quietly(mnemonic, importWallet(newName()), { input: mnemonic });
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.error).toMatch(/^seed for wallet [0-9a-f-]{36} already imported in this organization$/);
    const taken = await desk.run(importWallet(name), { input: generateMnemonic(english) });
    expect(taken).toMatchObject({
      code: 1,
      error: `invalid --name: wallet name must be unique, "${name}" is taken`,
    });
  });
});

describe('a passphrase', () => {
  test.each(['TREZOR', ' Open Sesame ', 'pässwörd 密码 🗝'])(
    '%j comes with the words, makes other addresses, and goes out with them',
    async (passphrase) => {
      const mnemonic = generateMnemonic(english);
      const name = newName();
      const given = ['--account', 'ethereum', '--passphrase-file', desk.paper(`${passphrase}\n`)];
      const { code, json } = await quietly(mnemonic, importWallet(name, ...given), { input: mnemonic });
      expect(code).toBe(0);
      const { address } = mnemonicToAccount(mnemonic, { passphrase });
      expect(json['accounts']).toMatchObject([{ address }]);

      const shown = await desk.run(['export', 'wallet', name]);
      expect(shown.stdout).toBe(`${mnemonic}\n${passphrase}\n`);
      expect(shown.stderr).toBe(
        "The first line is the seed phrase; what follows it is the wallet's BIP-39 passphrase.\n",
      );
      const { secret, passphrase: second } = (await desk.run(['export', 'wallet', name, '--json'])).json;
      expect([secret, second]).toEqual([mnemonic, passphrase]);

      const words = elsewhere.paper(secret as string);
      const argv = ['--account', 'ethereum', '--mnemonic-file', words, '--passphrase-fd', '3'];
      const there = await elsewhere.run(importWallet(name, ...argv), { descriptor3: second as string });
      expect(there).toMatchObject({ code: 0, json: { accounts: [{ address }] } });
    },
  );

  test('does not come from where the mnemonic comes from', async () => {
    const before = desk.stored();
    for (const argv of [
      ['--passphrase-fd', '0'],
      ['--mnemonic-fd', '3', '--passphrase-fd', '3'],
    ]) {
      const ended = await quietly(twelve, importWallet(newName(), ...argv), {
        input: twelve,
        descriptor3: twelve,
      });
      expect(ended.code).toBe(2);
      expect(ended.error).toMatch(
        /^(standard input|--mnemonic-fd 3) cannot give both seed phrase and passphrase: give one of them as a file$/,
      );
    }
    expect(desk.stored()).toEqual(before);
  });

  test.each([
    ['', / is empty: expected the passphrase$/],
    ['\n', /expected one line, which is taken to the letter; got nothing$/],
    ['Sesame\nStreet\n', /expected one line, which is taken to the letter; got 2 lines$/],
    [Uint8Array.of(0xff, 0xfe), / is not UTF-8: expected the passphrase as text$/],
  ])('%j is none', async (text, message) => {
    const argv = importWallet(newName(), '--passphrase-file', desk.paper(text));
    const ended = await quietly(twelve, argv, { input: twelve });
    expectSilence(ended.stderr, 'Sesame', 'Street');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.error).toMatch(message);
  });
});

describe('a private key', () => {
  const curves = {
    secp256k1: {
      format: 'ethereum',
      address: (secret: Uint8Array): string => privateKeyToAddress(`0x${hex(secret)}`),
    },
    ed25519: {
      format: 'solana',
      address: (secret: Uint8Array): string => base58.encode(ed25519.getPublicKey(secret)),
    },
  } as const;
  type CurveName = keyof typeof curves;

  /** The private key and its public key, as Solana's tools keep them. */
  const pairOf = (secret: Uint8Array): Uint8Array =>
    new Uint8Array(Buffer.concat([secret, ed25519.getPublicKey(secret)]));

  const written: [string, CurveName, (secret: Uint8Array) => string][] = [
    ['hex', 'secp256k1', hex],
    ['hex with 0x, in capitals', 'secp256k1', (secret) => `0x${hex(secret).toUpperCase()}`],
    ['hex', 'ed25519', hex],
    ['Base58', 'ed25519', (secret) => base58.encode(pairOf(secret))],
    ['a JSON array', 'ed25519', (secret) => `[ ${pairOf(secret).join(', ')} ]`],
  ];

  test.each(written)('in %s, of %s, comes in and goes out', async (_form, curve, write) => {
    const secret = ed25519.utils.randomSecretKey();
    const name = newName();
    const { format, address } = curves[curve];
    const argv = importKey(name, curve, '--address-format', format, '--address-format', 'compressed');
    const text = write(secret);
    const ended = await quietly(text, argv, { input: `${text}\n` });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const key = await desk.privateKey(name);
    expect(key).toMatchObject({ imported: true, exported: false });
    const curveName = `CURVE_${curve.toUpperCase()}`;
    expect(ended.json).toEqual({
      privateKeyId: key?.['privateKeyId'],
      privateKeyName: name,
      curve: curveName,
      addresses: [
        { format: `ADDRESS_FORMAT_${format.toUpperCase()}`, address: address(secret) },
        { format: 'ADDRESS_FORMAT_COMPRESSED', address: key?.['publicKey'] },
      ],
    });

    const out = await desk.run(['export', 'private-key', name, '--json']);
    expect(out).toMatchObject({ code: 0, stderr: '' });
    expect(out.json).toEqual({
      privateKeyId: key?.['privateKeyId'],
      privateKeyName: name,
      curve: curveName,
      publicKey: key?.['publicKey'],
      format: 'hex',
      secret: hex(secret),
    });
    expect(await desk.privateKey(name)).toMatchObject({ imported: true, exported: true });
  });

  test('goes from vault to vault in each form that its curve has', async () => {
    const secret = ed25519.utils.randomSecretKey();
    const name = newName();
    await desk.run(importKey(name, 'ed25519'), { input: hex(secret) });
    for (const [format, text] of [
      ['hex', hex(secret)],
      ['base58', base58.encode(pairOf(secret))],
      ['bytes', `[${pairOf(secret).join(',')}]`],
    ] as const) {
      const file = desk.path(`${name} ${format}`);
      const argv = ['export', 'private-key', name, '--format', format, '--output', file];
      expect(await quietly(text, argv)).toMatchObject({ code: 0, stderr: '' });
      expect(readFileSync(file, 'utf8')).toBe(`${text}\n`);
      const there = await elsewhere.run(importKey(newName(), 'ed25519', '--key-file', file));
      // The same key a second time is known by its public half.
      expect(there.code, there.stderr).toBe(format === 'hex' ? 0 : 1);
      if (format !== 'hex') expect(there.error).toMatch(/^private key with ID .* already been imported/);
    }
  });

  test('of secp256k1 has no form of Solana’s', async () => {
    const { privateKey } = testPair();
    const name = newName();
    await desk.run(importKey(name, 'secp256k1'), { input: privateKey });
    const refused = await quietly(privateKey, [
      'export',
      'private-key',
      name,
      '--json',
      '--format',
      'base58',
    ]);
    expect(refused).toMatchObject({
      code: 2,
      error: 'invalid --format base58: it is for keys of CURVE_ED25519; expected hex for CURVE_SECP256K1',
    });
    expect(await desk.privateKey(name)).toMatchObject({ exported: false });
    expect(await desk.run(['export', 'private-key', name, '--format', 'wif'])).toMatchObject({ code: 2 });
  });

  const good = hex(new Uint8Array(32).fill(0x3c));
  const pair = pairOf(fromHex(good));
  const spoilt = pair.with(63, (pair.at(63) ?? 0) ^ 1);

  test.each<[string, CurveName, string | Uint8Array, RegExp]>([
    ['31 bytes', 'secp256k1', good.slice(2), /: expected 32 bytes in hex, got 31$/],
    ['33 bytes', 'ed25519', `${good}3c`, /: expected 32 bytes in hex, got 33$/],
    ['half a byte less', 'secp256k1', good.slice(1), /: expected hex of whole bytes, got an odd number of/],
    ['a letter that is no digit', 'secp256k1', good.replace(/3c$/, 'xy'), /: expected hex, got "x" at char/],
    [
      'a key out of range',
      'secp256k1',
      'f'.repeat(64),
      /expected a private key of CURVE_SECP256K1, got 32 b/,
    ],
    ['zero', 'secp256k1', '0'.repeat(64), /expected a private key of CURVE_SECP256K1, got 32 bytes that are/],
    ['nothing', 'ed25519', '', /^standard input is empty: expected the private key$/],
    [
      'Base58 of 32 bytes twice',
      'secp256k1',
      base58.encode(pair),
      /Base58 and JSON arrays are for keys of C/,
    ],
    ['a JSON array', 'secp256k1', `[${pair.join()}]`, /expected 32 bytes in hex for CURVE_SECP256K1$/],
    ['Base58 of other halves', 'ed25519', base58.encode(spoilt), /got halves that are not of one pair$/],
    ['an array of other halves', 'ed25519', `[${spoilt.join()}]`, /got halves that are not of one pair$/],
    [
      'Base58 of 65 bytes',
      'ed25519',
      base58.encode(Buffer.concat([pair, pair.subarray(0, 1)])),
      /expected 64 /,
    ],
    [
      'an array of 63',
      'ed25519',
      `[${pair.subarray(1).join()}]`,
      /: expected a JSON array of 64 numbers fro/,
    ],
    [
      'an array of numbers too large',
      'ed25519',
      `[${pair.map(() => 7).join()}]`.replace('7', '256'),
      /64 num/,
    ],
    ['half an array', 'ed25519', `[${pair.join()}`, /from 0 to 255, got text that is not JSON$/],
    [
      'bytes that are no text',
      'ed25519',
      Uint8Array.of(0xff, 0xc0),
      / is not UTF-8: expected the private key as/,
    ],
    ['a large file', 'ed25519', good.repeat(300), / is too long: expected at most 16384 bytes$/],
  ])('is not %s, of %s', async (_what, curve, text, message) => {
    const before = desk.stored();
    const file = desk.paper(text);
    const input = typeof text === 'string' ? text : undefined;
    const argv = importKey(
      newName(),
      curve,
      ...(input === undefined || input.length > 999 ? ['--key-file', file] : []),
    );
    const ended = await desk.run(argv, input === undefined ? {} : { input });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.error).toMatch(message);
    expectSilence(ended.stderr, good.slice(2, 20), base58.encode(pair).slice(0, 20), '60,60', 'xy');
    expect(desk.stored()).toEqual(before);
  });
});

/** A private key of P-256, which is one of secp256k1 too. */
function testPair(): { readonly privateKey: string } {
  const { d = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  return { privateKey: Buffer.from(d, 'base64url').toString('hex') };
}

describe('what goes out', () => {
  let wallet: { walletId: string; ethereum: string; solana: string };
  let mnemonic: string;

  beforeAll(async () => {
    wallet = await newWallet(desk.service.root, 'Savings');
    mnemonic = await take('EXPORT_WALLET', { walletId: wallet.walletId }, 'mnemonic');
  });

  /** As the vendor's library exports. */
  async function take(
    type: string,
    parameters: Json,
    form: 'HEXADECIMAL' | 'SOLANA' | 'mnemonic',
  ): Promise<string> {
    const { service } = desk;
    const { body } = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
    const pair = generateP256KeyPair();
    const answer = await service.root.submit(type.toLowerCase(), type, {
      ...parameters,
      targetPublicKey: pair.publicKeyUncompressed,
    });
    return decryptExportBundle({
      exportBundle: resultOf(answer)['exportBundle'] as string,
      embeddedKey: pair.privateKey,
      organizationId: service.organizationId,
      dangerouslyOverrideSignerPublicKey: body?.['signer'] as string,
      returnMnemonic: form === 'mnemonic',
      ...(form === 'mnemonic' ? {} : { keyFormat: form }),
    });
  }

  test('is what the vendor’s library opens', async () => {
    const { walletId, ethereum, solana } = wallet;
    const secret = async (...argv: string[]) => (await desk.run(['export', ...argv])).stdout.trimEnd();
    expect(await secret('wallet', walletId)).toBe(mnemonic);
    expect(mnemonicToAccount(mnemonic).address).toBe(ethereum);
    const account = (address: string, form: 'HEXADECIMAL' | 'SOLANA') =>
      take('EXPORT_WALLET_ACCOUNT', { address }, form);
    expect(await secret('account', ethereum)).toBe(await account(ethereum, 'HEXADECIMAL'));
    expect(await secret('account', solana)).toBe(await account(solana, 'HEXADECIMAL'));
    expect(await secret('account', solana, '--format', 'base58')).toBe(await account(solana, 'SOLANA'));

    const name = newName();
    const { json } = await desk.run(importKey(name, 'ed25519'), { input: testPair().privateKey });
    const { privateKeyId } = json as { privateKeyId: string };
    for (const [format, form] of [
      ['hex', 'HEXADECIMAL'],
      ['base58', 'SOLANA'],
    ] as const) {
      expect(await secret('private-key', privateKeyId, '--format', format)).toBe(
        await take('EXPORT_PRIVATE_KEY', { privateKeyId }, form),
      );
    }
  });

  test('is named by id or by name, an Ethereum address in any case', async () => {
    for (const wanted of ['Savings', wallet.walletId, wallet.walletId.toUpperCase()]) {
      const { code, json } = await desk.run(['export', 'wallet', wanted, '--json']);
      expect(code).toBe(0);
      expect(json).toEqual({ walletId: wallet.walletId, walletName: 'Savings', secret: mnemonic });
    }
    const { code, json } = await desk.run(['export', 'account', wallet.ethereum.toLowerCase(), '--json']);
    expect(code).toBe(0);
    expect(json).toEqual({
      walletId: wallet.walletId,
      curve: 'CURVE_SECP256K1',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      address: wallet.ethereum,
      format: 'hex',
      secret: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect(privateKeyToAddress(`0x${String(json['secret'])}`)).toBe(wallet.ethereum);
  });

  test('may be an account beyond the first page of them', async () => {
    const accounts = Array.from({ length: 100 }, (_, index) => ({
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: `m/0/${String(index)}`,
      addressFormat: 'ADDRESS_FORMAT_COMPRESSED',
    }));
    const { walletId } = wallet;
    const answer = await desk.service.root.submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', {
      walletId,
      accounts,
    });
    const last = resultOf(answer).addresses.at(-1) ?? '';
    const { code, json } = await desk.run(['export', 'account', last, '--json']);
    expect(code).toBe(0);
    expect(json).toMatchObject({ path: 'm/0/99', address: last });
  });

  test('goes into a file of its owner alone, and is shown nowhere', async () => {
    for (const [extra, said] of [
      [[], (file: string) => `The seed phrase of wallet "Savings" is in ${file}.\n`],
      [
        ['--json'],
        (file: string) =>
          `${JSON.stringify({ walletId: wallet.walletId, walletName: 'Savings', output: file })}\n`,
      ],
    ] as const) {
      const file = desk.path(newName());
      const ended = await quietly(mnemonic, ['export', 'wallet', 'Savings', '--output', file, ...extra]);
      expect(ended).toMatchObject({ code: 0, stderr: '', stdout: said(file) });
      expect(readFileSync(file, 'utf8')).toBe(`${mnemonic}\n`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  });

  test('overwrites nothing, and is not exported then', async () => {
    const { walletName } = await unexported();
    const file = desk.paper('mine');
    const ended = await desk.run(['export', 'wallet', walletName, '--output', file, '--json']);
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      error: `${file} is there already: it is not overwritten`,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    const nowhere = join(desk.path('no such directory'), 'file');
    const missing = await desk.run(['export', 'wallet', walletName, '--output', nowhere, '--json']);
    expect(missing.code).toBe(2);
    expect(missing.error).toMatch(/^--output .*file cannot be created: there is no directory /);
    expect(await desk.wallet(walletName)).toMatchObject({ exported: false });
  });

  test.each([
    [['wallet', 'Spendings'], /^no wallet has the id or the name "Spendings": there are "Name .*$/],
    [['private-key', 'Spendings'], /^no private key has the id or the name "Spendings": there are "Name .*/],
    [
      ['account', '0x00'],
      /^no wallet account has the address "0x00": expected one that list_wallet_accounts/,
    ],
  ])('%j is not there', async (argv, message) => {
    const file = desk.path(newName());
    const ended = await desk.run(['export', ...argv, '--json', '--output', file]);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.error).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });
});

/** A new wallet, of which nothing was handed out. */
async function unexported(): Promise<{ readonly walletId: string; readonly walletName: string }> {
  const walletName = newName();
  return { walletName, ...(await newWallet(desk.service.root, walletName)) };
}

describe('a command line that is wrong', () => {
  const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

  test.each([
    [
      '11 words',
      words.replace('legal ', ''),
      /^invalid seed phrase from standard input: expected 12, .* got 11$/,
    ],
    [
      'a word of its own',
      words.replace('sausage', 'sesamseed'),
      /: word 6 is not in the English word list of BIP-39$/,
    ],
    ['words in another order', `winner ${words.replace('winner ', '')}`, /: the checksum does not match/],
    ['nothing', '', /^standard input is empty: expected the seed phrase$/],
    ['white space', ' \n', /: expected 12, 15, 18, 21 or 24 words, got 0$/],
    [
      'a passphrase on a second line',
      `${words}\nsesamseed\n`,
      /got 13; a passphrase is given with --passphrase-file or --passphrase-fd$/,
    ],
  ])('with %s is refused by what is wrong, never by a word', async (_what, input, message) => {
    const before = desk.stored();
    const ended = await desk.run(importWallet(newName()), { input });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.error).toMatch(message);
    for (const word of new Set([...words.split(' '), 'sesamseed'])) expect(ended.error).not.toContain(word);
    expect(desk.stored()).toEqual(before);
  });

  const anyWallet = importWallet('Any');

  test.each([
    [
      [...anyWallet, '--mnemonic-file', '/no/such'],
      /^--mnemonic-file \/no\/such cannot be read: there is no such file/,
    ],
    [[...anyWallet, '--mnemonic-fd', 'three'], /^invalid --mnemonic-fd "three": expected a number$/],
    [[...anyWallet, '--mnemonic-fd', '99'], /^--mnemonic-fd 99 cannot be read: it is not open/],
    [
      [...anyWallet, '--account', 'litecoin'],
      /^invalid --account "litecoin": expected a chain such as ethereum, .*; `keyhearth docs wallets` lists all address formats/,
    ],
    [[...anyWallet, '--account', 'etherium'], /lists all address formats\. Did you mean "ethereum"\?$/],
    [
      [...anyWallet, '--account', 'p384:m/0:ethereum'],
      /"p384" is not a curve; expected secp256k1, ed25519 or p256$/,
    ],
    [
      [...anyWallet, '--account', 'ed25519:m/0:ethereum'],
      /"ethereum" is not an address format of ed25519; expected one of compressed, solana, sui, aptos, xlm, ton-v3r2, ton-v4r2, ton-v5r1$/,
    ],
    [
      [...anyWallet, '--account', "ed25519:m/44'/501:solana"],
      /^invalid --account "ed25519:m\/44'\/501:solana": component 2 is "501", which is not hardened/,
    ],
    [[...anyWallet, '--account', 'secp256k1:44/0:ethereum'], /expected a path that starts with "m"/],
    [
      importKey('Any', 'p256k1'),
      /^invalid --curve: "p256k1" is not a curve; expected secp256k1, ed25519 or p256\. Did you mean "p256"\?$/,
    ],
    [
      importKey('Any', 'secp256k1', '--address-format', 'solana'),
      /^invalid --address-format: "solana" is not an address format of secp256k1; `keyhearth docs wallets` lists all address formats$/,
    ],
    [[...anyWallet, '--api-key', '../x'], /^invalid key name "..\/x": expected letters, digits/],
  ])('%j exits with 2', async (argv, message) => {
    const ended = await desk.run(argv, { input: twelve });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.error).toMatch(message);
  });

  test.each([
    [['import', 'wallet', '--name', 'Any', 'sesamseed'], /too many arguments: a secret is read from a file/],
    [
      ['import', 'wallet', '--name', 'Any', '--mnemonic', 'sesamseed'],
      /unknown option '--mnemonic': a secret/,
    ],
    [['import', 'wallet', '--name', 'Any', '--mnemonic=sesamseed'], /unknown option '--mnemonic': a secret/],
    [
      ['import', 'private-key', '--name', 'Any', '--curve', 'ed25519', '--key=sesamseed'],
      /unknown option '--key': a secret is read from a file, a file descriptor or standard input alone/,
    ],
    [['import', 'sesamseed'], /Usage: keyhearth import /],
    [['import', '--mnemonic=sesamseed'], /Usage: keyhearth import /],
  ])('%j is not taken, and not repeated', async (argv, message) => {
    const ended = await quietly('sesamseed', argv, { input: twelve });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
  });

  test.each([['--mnemonic'], ['--passphrase'], ['--key']])('%s comes from one source', async (option) => {
    const command = option === '--key' ? importKey('Any', 'ed25519') : anyWallet;
    const { code, stderr } = await desk.run([...command, `${option}-file`, 'a', `${option}-fd`, '3']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot be used with option/);
  });

  test('is explained', async () => {
    for (const argv of [
      ['import', 'wallet'],
      ['import', 'private-key'],
      ['export', 'wallet'],
      ['export', 'account'],
    ]) {
      const { code, stdout } = await runCommand([...argv, '--help']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: keyhearth ${argv.join(' ')} `));
    }
  });
});

describe('a vault that is not ready', () => {
  test('because it is locked ends the command with 5, and nothing is created', async () => {
    const { walletName } = await unexported();
    const file = desk.path(newName());
    const before = desk.stored();
    await desk.service.vault.rpc.lock();
    try {
      for (const argv of [
        importWallet(newName()),
        importKey(newName(), 'ed25519'),
        ['export', 'wallet', walletName, '--json', '--output', file],
      ]) {
        const ended = await quietly(twelve, argv, { input: twelve });
        expect(ended).toMatchObject({
          code: 5,
          stdout: '',
          error: 'the vault is locked: run `keyhearth unlock`',
        });
      }
    } finally {
      await desk.service.unlock();
    }
    expect(existsSync(file)).toBe(false);
    expect(desk.stored()).toEqual(before);
    expect(await desk.wallet(walletName)).toMatchObject({ exported: false });
  });

  test('because it is not running ends the command with 3', async () => {
    const environment = { ...desk.environment, KEYHEARTH_DATA_DIR: desk.path('none') };
    for (const argv of [importWallet('Any'), ['export', 'wallet', 'Savings', '--json']]) {
      const ended = await quietly(twelve, argv, { environment, input: twelve });
      expect(ended.code).toBe(3);
      expect(ended.error).toMatch(/^there is no vault in /);
    }
  });

  test('for this API key ends the command with 1', async () => {
    const { client } = await desk.service.newUser(newName());
    desk.addKey('guest', client.key);
    const { walletName } = await unexported();
    for (const argv of [importWallet(newName()), ['export', 'wallet', walletName, '--json']]) {
      const ended = await quietly(twelve, [...argv, '--api-key', 'guest'], { input: twelve });
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.error).toMatch(/permission|authorized/);
      const none = await quietly(twelve, [...argv, '--api-key', 'none'], { input: twelve });
      expect(none).toMatchObject({ code: 1 });
      expect(none.error).toMatch(/none\.public does not exist: create a key with/);
    }
    expect(await desk.wallet(walletName)).toMatchObject({ exported: false });
  });
});

/** The change that a program on the vault's port makes to an answer; undefined passes it on. */
type Change = (path: string, answer: Json) => Json | string | undefined;

/**
 * Runs the command while another program stands where the vault is looked for, and passes on what it does not change. It knows
 * the secret of the control channel, which no such program does: what is checked beyond that is tried here.
 * @returns how the command ended, and the paths that it asked for.
 */
async function behind(change: Change, argv: readonly string[], options: CommandOptions = {}) {
  const { service } = desk;
  const paths: string[] = [];
  const front = createServer((request, response) => {
    const path = request.url ?? '';
    if (!path.startsWith('/window/')) paths.push(path.replace('/public/v1/', ''));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
      const { method = 'GET' } = request;
      void send(service.url, { method, path, headers, body: Buffer.concat(chunks) }).then((answer) => {
        const changed = answer.body && change(path.replace('/public/v1/', ''), answer.body);
        const text = typeof changed === 'object' ? JSON.stringify(changed) : (changed ?? answer.text);
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
      });
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => front.once('listening', resolve));
  const note = join(service.directory, 'endpoint.json');
  const own = readFileSync(note, 'utf8');
  const endpoint = JSON.parse(own) as { socket: string; nonce: string };
  const { port } = front.address() as AddressInfo;
  using place = temporaryDirectory();
  const channel = await listenForControl({
    ...{ directory: place.path, others: [], secret: endpoint.nonce, left: undefined },
    answer: (request, response) => {
      const { url = '' } = request;
      void text(request).then(async (asked) => {
        const told = await postControl(endpoint, url.slice(1), JSON.parse(asked));
        const changed = change(`/window${url}`, JSON.parse(told.text) as Json);
        const answer = typeof changed === 'object' ? JSON.stringify(changed) : told.text;
        response
          .writeHead(told.status, { 'content-type': 'application/json' })
          .end(answer.replaceAll(service.url, `http://127.0.0.1:${String(port)}`));
      });
    },
  });
  writeFileSync(note, JSON.stringify({ ...endpoint, port, socket: channel?.address }));
  try {
    return { ...(await quietly(twelve, argv, options)), paths };
  } finally {
    writeFileSync(note, own);
    await channel?.close();
    front.close();
  }
}

interface Envelope {
  readonly data: string;
  readonly dataSignature: string;
  readonly enclaveQuorumPublic: string;
}

/** Changes the bundle in the answer to an operation. */
const changeBundle =
  (operation: string, change: (bundle: string) => string): Change =>
  (path, answer) => {
    if (path !== `submit/${operation}`) return undefined;
    const { activity } = structuredClone(answer) as { activity: { result: Record<string, Json> } };
    for (const result of Object.values(activity.result)) {
      for (const name of ['importBundle', 'exportBundle']) {
        if (typeof result[name] === 'string') result[name] = change(result[name]);
      }
    }
    return { activity };
  };

const changeEnvelope =
  (change: (envelope: Envelope) => Partial<Envelope>) =>
  (bundle: string): string => {
    const envelope = JSON.parse(bundle) as Envelope;
    return JSON.stringify({ ...envelope, ...change(envelope) });
  };

/** A key that is not the vault's: it signs whatever the other program makes up. */
function newForger() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return {
    publicKey: `04${hex(Buffer.from(x, 'base64url'))}${hex(Buffer.from(y, 'base64url'))}`,
    sign: (data: string) => sign('sha256', fromHex(data), privateKey).toString('hex'),
  };
}

const withData = ({ data }: Envelope, change: (content: Json) => Json): string => {
  const content = JSON.parse(Buffer.from(data, 'hex').toString('utf8')) as Json;
  return hex(Buffer.from(JSON.stringify(change(content))));
};

describe('another program on the vault’s port', () => {
  const forger = newForger();
  const otherSigner =
    /^what answers at http:\/\/127\.0\.0\.1:\d+ is not the vault in .*: its signer key is "04[0-9a-f]+\.\.\., expected the vault's own, "04[0-9a-f]+\.\.\.$/;

  test('that passes everything on is not noticed', async () => {
    const { walletName } = await unexported();
    const { code, paths } = await behind(() => undefined, ['export', 'wallet', walletName]);
    expect({ code, paths }).toEqual({
      code: 0,
      paths: ['discovery/keys', 'query/list_wallets', 'submit/export_wallet'],
    });
  });

  test('that publishes its own keys is asked for nothing more', async () => {
    const change: Change = (path, answer) =>
      path === 'discovery/keys' ? { ...answer, signer: forger.publicKey } : undefined;
    for (const argv of [importWallet(newName()), ['export', 'wallet', 'Savings', '--json']]) {
      const { code, stdout, error, paths } = await behind(change, argv, { input: twelve });
      expect({ code, stdout, paths }).toEqual({ code: 1, stdout: '', paths: ['discovery/keys'] });
      expect(error).toMatch(otherSigner);
    }
  });

  test.each<[string, (bundle: string) => string, RegExp]>([
    [
      'signed by another, who says so',
      changeEnvelope(({ data }) => ({
        dataSignature: forger.sign(data),
        enclaveQuorumPublic: forger.publicKey,
      })),
      otherSigner,
    ],
    [
      'signed by another in the vault’s name',
      changeEnvelope(({ data }) => ({ dataSignature: forger.sign(data) })),
      /: the signature of its bundle does not hold$/,
    ],
    [
      'changed after it was signed',
      changeEnvelope((envelope) => ({
        data: withData(envelope, ({ ciphertext, ...content }) => ({
          ...content,
          ciphertext: String(ciphertext).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
        })),
      })),
      /: the signature of its bundle does not hold$/,
    ],
    ['that is no bundle', () => '<p>', /: its answer has not the form expected of bundle$/],
    [
      'with no signature',
      changeEnvelope(() => ({ dataSignature: '' })),
      /: its answer has not the form expected of bundle, at dataSignature$/,
    ],
  ])('hands out a secret %s: the file is not written', async (_what, change, message) => {
    const { walletName } = await unexported();
    const file = desk.path(newName());
    const argv = ['export', 'wallet', walletName, '--json', '--output', file];
    const ended = await behind(changeBundle('export_wallet', change), argv);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.error).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });

  test('hands out what was for another: it does not open', async () => {
    const { walletId, walletName } = await unexported();
    const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    const answer = await desk.service.root.submit('export_wallet', 'EXPORT_WALLET', {
      walletId,
      targetPublicKey,
    });
    const older = resultOf(answer)['exportBundle'] as string;
    const ended = await behind(
      changeBundle('export_wallet', () => older),
      ['export', 'wallet', walletName, '--json'],
    );
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.error).toMatch(/it does not open: it was encrypted to another key, or changed on the way$/);
  });

  test.each<[string, (bundle: string) => string, RegExp]>([
    [
      'signed by itself',
      changeEnvelope((envelope) => {
        const data = withData(envelope, (content) => ({
          ...content,
          targetPublic: generateP256KeyPair().publicKeyUncompressed,
        }));
        return { data, dataSignature: forger.sign(data), enclaveQuorumPublic: forger.publicKey };
      }),
      otherSigner,
    ],
    [
      'in place of the vault’s',
      changeEnvelope((envelope) => ({
        data: withData(envelope, (content) => ({
          ...content,
          targetPublic: generateP256KeyPair().publicKeyUncompressed,
        })),
      })),
      /: the signature of its bundle does not hold$/,
    ],
  ])('gives a key %s to encrypt to: nothing is encrypted', async (_what, change, message) => {
    for (const [argv, init, take] of [
      [importWallet(newName()), 'init_import_wallet', 'submit/import_wallet'],
      [importKey(newName(), 'secp256k1'), 'init_import_private_key', 'submit/import_private_key'],
    ] as const) {
      const input = take === 'submit/import_wallet' ? twelve : testPair().privateKey;
      const ended = await behind(changeBundle(init, change), argv, { input });
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.error).toMatch(message);
      expect(ended.paths).toContain(`submit/${init}`);
      expect(ended.paths).not.toContain(take);
    }
  });

  test('gives the key of another user: nothing is encrypted', async () => {
    const { client, userId } = await desk.service.newUser(newName());
    desk.service.vault.connection.run('UPDATE users SET root = 1 WHERE id = ?', userId);
    const answer = await client.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId });
    const theirs = resultOf(answer)['importBundle'] as string;
    const ended = await behind(
      changeBundle('init_import_wallet', () => theirs),
      importWallet(newName()),
      { input: twelve },
    );
    expect(ended).toMatchObject({
      code: 1,
      error: expect.stringContaining(
        `its import bundle is for user "${userId}", expected "${desk.service.rootUserId}"`,
      ) as string,
    });
    expect(ended.paths).not.toContain('submit/import_wallet');
  });

  test('hands out what is signed for another organization: it is not opened', async () => {
    const { walletName } = await unexported();
    const { connection } = desk.service.vault;
    const other = elsewhere.service.organizationId;
    const update = "UPDATE server_keys SET public_key = ? WHERE name = 'signer'";
    const { public_key: own = '' } =
      connection.get<Record<string, string>>("SELECT public_key FROM server_keys WHERE name = 'signer'") ??
      {};
    const change = changeEnvelope((envelope) => {
      const data = withData(envelope, (content) => ({ ...content, organizationId: other }));
      return { data, dataSignature: forger.sign(data) };
    });
    // A signer whose private half is here: it can put its name to anything.
    connection.run(update, forger.publicKey);
    try {
      const argv = ['export', 'wallet', walletName, '--json'];
      const ended = await behind(changeBundle('export_wallet', change), argv);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.error).toMatch(
        new RegExp(`: its bundle is for organization "${other}", expected "${desk.service.organizationId}"$`),
      );
    } finally {
      connection.run(update, own);
    }
  });

  test('answers what no Keyhearth does', async () => {
    const page: Change = (path) => (path === 'query/list_wallets' ? '<html>' : undefined);
    const ended = await behind(page, ['export', 'wallet', 'Savings', '--json']);
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/: its answer has not the form expected of query\/list_wallets$/);
  });
});

test('a vault that is locked in the middle ends the command with 5', async () => {
  const { walletName } = await unexported();
  const unlocked: Change = (path, answer) =>
    path === '/window/status' ? { value: { ...(answer['value'] as Json), state: 'unlocked' } } : undefined;
  const file = desk.path(newName());
  await desk.service.vault.rpc.lock();
  try {
    const ended = await behind(unlocked, ['export', 'wallet', walletName, '--json', '--output', file]);
    expect(ended).toMatchObject({ code: 5, stdout: '' });
    expect(ended.paths).toContain('submit/export_wallet');
  } finally {
    await desk.service.unlock();
  }
  expect(existsSync(file)).toBe(false);
});

test('an activity that waits for others is not a success', async () => {
  const { walletName } = await unexported();
  const waiting: Change = (path, answer) =>
    path === 'submit/export_wallet'
      ? {
          activity: {
            ...(answer['activity'] as Json),
            status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
            result: {},
          },
        }
      : undefined;
  const ended = await behind(waiting, ['export', 'wallet', walletName, '--json']);
  expect(ended).toMatchObject({ code: 6, stdout: '' });
  expect(ended.error).toMatch(
    /^not done yet: activity [0-9a-f-]{36}, fingerprint .*, needs approvals of other users$/m,
  );
  // The bundle would be for a key that is gone with this run.
  expect(ended.error).toMatch(/keyhearth approvals reject [0-9a-f-]{36}$/);
});

const atTerminal = (line: string): Terminal => new Terminal(line, desk.environment);

describe('on a terminal', () => {
  test('a mnemonic and a passphrase are asked for, and not echoed', async () => {
    const mnemonic = generateMnemonic(english);
    const name = newName();
    const result = desk.path(newName());
    await using terminal = atTerminal(
      `import wallet --name '${name}' --account ethereum --passphrase-fd 0 --json > '${result}'`,
    );
    await terminal.type(`${mnemonic}\r`, 'The seed phrase (not shown)');
    await terminal.type('Sesame\r', 'The passphrase (not shown)');
    expect(await terminal.ended(), terminal.shown).toBe(0);
    expectSilence(terminal.shown, mnemonic, 'Sesame');
    const { address } = mnemonicToAccount(mnemonic, { passphrase: 'Sesame' });
    expect(JSON.parse(readFileSync(result, 'utf8'))).toMatchObject({
      walletName: name,
      accounts: [{ address }],
    });
  });

  test('a private key is asked for, and not echoed', async () => {
    const { privateKey } = testPair();
    await using terminal = atTerminal(`import private-key --name '${newName()}' --curve secp256k1`);
    await terminal.type(`${privateKey}\r`, 'The private key (not shown)');
    expect(await terminal.ended(), terminal.shown).toBe(0);
    expectSilence(terminal.shown, privateKey);
  });

  test.each([
    ['a cancelled question', '\u0003'],
    ['no answer but the default', '\r'],
    ['a no', 'n'],
  ])('%s shows nothing, and nothing is exported', async (_what, keys) => {
    const { walletName } = await unexported();
    await using terminal = atTerminal(`export wallet '${walletName}'`);
    await terminal.type(keys, `Show the seed phrase of wallet "${walletName}" on this terminal?`);
    expect(await terminal.ended(), terminal.shown).toBe(1);
    expect(terminal.shown).toContain('keyhearth: cancelled: nothing was exported');
    expect(await desk.wallet(walletName)).toMatchObject({ exported: false });
  });

  test('a yes shows the secret, asked for or given', async () => {
    const { walletId, walletName } = await unexported();
    {
      await using terminal = atTerminal(`export wallet '${walletName}'`);
      await terminal.type('y', `Show the seed phrase of wallet "${walletName}" on this terminal?`);
      expect(await terminal.ended(), terminal.shown).toBe(0);
      const { stdout } = await desk.run(['export', 'wallet', walletId]);
      expect(terminal.shown).toContain(stdout.trimEnd());
    }
    await using terminal = atTerminal(`export wallet '${walletName}' --yes`);
    expect(await terminal.ended(), terminal.shown).toBe(0);
    expect(terminal.shown.trimEnd()).toBe((await desk.run(['export', 'wallet', walletId])).stdout.trimEnd());
  });

  test('without a person to ask, the secret needs a file or --yes', async () => {
    const { walletName } = await unexported();
    await using terminal = atTerminal(`export wallet '${walletName}' < /dev/null`);
    expect(await terminal.ended(), terminal.shown).toBe(2);
    expect(terminal.shown.trimEnd()).toBe(
      `keyhearth: this would show the seed phrase of wallet "${walletName}" on the terminal: expected --yes, or --output with a file for it`,
    );
    const file = desk.path(newName());
    await using other = atTerminal(`export wallet '${walletName}' --output '${file}' < /dev/null`);
    expect(await other.ended(), other.shown).toBe(0);
    expect(existsSync(file)).toBe(true);
  });
});
