/** API key pairs as files: NAME.public and NAME.private, hex, readable by their owner alone. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../files/directories.ts';
import { toHex } from '../../crypto/encodings.ts';
import { generateP256, isP256PrivateKey, p256PublicKey } from '../../crypto/keys/p256.ts';
import { syncDirectory, writeWholeFile } from '../../files/new-files.ts';
import { namingFile } from '../../files/storage-causes.ts';
import { readTextFile } from '../shared/file-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { undisturbed } from '../shared/signals.ts';
import { fields, type Table } from '../shared/table.ts';

/** A P-256 key pair, hex: the private scalar and the compressed public key. */
export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

export interface KeyFiles extends KeyPair {
  readonly publicKeyFile: string;
  readonly privateKeyFile: string;
}

/** The public key and the files, for people. */
export const keyFilesTable = ({ publicKey, publicKeyFile, privateKeyFile }: KeyFiles): Table =>
  fields([
    ['Public key', publicKey],
    ['Files', publicKeyFile],
    ['', privateKeyFile],
  ]);

export function newKeyPair(): KeyPair {
  const pair = generateP256((length) => new Uint8Array(randomBytes(length)));
  return { publicKey: toHex(pair.publicKey), privateKey: toHex(pair.privateKey) };
}

/**
 * @param ofTaken What else an error says of a file that is there already.
 * @throws CommandError when the name is not a file name or is taken: a key is never overwritten.
 */
export function writeKeyFiles(directory: string, name: string, pair: KeyPair, ofTaken = ''): KeyFiles {
  const files = fileNames(directory, name);
  const contents: readonly (readonly [file: string, content: string])[] = [
    [files.privateKeyFile, `${pair.privateKey}\n`],
    [files.publicKeyFile, `${pair.publicKey}\n`],
  ];
  const taken = (file: string): CommandError =>
    new CommandError(
      exitCodes.failed,
      `${file} is there already: it is not overwritten. Move it away, or give the key another name${ofTaken}`,
    );
  for (const [file] of contents) {
    const found = lstatSync(file, { throwIfNoEntry: false });
    // One that is empty holds no key: an earlier version left it as it failed.
    if (found?.isFile() === true && found.size === 0) rmSync(file);
    else if (found !== undefined) throw taken(file);
  }
  const written: string[] = [];
  try {
    makeDirectory(directory);
    undisturbed(() => {
      for (const [file, content] of contents) {
        writeWholeFile(file, content);
        written.push(file);
      }
    });
    syncDirectory(directory);
  } catch (error) {
    // Half a pair is of no use, and would stand in the way of the next.
    for (const file of written) rmSync(file, { force: true });
    // Another command made it in the same moment.
    if (isTaken(error)) {
      throw taken(written.length === 0 ? files.privateKeyFile : files.publicKeyFile);
    }
    throw namingFile(error, directory);
  }
  return { ...pair, ...files };
}

const isTaken = (error: unknown): boolean => {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'EEXIST' && syscall === 'link';
};

/** @throws CommandError when the files are missing or do not hold a key pair. */
export function readKeyFiles(directory: string, name: string): KeyPair {
  const { publicKeyFile, privateKeyFile } = fileNames(directory, name);
  const publicKey = readHex(publicKeyFile, 66, name);
  const privateKey = readHex(privateKeyFile, 64, name);
  return pairOf(publicKey, privateKey, `${publicKeyFile} and ${privateKeyFile}`);
}

/**
 * Reads `KEYHEARTH_API_KEY`. No error quotes it: what is wrong may be a key.
 * @param value `PUBLIC:PRIVATE` in hex, or the path of a file that holds that, or that holds the private key alone.
 */
