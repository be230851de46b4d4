/** Transactions as JSON-RPC writes them: read strictly, since a field that is passed over would be signed unseen. */
import { z } from 'zod';
import { checksumAddress, readEthereumAddress } from '../addresses/ethereum.ts';
import { bytesOfHex, hexOf } from './hex.ts';
import { encodeUnsigned, type EthereumTransaction, type EthereumType } from './read.ts';
import { KeyhearthError, messageOf } from '../../lib/errors.ts';
import { parse } from '../../lib/parse.ts';

export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i, 'Expected a number in hex, 0x and digits')
  .transform(BigInt);
export const hexData = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/i, 'Expected bytes in hex, 0x and pairs of digits');
const word = z.string().regex(/^0x[0-9a-f]{64}$/i, 'Expected 32 bytes in hex');
export const address = z.string().transform((text, context) => {
  try {
    return checksumAddress(readEthereumAddress('address', text));
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
    return z.NEVER;
  }
});

const types: Readonly<Record<string, EthereumType>> = { 0: 'LEGACY', 1: 'TYPE_1', 2: 'TYPE_2' };

const wish = z.strictObject({
  from: address,
  to: address.optional(),
  gas: quantity.optional(),
  gasLimit: quantity.optional(),
  gasPrice: quantity.optional(),
  maxFeePerGas: quantity.optional(),
  maxPriorityFeePerGas: quantity.optional(),
  value: quantity.optional(),
  nonce: quantity.optional(),
  data: hexData.optional(),
  input: hexData.optional(),
  accessList: z.array(z.strictObject({ address, storageKeys: z.array(word) })).optional(),
  chainId: quantity.optional(),
  type: quantity.optional(),
});

export interface Wish {
  readonly from: string;
  /** Empty for a new contract. */
  readonly to: string;
  readonly gas: bigint | undefined;
  readonly gasPrice: bigint | undefined;
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly value: bigint;
  readonly nonce: bigint | undefined;
  /** Hex in small letters. */
  readonly data: string;
  readonly accessList: EthereumTransaction['accessList'];
  /** Undefined where the fields leave it open. */
  readonly type: EthereumType | undefined;
}

const wrong = (message: string): KeyhearthError => new KeyhearthError('INVALID_ARGUMENT', message);

/** @param chainId The chain that is asked for. @throws KeyhearthError INVALID_ARGUMENT */
export function readWish(value: unknown, chainId: bigint): Wish {
  const read = parse(wish, value, 'params[0]');
  const { gas, gasLimit, gasPrice, maxFeePerGas, maxPriorityFeePerGas, accessList = [] } = read;
  if (gas !== undefined && gasLimit !== undefined && gas !== gasLimit) throw wrong('gas and gasLimit differ');
  const [data, input] = [read.data?.toLowerCase(), read.input?.toLowerCase()];
  if (data !== undefined && input !== undefined && data !== input) throw wrong('data and input differ');
  if (read.chainId !== undefined && read.chainId !== chainId) {
    throw wrong(`chainId is ${String(read.chainId)}, and this address is for chain ${String(chainId)}`);
  }
  const hasMarket = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined;
  if (gasPrice !== undefined && hasMarket) throw wrong('gasPrice and maxFeePerGas exclude each other');
  const named = read.type === undefined ? undefined : types[String(read.type)];
  if (read.type !== undefined && named === undefined) {
    throw wrong(`type is ${String(read.type)}: expected 0, 1 or 2, without blobs and authorizations`);
  }
  const priced = accessList.length > 0 ? 'TYPE_1' : 'LEGACY';
  const type = named ?? (hasMarket ? 'TYPE_2' : gasPrice === undefined ? undefined : priced);
  if (type === 'LEGACY' && accessList.length > 0) throw wrong('a transaction of type 0 has no accessList');
  if (type !== 'TYPE_2' && hasMarket) throw wrong('maxFeePerGas is of type 2 alone');
  if (type === 'TYPE_2' && gasPrice !== undefined) throw wrong('gasPrice is not of type 2');
  return {
    from: read.from,
    to: read.to ?? '',
    gas: gas ?? gasLimit,
    gasPrice,
    maxFeePerGas,
    maxPriorityFeePerGas,
    value: read.value ?? 0n,
    nonce: read.nonce,
    data: data ?? input ?? '0x',
    accessList,
    type,
  };
}

/** The same text for requests that ask for the same, however each is written. */
export const canonical = (wish: Wish): string =>
  JSON.stringify(wish, (_key, value: unknown) => (typeof value === 'bigint' ? hexOfNumber(value) : value));

export const hexOfNumber = (number: bigint): string => `0x${number.toString(16)}`;

/** A wish with nothing left open. @returns the unsigned transaction in hex. @throws KeyhearthError INVALID_ARGUMENT naming what is missing. */
export function unsignedOf(wish: Wish, chainId: bigint): string {
  const { type, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = wish;
  if (type === undefined) throw wrong('missing gasPrice, or maxFeePerGas with maxPriorityFeePerGas');
  const isMarket = type === 'TYPE_2';
  const needed = isMarket ? { nonce, gas, maxFeePerGas, maxPriorityFeePerGas } : { nonce, gas, gasPrice };
  const missing = Object.entries(needed).find(([, value]) => value === undefined)?.[0];
  if (missing !== undefined || nonce === undefined || gas === undefined) {
    throw wrong(`missing ${String(missing)}`);
  }
  const { to, value, data, accessList } = wish;
  return hexOf(
    encodeUnsigned({
      ...{ type, chainId, nonce, gas, to, value, accessList, data: bytesOfHex(data) },
      gasPrice: isMarket ? undefined : gasPrice,
      maxFeePerGas: isMarket ? maxFeePerGas : undefined,
      maxPriorityFeePerGas: isMarket ? maxPriorityFeePerGas : undefined,
      ...{ maxFeePerBlobGas: undefined, blobHashes: [], authorizations: [] },
    }),
  );
}

/** A transaction as nodes take one that is tried: without nonce and signature. */
export function callOf(transaction: EthereumTransaction, from: string): Readonly<Record<string, unknown>> {
  const { to, value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas, data, accessList } = transaction;
  const quantities = { value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas };
  return {
    ...{ from, ...(to !== '' && { to }), input: hexOf(data) },
    ...Object.fromEntries(
      Object.entries(quantities).flatMap(([name, number]) =>
        number === undefined ? [] : [[name, hexOfNumber(number)]],
      ),
    ),
    ...(accessList.length > 0 && { accessList }),
  };
}
