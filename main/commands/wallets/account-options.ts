/** Accounts, curves and address formats as the command line names them. */
import { addressFormatsOf, type AddressFormat } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { derivePrivateKey, formatPath, parsePath } from '../../crypto/keys/derivation.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import { defaultAccounts, shortFormat, type Account } from './default-accounts.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

/** @param text What `--account` was given: the name of a chain, or a curve, path and address format. */
export function readAccount(text: string): Account {
  const preset = defaultAccounts.get(text);
  if (preset !== undefined) return preset;
  const option = `--account ${quoted(text)}`;
  const [curveName = '', path = '', formatName = '', ...rest] = text.split(':');
  if (formatName === '' || rest.length > 0) {
    throw new CommandError(
      exitCodes.usage,
      `invalid ${option}: expected ${[...defaultAccounts.keys()].join(', ')}, or CURVE:PATH:FORMAT such as secp256k1:m/44'/60'/0'/0/1:ethereum`,
    );
  }
  const curve = readCurve(option, curveName);
  const addressFormat = readAddressFormat(option, formatName, curve);
  return usageOf(() => {
    const indices = parsePath(path, option);
    // Refuses what the curve does not derive, whatever the seed.
    derivePrivateKey(curve, new Uint8Array(64), indices, option).fill(0);
    return { curve, pathFormat: 'PATH_FORMAT_BIP32', path: formatPath(indices), addressFormat };
  });
}

/** @param text The API's name of a curve, or the part of it that tells: `CURVE_ED25519`, `ed25519`. */
export function readCurve(option: string, text: string): Curve {
  const wanted = upperCase(text);
  const known = Object.keys(curves) as Curve[];
  const curve = known.find((name) => name === wanted || name === `CURVE_${wanted}`);
  if (curve !== undefined) return curve;
  const allowed = known.map((name) => name.slice('CURVE_'.length).toLowerCase());
  throw new CommandError(
    exitCodes.usage,
    `invalid ${option}: ${quoted(text)} is no curve; expected ${allowed.slice(0, -1).join(', ')} or ${String(allowed.at(-1))}`,
  );
}

/** @param text As for curves: `ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH`, `bitcoin-mainnet-p2wpkh`. */
export function readAddressFormat(option: string, text: string, curve: Curve): AddressFormat {
  const wanted = upperCase(text);
  const known = addressFormatsOf(curve);
  const format = known.find((name) => name === wanted || name === `ADDRESS_FORMAT_${wanted}`);
  if (format !== undefined) return format;
  const allowed = known.map(shortFormat);
  throw new CommandError(
    exitCodes.usage,
    `invalid ${option}: ${quoted(text)} is no address format of ${curve}; expected one of ${allowed.join(', ')}`,
  );
}

const upperCase = (text: string): string => text.toUpperCase().replaceAll('-', '_');

/** Runs a check of what was given, whose refusal means wrong usage. */
export function usageOf<T>(check: () => T, hint = ''): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    throw new CommandError(exitCodes.usage, `${error.message}${hint}`);
  }
}