export function readKeyValue(value: string): KeyPair {
  const text = keyValue.test(value.trim()) ? value : readValueFile(value);
  const [, publicKey, privateKey = ''] = keyValue.exec(text.trim().toLowerCase()) ?? [];
  if (publicKey !== undefined) return pairOf(publicKey, privateKey, 'KEYHEARTH_API_KEY');
  const scalar = new Uint8Array(Buffer.from(text.trim(), 'hex'));
  if (/^[0-9a-f]{64}$/i.test(text.trim()) && isP256PrivateKey(scalar)) {
    return { publicKey: toHex(p256PublicKey(scalar)), privateKey: toHex(scalar) };
  }
  throw new CommandError(
    exitCodes.usage,
    `the file that KEYHEARTH_API_KEY names holds no P-256 key: ${keyForms}`,
  );
}

const keyValue = /^(0[23][0-9a-f]{64}):([0-9a-f]{64})$/i;
const keyForms =
  'expected PUBLIC:PRIVATE in hex, 66 and 64 digits, or the path of a file with that or with the private key';

function readValueFile(path: string): string {
  try {
    return readTextFile(path, path);
  } catch {
    throw new CommandError(
      exitCodes.usage,
      `KEYHEARTH_API_KEY is neither a key pair nor the path of a file that can be read: ${keyForms}`,
    );
  }
}

/** @param from Where the pair stands, for errors. */
export function pairOf(publicKey: string, privateKey: string, from: string): KeyPair {
  const scalar = new Uint8Array(Buffer.from(privateKey, 'hex'));
  if (!isP256PrivateKey(scalar) || toHex(p256PublicKey(scalar)) !== publicKey) {
    throw new CommandError(
      exitCodes.failed,
      `${from} ${from.includes(' and ') ? 'are' : 'is'} not of one key pair`,
    );
  }
  return { publicKey, privateKey };
}

const isKeyName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);

/** The path of a key's private half. */
export const keyFileOf = (directory: string, name: string): string =>
  fileNames(directory, name).privateKeyFile;

function fileNames(
  directory: string,
  name: string,
): { readonly publicKeyFile: string; readonly privateKeyFile: string } {
  if (!isKeyName(name)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid key name ${JSON.stringify(name)}: expected letters, digits, dots, dashes and underscores, at most 64`,
    );
  }
  return {
    publicKeyFile: join(directory, `${name}.public`),
    privateKeyFile: join(directory, `${name}.private`),
  };
}

/** Deletes the files of a key that opens nothing. */
export function deleteKeyFiles({ publicKeyFile, privateKeyFile }: KeyFiles): void {
  rmSync(privateKeyFile, { force: true });
  rmSync(publicKeyFile, { force: true });
}

/** Deletes the files of that name where they hold one of these keys. Another key of that name stays. */
export function deleteKeyFilesOf(directory: string, name: string, publicKeys: readonly string[]): void {
  if (!isKeyName(name) || !existsSync(keyFileOf(directory, name))) return;
  const pair = readKeyFiles(directory, name);
  if (publicKeys.includes(pair.publicKey)) deleteKeyFiles({ ...pair, ...fileNames(directory, name) });
}

export const hasKeyFiles = (directory: string, name: string): boolean => {
  const { publicKeyFile, privateKeyFile } = fileNames(directory, name);
  return existsSync(publicKeyFile) && existsSync(privateKeyFile);
};

/** @returns the pair of that name, with its files. @throws CommandError where there is none. */
export const findKeyFiles = (directory: string, name: string): KeyFiles => ({
  ...readKeyFiles(directory, name),
  ...fileNames(directory, name),
});

function readHex(file: string, length: number, name: string): string {
  if (!existsSync(file)) {
    throw new CommandError(
      exitCodes.failed,
      `${file} does not exist: create a key with \`keyhearth keygen --name ${name} --register\``,
    );
  }
  const text = readTextFile(file, file, exitCodes.failed).trim().toLowerCase();
  if (text.length !== length || !/^[0-9a-f]+$/.test(text)) {
    throw new CommandError(
      exitCodes.failed,
      `${file} does not hold a P-256 key: expected ${String(length)} hex digits`,
    );
  }
  return text;
}
