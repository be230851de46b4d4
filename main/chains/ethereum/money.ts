/** The most of the chain's coins that may leave the account that signs. */
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { networkOf } from './networks.ts';
import type { EthereumTransaction, SignedAuthorization } from './read.ts';
import { isOurs } from './words.ts';

/** In wei. */
export interface Money {
  readonly gasFee: bigint;
  /** Unknown if the network charges for more than gas. */
  readonly maxFee: bigint | Unknown;
  /** The value and the fee. */
  readonly outflow: bigint | Unknown;
}

const blobGas = 131_072n;
export const noCode = '0x0000000000000000000000000000000000000000';

/** True if an account gets code. The zero address removes code instead. */
export const takesCode = ({ account, address }: SignedAuthorization): boolean =>
  account !== undefined && address !== noCode;

export function moneyOf(transaction: EthereumTransaction, context: Context): Money {
  const { chainId, value, gas, gasPrice, maxFeePerGas, blobHashes, maxFeePerBlobGas } = transaction;
  const blobs = BigInt(blobHashes.length) * blobGas * (maxFeePerBlobGas ?? 0n);
  const gasFee = gas * (gasPrice ?? maxFeePerGas ?? 0n) + blobs;
  const open = openFee(chainId);
  return {
    gasFee,
    maxFee: open ?? gasFee,
    outflow: ownCode(transaction, context) ?? open ?? value + gasFee,
  };
}

/** Code of an account can spend all that the account has, whatever value the transaction names. */
function ownCode({ authorizations, to, data }: EthereumTransaction, context: Context): Unknown | undefined {
  if (authorizations.some((each) => takesCode(each) && isOurs(each.account ?? '', context))) {
    return new Unknown('an account of yours takes on the code of a contract, which can spend all it has');
  }
  return data.length > 0 && to !== '' && isOurs(to, context)
    ? new Unknown('it calls an account of yours, whose code can spend all it has')
    : undefined;
}

function openFee(chainId: bigint | undefined): Unknown | undefined {
  if (chainId === undefined) return new Unknown('the transaction names no chain, and holds on every one');
  const { name, gasPaysForAll } = networkOf(chainId);
  return gasPaysForAll
    ? undefined
    : new Unknown(`${name} may charge for the data besides gas, which nothing in the transaction bounds`);
}
