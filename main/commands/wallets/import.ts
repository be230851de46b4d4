/** `keyhearth import`: brings a wallet's mnemonic or a private key into the running vault, encrypted to it. */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { decodeBase58, decodeHex, toHex } from '../../crypto/encodings.ts';
import { sealToPublicKey } from '../../crypto/hpke.ts';
import { checkMnemonic } from '../../crypto/keys/mnemonics.ts';
import { quoted } from '../../lib/errors.ts';
import {
  ofNewWallet,
  placeAccounts,
  readAccount,
  readAddressFormat,
  readCurve,
  usageOf,
} from './account-options.ts';
import { bytesOf, publicKeyHex, VaultApi, activityKind } from '../shared/api.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { canAsk } from '../shared/secrets.ts';
import { addressTable } from '../private-keys/private-keys.ts';
import { accountTable } from './wallets.ts';

export interface ImportWalletOptions {
  readonly name: string;
  readonly account: readonly string[];
  readonly mnemonicFile?: string;
  readonly mnemonicFd?: string;
  readonly passphraseFile?: string;
  readonly passphraseFd?: string;
  readonly apiKey: string;
  readonly json: boolean;
}

export interface ImportPrivateKeyOptions {
  readonly name: string;
  readonly curve: string;
  readonly addressFormat: readonly string[];
  readonly keyFile?: string;
  readonly keyFd?: string;
  readonly apiKey: string;
  readonly json: boolean;
}

const importBundleAnswer = z.object({ importBundle: z.string() });

const initImportWallet = activityKind({
  type: 'ACTIVITY_TYPE_INIT_IMPORT_WALLET',
  result: importBundleAnswer,
});

const importWalletActivity = activityKind({
  type: 'ACTIVITY_TYPE_IMPORT_WALLET',
  result: z.object({ walletId: z.string(), addresses: z.array(z.string()) }),
  options: { 'parameters.walletName': '--name' },
  isOfUseLater: true,
});

const initImportPrivateKey = activityKind({
  type: 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY',
  result: importBundleAnswer,
});

const importPrivateKeyActivity = activityKind({
  type: 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY',
  result: z.object({
    privateKeyId: z.string(),
    addresses: z.array(z.object({ format: z.string(), address: z.string() })),
  }),
  options: { 'parameters.privateKeyName': '--name' },
  isOfUseLater: true,
});

export async function importWallet(config: Config, options: ImportWalletOptions): Promise<void> {
  const accounts = await placeAccounts(options.account.map(readAccount), ofNewWallet);
  const words = namedSource('--mnemonic', options.mnemonicFile, options.mnemonicFd) ?? standardInput();
  const passphrase = namedSource('--passphrase', options.passphraseFile, options.passphraseFd);
  if (typeof words.from === 'number' && words.from === passphrase?.from) {
    throw new CommandError(
      exitCodes.usage,
      `${words.name} cannot give both mnemonic and passphrase: give one of them as a file`,
    );
  }
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const secret = await readPhrase(words, passphrase);
  const { userId, encryptedBundle } = await encryptFor(
    api,
    (parameters) => api.submit(initImportWallet, parameters),
    secret,
  );
  const { walletId, addresses } = await api.submit(importWalletActivity, {
    userId,
    walletName: options.name,
    encryptedBundle,
    accounts,
  });
  const made = accounts.map(({ curve, path, addressFormat }, index) => ({
    curve,
    path,
    addressFormat,
    address: addresses[index] ?? '',
  }));
  print(options.json, { walletId, walletName: options.name, accounts: made }, [
    `Imported wallet ${JSON.stringify(options.name)}: ${walletId}`,
    ...(made.length === 0 ? [] : [accountTable(made)]),
  ]);
}

export async function importPrivateKey(config: Config, options: ImportPrivateKeyOptions): Promise<void> {
  const curve = readCurve('--curve', options.curve);
  const formats = options.addressFormat.map((text) => readAddressFormat('--address-format', text, curve));
  const source = namedSource('--key', options.keyFile, options.keyFd) ?? standardInput();
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const secret = await readPrivateKey(source, curve);
  const { userId, encryptedBundle } = await encryptFor(
    api,
    (parameters) => api.submit(initImportPrivateKey, parameters),
    secret,
  );
  const { privateKeyId, addresses } = await api.submit(importPrivateKeyActivity, {
    userId,
    privateKeyName: options.name,
    encryptedBundle,
    curve,
    addressFormats: formats,
  });
  print(options.json, { privateKeyId, privateKeyName: options.name, curve, addresses }, [
    `Imported private key ${JSON.stringify(options.name)}: ${privateKeyId}`,
    ...(addresses.length === 0 ? [] : [addressTable(addresses)]),
  ]);
}

