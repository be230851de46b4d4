/**
 * Curves, address formats and the well-known accounts of a wallet (BIP-44 and its relatives, SLIP-44 coin types).
 * A new format is one row here; the service's own table decides what it accepts.
 */

import { derivationPaths } from '../../../main/lib/text/derivation-paths.ts';
import type { ActivityParameters } from '../../../main/operations/api.ts';
import type { WalletAccount } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';

export type Curve = WalletAccount['curve'];
export type AddressFormat = WalletAccount['addressFormat'];

export const curves: Readonly<Record<Curve, { readonly label: string; readonly use: string }>> = {
  CURVE_SECP256K1: { label: 'secp256k1', use: t('Ethereum, Bitcoin and most chains') },
  CURVE_ED25519: {
    label: 'Ed25519',
    use: t('Solana, Stellar, Sui, Aptos, TON, and signatures outside of chains'),
  },
  CURVE_P256: {
    label: 'P-256',
    use: t('Passkeys, certificates and secure hardware; no chain here'),
  },
};

/** The best known first, then the others, then the networks whose coins have no value. */
export type Group = 'common' | 'more' | 'test';

export interface FormatRow {
  readonly format: AddressFormat;
  readonly label: string;
  /** Two to four letters for the plate in front of an address. */
  readonly plate: string;
  readonly curves: readonly Curve[];
  readonly about: string;
  readonly group: Group;
  /** True if a key named by such an address signs with Schnorr, not ECDSA. */
  readonly schnorr?: true;
}

