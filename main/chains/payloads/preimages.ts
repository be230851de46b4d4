/** The preimage of a payload that is a digest. The caller sends it, and the vault hashes it again. */
import { decodeHex, invalid } from '../../crypto/encodings.ts';
import { hashFunctions } from '../../crypto/hashes.ts';

export interface Preimage {
  /** Hex, with 0x or without. */
  readonly bytes: string;
  readonly hashFunction: 'HASH_FUNCTION_KECCAK256' | 'HASH_FUNCTION_SHA256';
}

interface Payload {
  readonly encoding: string;
  readonly hashFunction: string;
  readonly preimage?: Preimage | undefined;
}

/**
 * @param digest The payload, decoded.
 * @returns the bytes of the preimage and their hash function; undefined without a preimage.
 * @throws KeyhearthError INVALID_ARGUMENT if the preimage is not the payload's, or the payload is not a
 * digest.
 */
export function checkPreimage(
  { encoding, hashFunction, preimage }: Payload,
  digest: Uint8Array,
): { readonly bytes: Uint8Array; readonly hashFunction: Preimage['hashFunction'] } | undefined {
  if (preimage === undefined) return undefined;
  const field = 'parameters.preimage';
  if (encoding !== 'PAYLOAD_ENCODING_HEXADECIMAL' || hashFunction !== 'HASH_FUNCTION_NO_OP') {
    throw invalid(
      field,
      `expected none but of a hash, which is PAYLOAD_ENCODING_HEXADECIMAL with HASH_FUNCTION_NO_OP; got ${encoding} with ${hashFunction}`,
    );
  }
  const bytes = decodeHex(`${field}.bytes`, preimage.bytes);
  if (Buffer.compare(hashFunctions[preimage.hashFunction](bytes), digest) === 0) {
    return { bytes, hashFunction: preimage.hashFunction };
  }
  throw invalid(
    field,
    `expected what the payload is the hash of, got bytes whose ${preimage.hashFunction} is another`,
  );
}
