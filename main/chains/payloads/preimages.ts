/** The preimage of a payload that is a digest. The caller sends it, and the vault hashes it again. */
import { decodeHex, invalid } from '../../crypto/encodings.ts';
import { keccak256, sha256, sha512, type HashFunction } from '../../crypto/hashes.ts';
import { isMessageOf } from '../ssh/payloads.ts';

export interface Preimage {
  /** Hex, with 0x or without. */
  readonly bytes: string;
  readonly hashFunction: PreimageHash;
}

/** SHA-512 is of the messages of SSH alone. */
const preimageHashes = {
  HASH_FUNCTION_KECCAK256: keccak256,
  HASH_FUNCTION_SHA256: sha256,
  HASH_FUNCTION_SHA512: sha512,
} as const;

type PreimageHash = keyof typeof preimageHashes;

export const preimageHashNames = Object.keys(preimageHashes) as [PreimageHash, ...PreimageHash[]];

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
): { readonly bytes: Uint8Array; readonly hashFunction: HashFunction } | undefined {
  if (preimage === undefined) return undefined;
  const field = 'parameters.preimage';
  if (encoding !== 'PAYLOAD_ENCODING_HEXADECIMAL' || hashFunction !== 'HASH_FUNCTION_NO_OP') {
    throw invalid(
      field,
      `expected none but of a hash, which is PAYLOAD_ENCODING_HEXADECIMAL with HASH_FUNCTION_NO_OP; got ${encoding} with ${hashFunction}`,
    );
  }
  const bytes = decodeHex(`${field}.bytes`, preimage.bytes);
  const { hashFunction: by } = preimage;
  if (by !== 'HASH_FUNCTION_SHA512' && Buffer.compare(preimageHashes[by](bytes), digest) === 0) {
    return { bytes, hashFunction: by };
  }
  throw invalid(
    field,
    `expected what the payload is the hash of, got bytes whose ${preimage.hashFunction} is another`,
  );
}

/**
 * Finds the message of a payload of SSH: the preimage of the hash that is in the payload.
 * @param bytes The payload, decoded.
 * @returns undefined where there is no preimage, or the payload has another message, or is not of SSH.
 */
export function messageOfSsh({ preimage }: Payload, bytes: Uint8Array): Uint8Array | undefined {
  if (preimage === undefined) return undefined;
  const message = decodeHex('parameters.preimage.bytes', preimage.bytes);
  return isMessageOf(bytes, { message, hash: preimageHashes[preimage.hashFunction] }) ? message : undefined;
}
