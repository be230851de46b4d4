/** Turns the arguments of a tool into one request of the API. */
import { z } from 'zod';
import { checksumAddress, readEthereumAddress } from '../../chains/addresses/ethereum.ts';
import { encodeUnsigned } from '../../chains/ethereum/read.ts';
import { bytesOfHex, hexOf } from '../../chains/ethereum/hex.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { hexData } from '../../chains/ethereum/requests.ts';
import { writeJson } from '../../lib/web/json-rpc.ts';
import { asksPayload, asksTransaction, ofMessage, ofTypedData, type Ask, type Asking } from '../asks.ts';

/** More than any transaction, typed data or text that an agent signs, and far less than a message may have. */
const longest = 200_000;

const whole = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,77})$/, 'Expected a whole number in decimal digits')
  .describe('A whole number in decimal digits; coins in wei');
const hex = hexData.refine(
  (text) => text.length <= longest,
  `Expected ${String(longest)} characters at most`,
);
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'Expected an address of Ethereum');

export const from = address.describe('The account that signs, as list_accounts shows it');

export const transaction = z
  .object({
    chainId: whole,
    nonce: whole,
    to: address.describe('The receiver, or the contract that is called'),
    value: whole.default('0'),
    data: hex.default('0x').describe('The call: transfer and approve of ERC-20 tokens can be allowed'),
    gas: whole,
    maxFeePerGas: whole,
    maxPriorityFeePerGas: whole,
  })
  .describe('A transaction with a fee market (EIP-1559)');

export const unsignedTransaction = hex.describe('Or the whole unsigned transaction, in hex with 0x');
export const typedData = z
  .looseObject({})
  .describe(
    'EIP-712 as an object: types, primaryType, domain, message. Numbers above 2^53 as decimal strings',
  );
export const message = z
  .string()
  .min(1)
  .max(longest)
  .describe('A readable text. It is signed as EIP-191 has it');

/** One of the four. */
export const wanted = {
  transaction: transaction.optional(),
  unsignedTransaction: unsignedTransaction.optional(),
  typedData: typedData.optional(),
  message: message.optional(),
};

export interface Asked {
  readonly from: string;
  readonly transaction?: z.output<typeof transaction> | undefined;
  readonly unsignedTransaction?: string | undefined;
  readonly typedData?: object | undefined;
  readonly message?: string | undefined;
}

/** Clients write addresses in small letters, and the API compares to the letter. */
const addressOf = (field: string, text: string): string => checksumAddress(readEthereumAddress(field, text));

/** @throws KeyhearthError INVALID_ARGUMENT unless exactly one thing is to be signed. */
export function askOf(program: Asking, { from: account, ...things }: Asked): Ask {
  const { transaction: fields, unsignedTransaction: raw, typedData: data, message: text } = things;
  if (Object.values(things).filter((each) => each !== undefined).length !== 1) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      'expected exactly one of transaction, unsignedTransaction, typedData and message',
    );
  }
  const signWith = addressOf('from', account);
  if (fields !== undefined) return asksTransaction(program, signWith, serialized(fields));
  if (raw !== undefined) return asksTransaction(program, signWith, raw);
  const payload =
    data === undefined ? ofMessage(Buffer.from(text ?? '', 'utf8')) : ofTypedData(writeJson(data));
  return asksPayload(program, signWith, payload);
}

const serialized = ({ to, data, ...numbers }: z.output<typeof transaction>): string =>
  hexOf(
    encodeUnsigned({
      type: 'TYPE_2',
      to: addressOf('transaction.to', to),
      data: bytesOfHex(data),
      chainId: BigInt(numbers.chainId),
      nonce: BigInt(numbers.nonce),
      gas: BigInt(numbers.gas),
      value: BigInt(numbers.value),
      maxFeePerGas: BigInt(numbers.maxFeePerGas),
      maxPriorityFeePerGas: BigInt(numbers.maxPriorityFeePerGas),
      gasPrice: undefined,
      accessList: [],
      maxFeePerBlobGas: undefined,
      blobHashes: [],
      authorizations: [],
    }),
  );
