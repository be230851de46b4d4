/** The accounts of each address format at its conventional paths. */
import { derivationPaths } from '../../lib/text/derivation-paths.ts';
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

const patterns: Readonly<Record<ChainFormat, string>> = derivationPaths;

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
