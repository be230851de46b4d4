/** Signatures: each is one request of the API, as the program's user. */
import { hexOf } from '../../chains/ethereum/hex.ts';
import { readEthereum } from '../../chains/ethereum/read.ts';
import { partsOf, signatureOf } from '../../chains/ethereum/signed.ts';
import {
  asksPayload,
  asksTransaction,
  ofBytes,
  ofMessage,
  ofTypedData,
  signedIn,
  type Ask,
} from '../asks.ts';
import type { Gone, Program } from '../program.ts';

/** @throws KeyhearthError UNAVAILABLE where it waits for votes. */
export const signNow = async (program: Program, { type, parameters }: Ask, gone: Gone): Promise<string> =>
  signedIn(await program.submitNow(type, parameters, gone));

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
