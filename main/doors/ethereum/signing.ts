/** Signatures: each is one request of the API, as the program's user. */
import { decodeRlp, type Item } from '../../chains/ethereum/rlp.ts';
import { readEthereum } from '../../chains/ethereum/read.ts';
import { bytesOfHex, hexOf } from '../../chains/ethereum/hex.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { ethereumMessagePrefix } from '../../lib/text/ethereum-message.ts';
import { rpcCodes, RpcError } from '../../lib/web/json-rpc.ts';
import { bigEndian } from '../../chains/reading.ts';
import type { ActivityParameters, ActivityResult } from '../../operations/api.ts';
import type { Gone, Program, SubmitOptions } from '../program.ts';
import { refusalOf } from '../refusals.ts';
import { hexOfNumber } from '../../chains/ethereum/requests.ts';

/** A request of the API for a signature. It names the program beside its user. */
export type Ask = ReturnType<typeof asksTransaction> | ReturnType<typeof asksPayload>;

/** @param unsigned Hex. */
export const asksTransaction = ({ origin }: Program, signWith: string, unsigned: string) =>
  ({
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    parameters: { signWith, unsignedTransaction: unsigned, type: 'TRANSACTION_TYPE_ETHEREUM', origin },
  }) as const;

export const asksPayload = ({ origin }: Program, signWith: string, payload: Payload) =>
  ({
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    parameters: { signWith, ...payload, origin },
  }) as const;

type Payload = Pick<
  ActivityParameters<'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'>,
  'payload' | 'encoding' | 'hashFunction'
>;

/** Bytes that are signed by their Keccak-256. */
const ofBytes = (bytes: Uint8Array): Payload => ({
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

/** @returns the signed transaction in hex; undefined where it waits for votes. */
export const signTransaction = (
  program: Program,
  { signWith, unsigned }: { readonly signWith: string; readonly unsigned: string },
  gone: Gone,
  options?: SubmitOptions,
): Promise<string | undefined> =>
  submit(program, asksTransaction(program, signWith, unsigned), gone, options);

/** @throws RpcError notYet where it waits for votes. */
export async function signNow(program: Program, ask: Ask, gone: Gone): Promise<string> {
  const signed = await submit(program, ask, gone);
  if (signed === undefined) {
    throw new RpcError(rpcCodes.notYet, 'the request still waits for approval: send it again');
  }
  return signed;
}

export const signMessage = (
  program: Program,
  signWith: string,
  message: Uint8Array,
  gone: Gone,
): Promise<string> => signNow(program, asksPayload(program, signWith, ofMessage(message)), gone);

/** Signs the Keccak-256 of bytes. A transaction is signed as one, whatever the caller calls it. */
export async function signBytes(
  program: Program,
  signWith: string,
  bytes: Uint8Array,
  gone: Gone,
): Promise<string> {
  if (readEthereum(bytes).ok) {
    const signed = await signNow(program, asksTransaction(program, signWith, hexOf(bytes)), gone);
    const { r, s, parity } = partsOf(signed);
    return signatureOf(r, s, parity);
  }
  return signNow(program, asksPayload(program, signWith, ofBytes(bytes)), gone);
}

export const signTypedData = (
  program: Program,
  signWith: string,
  json: string,
  gone: Gone,
): Promise<string> => signNow(program, asksPayload(program, signWith, ofTypedData(json)), gone);

/** A signed transaction as clef and geth answer it. */
export function shownSigned(raw: string): { readonly raw: string; readonly tx: Record<string, unknown> } {
  const { prefix, items, v, r, s } = partsOf(raw);
  const texts = items.map((item) => (item instanceof Uint8Array ? item : new Uint8Array()));
  const fields: Readonly<Record<number, readonly string[]>> = {
    0: ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input'],
    1: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input'],
    2: ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input'],
  };
  const named = (fields[prefix] ?? []).map((name, index) => {
    const bytes = texts[index] ?? new Uint8Array();
    if (name === 'to') return [name, bytes.length === 0 ? null : hexOf(bytes)];
    return [name, name === 'input' ? hexOf(bytes) : hexOfNumber(bigEndian(bytes))];
  });
  return {
    raw,
    tx: {
      type: hexOfNumber(BigInt(prefix)),
      ...(Object.fromEntries(named) as Record<string, unknown>),
      ...{ v: hexOfNumber(v), r: hexOfNumber(r), s: hexOfNumber(s) },
      hash: hexOf(keccak256(bytesOfHex(raw))),
    },
  };
}

function partsOf(raw: string) {
  const bytes = bytesOfHex(raw);
  const prefix = (bytes[0] ?? 0) >= 0xc0 ? 0 : (bytes[0] ?? 0);
  const items = decodeRlp(
    prefix === 0 ? bytes : bytes.subarray(1),
    'a signed transaction',
  ) as readonly Item[];
  const [v = 0n, r = 0n, s = 0n] = items.slice(-3).map((item) => bigEndian(item as Uint8Array));
  return { prefix, items, v, r, s, parity: prefix === 0 ? (v + 1n) % 2n : v };
}

const signatureOf = (r: bigint, s: bigint, parity: bigint): string =>
  `0x${[r, s].map((number) => number.toString(16).padStart(64, '0')).join('')}${(27n + parity).toString(16)}`;

async function submit(
  program: Program,
  { type, parameters }: Ask,
  gone: Gone,
  options?: SubmitOptions,
): Promise<string | undefined> {
  try {
    const result = await program.submit(type, parameters, gone, options);
    return result && signedIn(result);
  } catch (error) {
    const refusal = await refusalOf(program, error, gone);
    throw refusal === undefined ? error : new RpcError(rpcCodes.unauthorized, refusal);
  }
}
