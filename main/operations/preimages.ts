/** What a payload that is a hash is the hash of: whoever sends it shows it, and the vault hashes it again. */
import { z } from 'zod';
import { decodeHex, invalid } from '../crypto/encodings.ts';
import { hashFunctions } from '../crypto/hashes.ts';
import { limits } from './limits.ts';

export const preimage = z.object({
  /** Hex, with 0x or without. */
  bytes: z.string().min(2).max(limits.payloadCharacters),
  hashFunction: z.enum(['HASH_FUNCTION_KECCAK256', 'HASH_FUNCTION_SHA256']),
});

interface Payload {
  readonly payload: string;
  readonly encoding: string;
  readonly hashFunction: string;
  readonly preimage?: z.output<typeof preimage> | undefined;
}

/**
 * @returns the bytes of the preimage; undefined where there is none.
 * @throws LatchkeyError INVALID_ARGUMENT where it is not the payload's, or the payload is no hash.
 */
export function checkPreimage({
  payload,
  encoding,
  hashFunction,
  preimage: given,
}: Payload): Uint8Array | undefined {
  if (given === undefined) return undefined;
  const field = 'parameters.preimage';
  if (encoding !== 'PAYLOAD_ENCODING_HEXADECIMAL' || hashFunction !== 'HASH_FUNCTION_NO_OP') {
    throw invalid(
      field,
      `expected none but of a hash, which is PAYLOAD_ENCODING_HEXADECIMAL with HASH_FUNCTION_NO_OP; got ${encoding} with ${hashFunction}`,
    );
  }
  const bytes = decodeHex(`${field}.bytes`, given.bytes);
  const digest = hashFunctions[given.hashFunction](bytes);
  if (Buffer.compare(digest, decodeHex('parameters.payload', payload)) === 0) return bytes;
  throw invalid(
    field,
    `expected what the payload is the hash of, got bytes whose ${given.hashFunction} is another`,
  );
}
