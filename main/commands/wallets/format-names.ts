/** Names of address formats as the command line takes and prints them. */
import type { AddressFormat } from '../../chains/addresses/addresses.ts';

/** A bare public key is of no chain, and has no place of its own. */
export type ChainFormat = Exclude<AddressFormat, 'ADDRESS_FORMAT_COMPRESSED' | 'ADDRESS_FORMAT_UNCOMPRESSED'>;

/** Names beside those of the formats themselves. */
export const aliases: Readonly<Record<string, ChainFormat>> = {
  bitcoin: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
  'bitcoin-taproot': 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR',
  'bitcoin-testnet': 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH',
  'bitcoin-signet': 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH',
  'bitcoin-regtest': 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
  dogecoin: 'ADDRESS_FORMAT_DOGE_MAINNET',
  spark: 'ADDRESS_FORMAT_SPARK_MAINNET',
  stellar: 'ADDRESS_FORMAT_XLM',
};

/** A format's name without what all of them share: `bitcoin-mainnet-p2tr`. */
export const shortFormat = (format: string): string =>
  format.replace('ADDRESS_FORMAT_', '').toLowerCase().replaceAll('_', '-');

const aliasOf = new Map<string, string>(Object.entries(aliases).map(([name, format]) => [format, name]));

/** The name that people read: `bitcoin` for the format that wallets use by default. */
export const formatName = (format: string): string => aliasOf.get(format) ?? shortFormat(format);

/** @returns the format of a name such as `bitcoin` or `stellar`, which is of a chain and not of a format. */
export const formatOfAlias = (name: string): AddressFormat | undefined =>
  Object.entries(aliases).find(([alias]) => alias === name)?.[1];