const whoami = z.object({ userId: z.string() });
const importTarget = z.object({ targetPublic: publicKeyHex, userId: z.string() });

/** Encrypts a secret to a key that the vault makes for it and signs, and wipes it. */
async function encryptFor(
  api: VaultApi,
  init: (parameters: { readonly userId: string }) => Promise<{ readonly importBundle: string }>,
  secret: Uint8Array,
): Promise<{ readonly userId: string; readonly encryptedBundle: string }> {
  try {
    const { userId } = await api.query('whoami', whoami, {});
    const { importBundle } = await init({ userId });
    const target = api.readSigned(importBundle, importTarget);
    if (target.userId !== userId) {
      throw new CommandError(
        exitCodes.failed,
        `the import bundle is for user ${quoted(target.userId)}, expected ${quoted(userId)}: nothing was imported`,
      );
    }
    const { encapsulatedKey, ciphertext } = await sealToPublicKey(bytesOf(target.targetPublic), secret);
    return {
      userId,
      encryptedBundle: JSON.stringify({
        encappedPublic: toHex(encapsulatedKey),
        ciphertext: toHex(ciphertext),
      }),
    };
  } finally {
    secret.fill(0);
  }
}

/** The source of a secret. */
interface Source {
  /** A file, an open descriptor, or a person to be asked. */
  readonly from: { readonly file: string } | number | 'terminal';
  /** For errors. */
  readonly name: string;
}

