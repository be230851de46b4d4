/**
 * Curves, address formats and the well-known accounts of a wallet (BIP-44, BIP-84, SLIP-44 coin types).
 * A new format or chain is one row here; the service's own table decides what it accepts.
 */

export type Curve = 'CURVE_SECP256K1' | 'CURVE_ED25519';

export const curves: Readonly<Record<Curve, { readonly label: string; readonly use: string }>> = {
  CURVE_SECP256K1: { label: 'secp256k1', use: 'Ethereum, Bitcoin and most chains' },
  CURVE_ED25519: { label: 'Ed25519', use: 'Solana, and signatures outside of chains' },
};

export interface AddressFormat {
  readonly format: string;
  readonly label: string;
  /** Two to four letters for the plate in front of an address. */
  readonly plate: string;
  readonly curves: readonly Curve[];
  readonly about: string;
}

export const addressFormats: readonly AddressFormat[] = [
  {
    format: 'ADDRESS_FORMAT_ETHEREUM',
    label: 'Ethereum',
    plate: 'ETH',
    curves: ['CURVE_SECP256K1'],
    about: 'Also every other EVM chain',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
    label: 'Bitcoin',
    plate: 'BTC',
    curves: ['CURVE_SECP256K1'],
    about: 'Native SegWit, starts with bc1q',
  },
  {
    format: 'ADDRESS_FORMAT_SOLANA',
    label: 'Solana',
    plate: 'SOL',
    curves: ['CURVE_ED25519'],
    about: 'Base58 of the public key',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH',
    label: 'Bitcoin testnet',
    plate: 'tBTC',
    curves: ['CURVE_SECP256K1'],
    about: 'Test coins without value',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH',
    label: 'Bitcoin signet',
    plate: 'sBTC',
    curves: ['CURVE_SECP256K1'],
    about: 'Test coins without value',
  },
  {
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
    label: 'Bitcoin regtest',
    plate: 'rBTC',
    curves: ['CURVE_SECP256K1'],
    about: 'A chain of your own',
  },
  {
    format: 'ADDRESS_FORMAT_COMPRESSED',
    label: 'Public key, compressed',
    plate: 'KEY',
    curves: ['CURVE_SECP256K1', 'CURVE_ED25519'],
    about: 'The bare public key in hex',
  },
  {
    format: 'ADDRESS_FORMAT_UNCOMPRESSED',
    label: 'Public key, uncompressed',
    plate: 'KEY',
    curves: ['CURVE_SECP256K1'],
    about: 'Both coordinates in hex',
  },
];

export const formatsFor = (curve: Curve): readonly AddressFormat[] =>
  addressFormats.filter((row) => row.curves.includes(curve));

/** The row of a format, or one made from the wire's name where the table has none. */
export function describeFormat(format: string): AddressFormat {
  const known = addressFormats.find((row) => row.format === format);
  if (known !== undefined) return known;
  const words = format.replace(/^ADDRESS_FORMAT_/, '').replaceAll('_', ' ');
  return {
    format,
    label: words.charAt(0) + words.slice(1).toLowerCase(),
    plate: words.slice(0, 3),
    curves: [],
    about: '',
  };
}

export const curveLabel = (curve: string): string =>
  curve in curves ? curves[curve as Curve].label : curve.replace(/^CURVE_/, '');

export interface Chain {
  readonly id: string;
  readonly label: string;
  readonly curve: Curve;
  readonly addressFormat: string;
  /** The derivation path with `{i}` where the account's index goes. */
  readonly path: string;
}

/** The chains with a conventional path; the first three are offered for a new wallet. */
export const chains: readonly Chain[] = [
  chain('ethereum', 'ADDRESS_FORMAT_ETHEREUM', "m/44'/60'/0'/0/{i}"),
  chain('bitcoin', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', "m/84'/0'/0'/0/{i}"),
  chain('solana', 'ADDRESS_FORMAT_SOLANA', "m/44'/501'/{i}'/0'"),
  chain('bitcoin-testnet', 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH', "m/84'/1'/0'/0/{i}"),
  chain('bitcoin-signet', 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH', "m/84'/1'/0'/0/{i}"),
  chain('bitcoin-regtest', 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH', "m/84'/1'/0'/0/{i}"),
];

export const firstChains: readonly Chain[] = chains.slice(0, 3);

/** An account to be made, as the service takes it. */
export interface NewAccount {
  readonly curve: Curve;
  readonly pathFormat: 'PATH_FORMAT_BIP32';
  readonly path: string;
  readonly addressFormat: string;
  readonly name?: string;
}

export const accountAt = ({ curve, addressFormat, path }: Chain, index: number): NewAccount => ({
  curve,
  pathFormat: 'PATH_FORMAT_BIP32',
  path: path.replace('{i}', String(index)),
  addressFormat,
});

/** The account with the lowest index that the wallet does not have yet. */
export function nextAccount(
  of: Chain,
  existing: readonly { readonly path: string; readonly addressFormat: string }[],
): NewAccount {
  const taken = new Set(existing.filter((a) => a.addressFormat === of.addressFormat).map((a) => a.path));
  let index = 0;
  while (taken.has(accountAt(of, index).path)) index += 1;
  return accountAt(of, index);
}

const highestIndex = 2 ** 31 - 1;

/** Why a derivation path cannot be used on a curve, for a person to read; null when it can. */
export function pathProblem(path: string, curve: Curve): string | null {
  const [root, ...steps] = path.split('/');
  if (root !== 'm') return "A path starts with m, for example m/44'/60'/0'/0/0.";
  for (const step of steps) {
    if (!/^\d+'?$/.test(step)) {
      return `“${step}” is not a step of a path: write a number, followed by ' where it is hardened.`;
    }
    if (Number(step.replace("'", '')) > highestIndex) {
      return `${step} is too large: a step is at most ${String(highestIndex)}.`;
    }
    if (curve === 'CURVE_ED25519' && !step.endsWith("'")) {
      return `Ed25519 derives hardened steps only: write ${step}' instead of ${step}.`;
    }
  }
  return null;
}

function chain(id: string, addressFormat: string, path: string): Chain {
  const { label, curves: fitting } = describeFormat(addressFormat);
  const curve = fitting[0];
  if (curve === undefined) throw new Error(`no row for ${addressFormat}`);
  return { id, label, curve, addressFormat, path };
}
