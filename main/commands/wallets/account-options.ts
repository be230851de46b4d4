/** Accounts, curves and address formats as the command line names them. */
import { addressFormatsOf, type AddressFormat } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { derivePrivateKey, formatPath, parsePath } from '../../crypto/keys/derivation.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import { accountAt, accountSeries, type Account, type AccountSeries } from './default-accounts.ts';
import { formatName, formatOfAlias, shortFormat } from './format-names.ts';
import { anyOf } from '../shared/help.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { didYouMean } from '../shared/suggestions.ts';

/** The choice of `--account`: one account, or the next free one of a series. */
export type AccountChoice = { readonly account: Account } | { readonly nextOf: AccountSeries };

const highestIndex = 2 ** 31 - 1;

/** Address formats that an error lists. */
const mostListed = 10;

const allNames = '`keyhearth docs wallets` lists all address formats';

/** @param text What `--account` was given: a chain, a chain and an index, or a curve, path and address format. */
export function readAccount(text: string): AccountChoice {
  const option = `--account ${quoted(text)}`;
  const [first = '', second = '', formatName = '', ...rest] = text.split(':');
  const series = accountSeries.get(first);
  if (series !== undefined && formatName === '' && rest.length === 0) {
    if (text === first) return { nextOf: series };
    if (/^\d{1,10}$/.test(second) && Number(second) <= highestIndex && text === `${first}:${second}`) {
      return { account: accountAt(series, Number(second)) };
    }
    throw new CommandError(
      exitCodes.usage,
      `invalid ${option}: ${quoted(second)} is not an index; expected a number from 0 to ${String(highestIndex)}`,
    );
  }
  if (formatName === '' || rest.length > 0) {
    throw new CommandError(
      exitCodes.usage,
      `invalid ${option}: expected a chain such as ethereum, one with an index such as ethereum:1, or CURVE:PATH:FORMAT such as secp256k1:m/44'/60'/0'/0/1:ethereum; ${allNames}${didYouMean(first, accountSeries.keys())}`,
    );
  }
  const curve = readCurve(option, first);
  const addressFormat = readAddressFormat(option, formatName, curve);
  return usageOf(() => {
    const indices = parsePath(second, option);
    // Refuses what the curve does not derive, whatever the seed.
    derivePrivateKey(curve, new Uint8Array(64), indices, option).fill(0);
    return { account: { curve, pathFormat: 'PATH_FORMAT_BIP32', path: formatPath(indices), addressFormat } };
  });
}

/** The first free index of a series, from one on. */
export type FreeFrom = (series: AccountSeries, from: number) => number | Promise<number>;

/** A wallet that does not exist yet has no account. */
export const ofNewWallet: FreeFrom = (_, from) => from;

/** Gives every choice its account. Those that are named keep their paths; the others take the free indexes between them. */
export async function placeAccounts(
  choices: readonly AccountChoice[],
  freeFrom: FreeFrom,
): Promise<readonly Account[]> {
  const keyOf = ({ curve, path, addressFormat }: Account): string => [curve, path, addressFormat].join(':');
  const taken = new Set(choices.flatMap((choice) => ('account' in choice ? [keyOf(choice.account)] : [])));
  const placed: Account[] = [];
  for (const choice of choices) {
    if ('account' in choice) {
      placed.push(choice.account);
      continue;
    }
    let index = await freeFrom(choice.nextOf, 0);
    while (taken.has(keyOf(accountAt(choice.nextOf, index))))
      index = await freeFrom(choice.nextOf, index + 1);
    const account = accountAt(choice.nextOf, index);
    taken.add(keyOf(account));
    placed.push(account);
  }
  return placed;
}

/** A curve's name without its prefix: `secp256k1`. */
export const curveName = (curve: string): string => curve.replace('CURVE_', '').toLowerCase();

/** @param text The API's name of a curve, or the part of it that tells: `CURVE_ED25519`, `ed25519`. */
export function readCurve(option: string, text: string): Curve {
  const wanted = upperCase(text);
  const known = Object.keys(curves) as Curve[];
  const curve = known.find((name) => name === wanted || name === `CURVE_${wanted}`);
  if (curve !== undefined) return curve;
  const allowed = known.map(curveName);
  throw new CommandError(
    exitCodes.usage,
    `invalid ${option}: ${quoted(text)} is not a curve; expected ${anyOf(allowed)}${didYouMean(text, allowed)}`,
  );
}

/** @param text As for curves: `ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH`, `bitcoin-mainnet-p2wpkh`. */
export function readAddressFormat(option: string, text: string, curve: Curve): AddressFormat {
  const wanted = upperCase(text);
  const known = addressFormatsOf(curve);
  const alias = formatOfAlias(text.toLowerCase());
  const format = known.find(
    (name) => name === alias || name === wanted || name === `ADDRESS_FORMAT_${wanted}`,
  );
  if (format !== undefined) return format;
  const allowed = known.map(shortFormat);
  const expected = allowed.length > mostListed ? allNames : `expected one of ${allowed.join(', ')}`;
  throw new CommandError(
    exitCodes.usage,
    `invalid ${option}: ${quoted(text)} is not an address format of ${curveName(curve)}; ${expected}${didYouMean(text, [...allowed, ...known.map(formatName)])}`,
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