export const addressFormats: readonly FormatRow[] = [
  {
    format: 'ADDRESS_FORMAT_ETHEREUM',
    label: t('Ethereum'),
    plate: 'ETH',
    curves: ['CURVE_SECP256K1'],
    about: t('Also every other EVM chain'),
    group: 'common',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
    label: t('Bitcoin'),
    plate: 'BTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Native SegWit, starts with bc1q'),
    group: 'common',
  },
  {
    format: 'ADDRESS_FORMAT_SOLANA',
    label: t('Solana'),
    plate: 'SOL',
    curves: ['CURVE_ED25519'],
    about: t('Base58 of the public key'),
    group: 'common',
  },
  {
    format: 'ADDRESS_FORMAT_COMPRESSED',
    label: t('Public key, compressed'),
    plate: 'KEY',
    curves: ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'],
    about: t('Public key in hex'),
    group: 'common',
  },
  {
    format: 'ADDRESS_FORMAT_UNCOMPRESSED',
    label: t('Public key, uncompressed'),
    plate: 'KEY',
    curves: ['CURVE_SECP256K1', 'CURVE_P256'],
    about: t('Both coordinates in hex'),
    group: 'common',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR',
    label: t('Bitcoin Taproot'),
    plate: 'BTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Schnorr signatures, starts with bc1p'),
    group: 'more',
    schnorr: true,
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH',
    label: t('Bitcoin nested SegWit'),
    plate: 'BTC',
    curves: ['CURVE_SECP256K1'],
    about: t('For senders without SegWit, starts with 3'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH',
    label: t('Bitcoin legacy'),
    plate: 'BTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Starts with 1'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH',
    label: t('Bitcoin script'),
    plate: 'BTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Single-key SegWit script, starts with bc1q'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_SPARK_MAINNET',
    label: t('Spark'),
    plate: 'SPRK',
    curves: ['CURVE_SECP256K1'],
    about: t('Bitcoin layer 2, starts with spark1'),
    group: 'more',
    schnorr: true,
  },
  {
    format: 'ADDRESS_FORMAT_COSMOS',
    label: t('Cosmos Hub'),
    plate: 'ATOM',
    curves: ['CURVE_SECP256K1'],
    about: t('Starts with cosmos1'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_SEI',
    label: t('Sei'),
    plate: 'SEI',
    curves: ['CURVE_SECP256K1'],
    about: t('Starts with sei1'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_TRON',
    label: t('Tron'),
    plate: 'TRX',
    curves: ['CURVE_SECP256K1'],
    about: t('Starts with T'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_XRP',
    label: t('XRP Ledger'),
    plate: 'XRP',
    curves: ['CURVE_SECP256K1'],
    about: t('Starts with r'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_DOGE_MAINNET',
    label: t('Dogecoin'),
    plate: 'DOGE',
    curves: ['CURVE_SECP256K1'],
    about: t('Starts with D'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_XLM',
    label: t('Stellar'),
    plate: 'XLM',
    curves: ['CURVE_ED25519'],
    about: t('Starts with G'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_SUI',
    label: t('Sui'),
    plate: 'SUI',
    curves: ['CURVE_ED25519'],
    about: t('Starts with 0x'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_APTOS',
    label: t('Aptos'),
    plate: 'APT',
    curves: ['CURVE_ED25519'],
    about: t('Starts with 0x'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_TON_V5R1',
    label: t('TON, wallet v5'),
    plate: 'TON',
    curves: ['CURVE_ED25519'],
    about: t('Newest wallet contract, starts with UQ'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_TON_V4R2',
    label: t('TON, wallet v4'),
    plate: 'TON',
    curves: ['CURVE_ED25519'],
    about: t('Starts with UQ'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_TON_V3R2',
    label: t('TON, wallet v3'),
    plate: 'TON',
    curves: ['CURVE_ED25519'],
    about: t('Starts with UQ'),
    group: 'more',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH',
    label: t('Bitcoin testnet'),
    plate: 'tBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR',
    label: t('Bitcoin testnet Taproot'),
    plate: 'tBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
    schnorr: true,
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH',
    label: t('Bitcoin testnet nested SegWit'),
    plate: 'tBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH',
    label: t('Bitcoin testnet legacy'),
    plate: 'tBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH',
    label: t('Bitcoin testnet script'),
    plate: 'tBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH',
    label: t('Bitcoin signet'),
    plate: 'sBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR',
    label: t('Bitcoin signet Taproot'),
    plate: 'sBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
    schnorr: true,
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH',
    label: t('Bitcoin signet nested SegWit'),
    plate: 'sBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH',
    label: t('Bitcoin signet legacy'),
    plate: 'sBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH',
    label: t('Bitcoin signet script'),
    plate: 'sBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
    label: t('Bitcoin regtest'),
    plate: 'rBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Local chain'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR',
    label: t('Bitcoin regtest Taproot'),
    plate: 'rBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Local chain'),
    group: 'test',
    schnorr: true,
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH',
    label: t('Bitcoin regtest nested SegWit'),
    plate: 'rBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Local chain'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH',
    label: t('Bitcoin regtest legacy'),
    plate: 'rBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Local chain'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH',
    label: t('Bitcoin regtest script'),
    plate: 'rBTC',
    curves: ['CURVE_SECP256K1'],
    about: t('Local chain'),
    group: 'test',
  },
  {
    format: 'ADDRESS_FORMAT_SPARK_REGTEST',
    label: t('Spark regtest'),
    plate: 'rSPK',
    curves: ['CURVE_SECP256K1'],
    about: t('Local chain'),
    group: 'test',
    schnorr: true,
  },
  {
    format: 'ADDRESS_FORMAT_DOGE_TESTNET',
    label: t('Dogecoin testnet'),
    plate: 'tDOG',
    curves: ['CURVE_SECP256K1'],
    about: t('Test coins'),
    group: 'test',
  },
];

export const formatsFor = (curve: Curve): readonly FormatRow[] =>
  addressFormats.filter((row) => row.curves.includes(curve));

/** Describes a format, from the wire's name if the table does not list it. */
export function describeFormat(format: string): Omit<FormatRow, 'format'> {
  const known = addressFormats.find((row) => row.format === format);
  if (known !== undefined) return known;
  const words = format.replace(/^ADDRESS_FORMAT_/, '').replaceAll('_', ' ');
  return {
    label: words.charAt(0) + words.slice(1).toLowerCase(),
    plate: words.slice(0, 3),
    curves: [],
    about: '',
    group: 'more',
  };
}

export const curveLabel = (curve: string): string =>
  curve in curves ? curves[curve as Curve].label : curve.replace(/^CURVE_/, '');

/** A format of addresses whose accounts have a conventional path. */
export interface Chain extends FormatRow {
  readonly curve: Curve;
  /** The derivation path with `{i}` where the account's index goes. */
  readonly path: string;
}

const paths: Readonly<Partial<Record<AddressFormat, string>>> = derivationPaths;

export const chains: readonly Chain[] = addressFormats.flatMap((row) => {
  const path = paths[row.format];
  const [curve] = row.curves;
  return path === undefined || curve === undefined ? [] : [{ ...row, curve, path }];
});

export const chainsIn = (group: Group): readonly Chain[] => chains.filter((each) => each.group === group);

/** The parameters of a new account. */
export type NewAccount = ActivityParameters<'ACTIVITY_TYPE_CREATE_WALLET'>['accounts'][number];

export const accountAt = ({ curve, format, path }: Chain, index: number): NewAccount => ({
  curve,
  pathFormat: 'PATH_FORMAT_BIP32',
  path: path.replace('{i}', String(index)),
  addressFormat: format,
});

const highestIndex = 2 ** 31 - 1;

/** Why a derivation path cannot be used on a curve, for a person to read; null when it can. */
export function pathProblem(path: string, curve: Curve): string | null {
  const [root, ...steps] = path.split('/');
  if (root !== 'm') return t("Start the path with m, such as m/44'/60'/0'/0/0.");
  for (const step of steps) {
    if (!/^\d+'?$/.test(step)) {
      return t("“{{step}}” isn’t a path step. Use a number, with ' after it if hardened.", {
        step,
      });
    }
    if (Number(step.replace("'", '')) > highestIndex) {
      return t('{{step}} is too large. The maximum is {{highestIndex}}.', { step, highestIndex });
    }
    if (curve === 'CURVE_ED25519' && !step.endsWith("'")) {
      return t("Ed25519 only derives hardened steps. Use {{step}}'.", { step });
    }
  }
  return null;
}
