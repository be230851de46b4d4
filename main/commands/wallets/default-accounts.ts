/**
 * The conventional paths of the accounts of each address format (BIP-44 and its relatives, SLIP-44's coin
 * types), as in the real API's SDKs.
 */
import { addressFormatsOf, type AddressFormat } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { aliases, shortFormat, type ChainFormat } from './format-names.ts';

export interface Account {
  readonly curve: Curve;
  readonly pathFormat: 'PATH_FORMAT_BIP32';
  readonly path: string;
  readonly addressFormat: AddressFormat;
}

/** A row of accounts of one address format. */
export interface AccountSeries extends Omit<Account, 'path'> {
  /** The path with `{i}` where the index goes. */
  readonly pattern: string;
}

export const accountAt = ({ pattern, ...rest }: AccountSeries, index: number): Account => ({
  ...rest,
  path: pattern.replace('{i}', String(index)),
});

const patterns: Readonly<Record<ChainFormat, string>> = {
  ADDRESS_FORMAT_ETHEREUM: "m/44'/60'/0'/0/{i}",
  ADDRESS_FORMAT_SOLANA: "m/44'/501'/{i}'/0'",
  ADDRESS_FORMAT_COSMOS: "m/44'/118'/{i}'/0/0",
  ADDRESS_FORMAT_TRON: "m/44'/195'/{i}'",
  ADDRESS_FORMAT_SUI: "m/44'/784'/{i}'/0'/0'",
  ADDRESS_FORMAT_APTOS: "m/44'/637'/{i}'/0'/0'",
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH: "m/44'/0'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH: "m/44'/0'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH: "m/84'/0'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH: "m/48'/0'/0'/2'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR: "m/86'/0'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH: "m/44'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH: "m/44'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH: "m/84'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH: "m/48'/1'/0'/2'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR: "m/86'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH: "m/44'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH: "m/44'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH: "m/84'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH: "m/48'/1'/0'/2'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR: "m/86'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH: "m/44'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH: "m/44'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH: "m/84'/1'/0'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH: "m/48'/1'/0'/2'/0/{i}",
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR: "m/86'/1'/0'/0/{i}",
  ADDRESS_FORMAT_SEI: "m/44'/118'/{i}'/0'/0'",
  ADDRESS_FORMAT_XLM: "m/44'/148'/{i}'",
  ADDRESS_FORMAT_DOGE_MAINNET: "m/44'/3'/0'/0/{i}",
  ADDRESS_FORMAT_DOGE_TESTNET: "m/44'/3'/0'/0/{i}",
  ADDRESS_FORMAT_TON_V3R2: "m/44'/607'/{i}'/0'/0'",
  ADDRESS_FORMAT_TON_V4R2: "m/44'/607'/{i}'/0'/0'",
  ADDRESS_FORMAT_TON_V5R1: "m/44'/607'/{i}'/0'/0'",
  ADDRESS_FORMAT_XRP: "m/44'/144'/{i}'/0'/0'",
  ADDRESS_FORMAT_SPARK_MAINNET: "m/86'/0'/{i}'/0/0",
  ADDRESS_FORMAT_SPARK_REGTEST: "m/86'/1'/{i}'/0/0",
};

const formats = Object.keys(patterns) as ChainFormat[];

/** By the names that `--account` takes: the well-known ones, then all. */
export const accountSeries: ReadonlyMap<string, AccountSeries> = new Map([
  ...(['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_SOLANA'] as const).map(
    (format) => [shortFormat(format), series(format)] as const,
  ),
  ...Object.entries(aliases).map(([name, format]) => [name, series(format)] as const),
  ...formats.map((format) => [shortFormat(format), series(format)] as const),
]);

function series(addressFormat: ChainFormat): AccountSeries {
  const curve = (Object.keys(curves) as Curve[]).find((name) =>
    addressFormatsOf(name).includes(addressFormat),
  );
  if (curve === undefined) throw new Error(`${addressFormat} is of no curve`);
  return { curve, pathFormat: 'PATH_FORMAT_BIP32', pattern: patterns[addressFormat], addressFormat };
}
