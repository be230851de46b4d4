/** Requests of the API for Ethereum's signatures, as programs of several doors make them. */
import { hexOf } from '../chains/ethereum/hex.ts';
import { signatureOf } from '../chains/ethereum/signed.ts';
import { ethereumMessagePrefix } from '../lib/text/ethereum-message.ts';
import type { ActivityParameters, ActivityResult } from '../operations/api.ts';
import type { Program } from './program.ts';

/** A request for a signature. It names the program beside its user. */
export type Ask = ReturnType<typeof asksTransaction> | ReturnType<typeof asksPayload>;

/** The program that asks. */
export type Asking = Pick<Program, 'origin'>;

/** @param unsigned Hex. */
export const asksTransaction = ({ origin }: Asking, signWith: string, unsigned: string) =>
  ({
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    parameters: { signWith, unsignedTransaction: unsigned, type: 'TRANSACTION_TYPE_ETHEREUM', origin },
  }) as const;

export const asksPayload = ({ origin }: Asking, signWith: string, payload: Payload) =>
  ({
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    parameters: { signWith, ...payload, origin },
  }) as const;

type Payload = Pick<
  ActivityParameters<'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'>,
  'payload' | 'encoding' | 'hashFunction'
>;

/** Bytes that are signed by their Keccak-256. */
export const ofBytes = (bytes: Uint8Array): Payload => ({
  payload: hexOf(bytes),
  encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
});

/** A message of EIP-191, version 0x45. */
export const ofMessage = (message: Uint8Array): Payload =>
  ofBytes(Buffer.concat([Buffer.from(`${ethereumMessagePrefix}${String(message.length)}`, 'utf8'), message]));

export const ofTypedData = (json: string): Payload => ({
  payload: json,
  encoding: 'PAYLOAD_ENCODING_EIP712',
  hashFunction: 'HASH_FUNCTION_NO_OP',
});

/** @returns what was signed in hex: the transaction, or r, s and v as 65 bytes. */
export const signedIn = (result: ActivityResult<Ask['type']>): string =>
  'signedTransaction' in result
    ? `0x${result.signedTransaction}`
    : signatureOf(BigInt(`0x${result.r}`), BigInt(`0x${result.s}`), BigInt(`0x${result.v}`));
