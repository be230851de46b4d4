/** The parameters of a raw payload, for signing and for describing one. */
import { z } from 'zod';
import { hashFunctions, type HashFunction } from '../../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from '../../chains/payloads/encodings.ts';
import { preimageHashNames } from '../../chains/payloads/preimages.ts';
import { limits } from '../shared/limits.ts';

export const payloadParameters = {
  payload: z.string().max(limits.payloadCharacters),
  encoding: z.enum(Object.keys(payloadEncodings) as [PayloadEncoding, ...PayloadEncoding[]]),
  hashFunction: z.enum(Object.keys(hashFunctions) as [HashFunction, ...HashFunction[]]),
};

/** Ours: of a payload that is a digest, or a message of SSH, what it is the hash of. It is kept with the activity, and shown decoded. */
export const preimage = z.object({
  /** Hex, with 0x or without. */
  bytes: z.string().min(2).max(limits.payloadCharacters),
  hashFunction: z.enum(preimageHashNames),
});

const claim = z.string().min(1).max(500).optional();

/** Ours: the door by which a program's request came, and what the door says of it. It is kept with the activity. */
export const origin = z.object({
  door: z.string().min(1).max(20),
  program: z.string().min(1).max(100),
  /** In hex. OpenSSH's agent keeps as many of a connection. */
  bindings: z.array(z.string().max(8192)).max(16).optional(),
  host: claim,
  repository: claim,
  branch: claim,
});
