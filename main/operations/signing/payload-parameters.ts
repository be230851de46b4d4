/** The parameters of a raw payload, for signing and for describing one. */
import { z } from 'zod';
import { hashFunctions, type HashFunction } from '../../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from '../../chains/payloads/encodings.ts';
import { limits } from '../shared/limits.ts';

export const payloadParameters = {
  payload: z.string().max(limits.payloadCharacters),
  encoding: z.enum(Object.keys(payloadEncodings) as [PayloadEncoding, ...PayloadEncoding[]]),
  hashFunction: z.enum(Object.keys(hashFunctions) as [HashFunction, ...HashFunction[]]),
};

/** Ours: of a payload that is a digest, what it is the hash of. It is kept with the activity, and shown decoded. */
export const preimage = z.object({
  /** Hex, with 0x or without. */
  bytes: z.string().min(2).max(limits.payloadCharacters),
  hashFunction: z.enum(['HASH_FUNCTION_KECCAK256', 'HASH_FUNCTION_SHA256']),
});
