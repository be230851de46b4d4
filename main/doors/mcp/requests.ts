/** Turns the arguments of a tool into the parameters of one request of the API. */
import { z } from 'zod';
import { checksumAddress, readEthereumAddress } from '../../chains/addresses/ethereum.ts';
import { encodeRlp, minimalBytes } from '../../chains/ethereum/rlp.ts';
import { decodeHex, toHex } from '../../crypto/encodings.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { ethereumMessagePrefix } from '../../lib/text/ethereum-message.ts';

/** More than any transaction, typed data or text that an agent signs, and far less than a message may have. */
const longest = 200_000;

const whole = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,77})$/, 'Expected a whole number in decimal digits')
  .describe('A whole number in decimal digits; coins in wei');
const hex = z
  .string()
  .max(longest)
  .regex(/^0x([0-9a-fA-F]{2})*$/, 'Expected hex with 0x');

export const from = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'Expected an address of Ethereum')
  .describe('The account that signs, as list_accounts shows it');

export const transaction = z
  .object({
    chainId: whole,
    nonce: whole,
    to: from.describe('The receiver, or the contract that is called'),
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

/** One of the three. */
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

export interface ApiRequest {
  readonly type: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const noHash = 'HASH_FUNCTION_NO_OP';

/** @throws KeyhearthError INVALID_ARGUMENT unless exactly one thing is to be signed. */
export function requestOf(
  asked: Asked,
  origin: { readonly door: string; readonly program: string },
): ApiRequest {
  const { transaction: fields, unsignedTransaction: raw, typedData: data, message: text } = asked;
  if ([fields, raw, data, text].filter((each) => each !== undefined).length !== 1) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      'expected exactly one of transaction, unsignedTransaction, typedData and message',
    );
  }
  const signWith = checksumAddress(readEthereumAddress('from', asked.from));
  if (fields !== undefined || raw !== undefined) {
    return {
      type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      path: 'sign_transaction',
      parameters: {
        signWith,
        unsignedTransaction: fields === undefined ? raw : serialized(fields),
        type: 'TRANSACTION_TYPE_ETHEREUM',
      },
    };
  }
  const payload =
    data === undefined
      ? {
          payload: toHex(personal(text ?? '')),
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: 'HASH_FUNCTION_KECCAK256',
        }
      : { payload: JSON.stringify(data), encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: noHash };
  return {
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    path: 'sign_raw_payload',
    parameters: { signWith, ...payload, origin },
  };
}

function personal(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([Buffer.from(ethereumMessagePrefix + String(bytes.length), 'utf8'), bytes]);
}

function serialized(fields: z.output<typeof transaction>): string {
  const number = (digits: string): Uint8Array => minimalBytes(BigInt(digits));
  const list = encodeRlp([
    number(fields.chainId),
    number(fields.nonce),
    number(fields.maxPriorityFeePerGas),
    number(fields.maxFeePerGas),
    number(fields.gas),
    readEthereumAddress('transaction.to', fields.to),
    number(fields.value),
    decodeHex('transaction.data', fields.data),
    [],
  ]);
  return `0x02${toHex(list)}`;
}
