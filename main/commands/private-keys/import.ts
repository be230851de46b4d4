/** `keyhearth import private-key`. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import type { AddressFormat } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { decodeBase58, decodeHex, toHex } from '../../crypto/encodings.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { readAddressFormat, readCurve, usageOf } from '../wallets/account-options.ts';
import { encryptFor, importBundleAnswer } from '../wallets/sealed-import.ts';
import { namedSource, readText, standardInput, type Source } from '../wallets/secret-sources.ts';
import { addressTable } from './private-keys.ts';

export interface ImportPrivateKeyOptions extends ApiOptions {
  readonly name: string;
  readonly curve: string;
  readonly addressFormat: readonly string[];
  readonly keyFile?: string;
  readonly keyFd?: string;
}

const initImportPrivateKey = activityKind({
  type: 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY',
  result: importBundleAnswer,
});

const imported = z.object({
  privateKeyId: z.string(),
  addresses: z.array(z.object({ format: z.string(), address: z.string() })),
});
type Imported = z.output<typeof imported>;

const importPrivateKeyActivity = activityKind({
  type: 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY',
  result: imported,
  options: { 'parameters.privateKeyName': '--name' },
  isOfUseLater: true,
});

export async function importPrivateKey(config: Config, options: ImportPrivateKeyOptions): Promise<void> {
  const curve = readCurve('--curve', options.curve);
  const formats = options.addressFormat.map((text) => readAddressFormat('--address-format', text, curve));
  const source = namedSource('--key', options.keyFile, options.keyFd) ?? standardInput();
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const secret = await readPrivateKey(source, curve);
  const { privateKeyId, addresses } = await sealPrivateKey(api, secret, {
    privateKeyName: options.name,
    curve,
    addressFormats: formats,
  });
  print(options.json, { privateKeyId, privateKeyName: options.name, curve, addresses }, [
    `Imported private key ${JSON.stringify(options.name)}: ${privateKeyId}`,
    ...(addresses.length === 0 ? [] : [addressTable(addresses)]),
  ]);
}

/** Imports a private key, encrypted to the vault. @param secret Erased. */
export async function sealPrivateKey(
  api: VaultApi,
  secret: Uint8Array,
  wanted: {
    readonly privateKeyName: string;
    readonly curve: Curve;
    readonly addressFormats: readonly AddressFormat[];
  },
): Promise<Imported> {
  const { userId, encryptedBundle } = await encryptFor(
    api,
    async (parameters) => (await api.submit(initImportPrivateKey, parameters)).importBundle,
    secret,
  );
  return api.submit(importPrivateKeyActivity, {
    userId,
    encryptedBundle,
    ...wanted,
    addressFormats: [...wanted.addressFormats],
  });
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