/** @param option What the names of both options start with. */
function namedSource(
  option: string,
  file: string | undefined,
  descriptor: string | undefined,
): Source | undefined {
  if (file !== undefined) return { from: { file }, name: `${option}-file ${file}` };
  if (descriptor === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(descriptor)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid ${option}-fd ${JSON.stringify(descriptor)}: expected a number`,
    );
  }
  const number = Number(descriptor);
  return number === 0 ? standardInput() : { from: number, name: `${option}-fd ${descriptor}` };
}

/** Nothing typed is echoed: a terminal is asked through a prompt. */
const standardInput = (): Source =>
  process.stdin.isTTY ? { from: 'terminal', name: 'the terminal' } : { from: 0, name: 'standard input' };

/**
 * Reads a wallet's mnemonic and its passphrase, if one is given.
 * @returns them as an import takes them.
 */
async function readPhrase(words: Source, passphraseFrom: Source | undefined): Promise<Uint8Array> {
  const mnemonic = await readText(words, 'mnemonic', (text) => {
    const severalLines = text.trim().includes('\n');
    usageOf(
      () => {
        checkMnemonic(text, `mnemonic from ${words.name}`);
      },
      severalLines ? '; a passphrase is given with --passphrase-file or --passphrase-fd' : '',
    );
    return text.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  });
  if (passphraseFrom === undefined) return new Uint8Array(Buffer.from(mnemonic));
  const passphrase = await readText(passphraseFrom, 'passphrase', (text) => {
    const line = text.replace(/\r?\n$/, '');
    if (line !== '' && !/[\r\n]/.test(line)) return line;
    const lines = line === '' ? 'nothing' : `${String(line.split(/\r\n|\r|\n/).length)} lines`;
    throw new CommandError(
      exitCodes.usage,
      `invalid passphrase from ${passphraseFrom.name}: expected one line, which is taken to the letter; got ${lines}`,
    );
  });
  return new Uint8Array(Buffer.from(`${mnemonic}\n--PASS--\n${passphrase}`));
}

/** Longer than any key in hex, shorter than most in Base58: 64 bytes that do not start with zeros have 86 characters and more. */
const longestHex = 70;

/** @returns 32 bytes. */
function readPrivateKey(source: Source, curve: Curve): Promise<Uint8Array> {
  const field = `key from ${source.name}`;
  return readText(source, 'private key', (text) =>
    usageOf(() => {
      const key = text.trim();
      const isArray = key.startsWith('[');
      const secret =
        isArray || key.length > longestHex
          ? readSolanaKey(field, isArray ? bytesOfArray(field, key) : decodeBase58(field, key, 64), curve)
          : decodeHex(field, key, 32);
      if (curves[curve].isPrivateKey(secret)) return secret;
      throw new CommandError(
        exitCodes.usage,
        `invalid ${field}: expected a private key of ${curve}, got 32 bytes that are none`,
      );
    }),
  );
}

/**
 * Reads a key as Solana's tools write it: the private key and its public key, 32 bytes each.
 * @param pair 64 bytes, wiped.
 */
function readSolanaKey(field: string, pair: Uint8Array, curve: Curve): Uint8Array {
  try {
    if (curve !== 'CURVE_ED25519') {
      throw new CommandError(
        exitCodes.usage,
        `invalid ${field}: Base58 and JSON arrays are for keys of CURVE_ED25519; expected 32 bytes in hex for ${curve}`,
      );
    }
    const secret = pair.slice(0, 32);
    if (toHex(curves[curve].publicKey(secret)) === toHex(pair.subarray(32))) return secret;
    throw new CommandError(
      exitCodes.usage,
      `invalid ${field}: expected 32 bytes of private key and 32 of its public key; got halves that are not of one pair`,
    );
  } finally {
    pair.fill(0);
  }
}

function bytesOfArray(field: string, text: string): Uint8Array {
  const isByte = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
  let array: unknown;
  try {
    array = JSON.parse(text);
  } catch {
    // Its message would quote the text.
  }
  if (Array.isArray(array) && array.length === 64 && array.every(isByte))
    return Uint8Array.from(array as number[]);
  const got = Array.isArray(array) ? `${String(array.length)} elements` : 'text that is not JSON';
  throw new CommandError(
    exitCodes.usage,
    `invalid ${field}: expected a JSON array of 64 numbers from 0 to 255, got ${got}`,
  );
}

/** Reads a secret as text for as long as `use` runs; the bytes it was read into are wiped. */
async function readText<T>({ from, name }: Source, what: string, use: (text: string) => T): Promise<T> {
  if (from === 'terminal') return use(await askFor(what));
  const bytes = readBytes(from, name);
  try {
    if (bytes.length === 0) throw new CommandError(exitCodes.usage, `${name} is empty: expected the ${what}`);
    if (!isUtf8(bytes))
      throw new CommandError(exitCodes.usage, `${name} is not UTF-8: expected the ${what} as text`);
    return use(bytes.toString('utf8'));
  } finally {
    bytes.fill(0);
  }
}

/** More than any of these secrets takes. */
const mostBytes = 16_384;

/** Reads into one buffer, so that nothing is left behind in others. */
function readBytes(from: { readonly file: string } | number, name: string): Buffer {
  const buffer = Buffer.alloc(mostBytes + 1);
  let length = 0;
  try {
    const descriptor = typeof from === 'number' ? from : openSync(from.file, 'r');
    try {
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
      }
    } finally {
      if (typeof from !== 'number') closeSync(descriptor);
    }
  } catch (error) {
    // Windows tells the end of a pipe so.
    if (!(error instanceof Error && 'code' in error && error.code === 'EOF')) {
      buffer.fill(0);
      throw new CommandError(exitCodes.usage, `${name} cannot be read: ${reasonOf(error)}`);
    }
  }
  if (length <= mostBytes) return buffer.subarray(0, length);
  buffer.fill(0);
  throw new CommandError(
    exitCodes.usage,
    `${name} is too long for a secret: expected at most ${String(mostBytes)} bytes`,
  );
}

async function askFor(what: string): Promise<string> {
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      `there is no ${what}: give it as a file, by a file descriptor or on standard input`,
    );
  }
  const { isCancel, password: askHidden } = await import('@clack/prompts');
  const answer = await askHidden({
    message: `The ${what} (not shown)`,
    mask: '',
    // Standard output is for the result.
    output: process.stderr,
    validate: (text) => (text === undefined || text === '' ? `Expected the ${what}` : undefined),
  });
  if (isCancel(answer)) throw new CommandError(exitCodes.failed, 'cancelled: nothing was imported');
  return answer;
}
