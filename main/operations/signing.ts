/** Signing with a private key or a wallet account. */
import { z } from 'zod';
import { activity, older } from '../activities/define.ts';
import { payloadFacts } from '../chains/payloads/facts.ts';
import { curves, type Curve, type Signature } from '../crypto/curves.ts';
import { hashFunctions, type HashFunction } from '../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from '../crypto/payloads.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { signerFacts } from './key-facts.ts';
import { limits } from './limits.ts';
import { checkPreimage, preimage } from './preimages.ts';
import { shownSignature } from './resources.ts';
import { findSigner, type Signer } from './signers.ts';

const params = z.object({
  signWith: z.string().min(1).max(200),
  payload: z.string().max(limits.payloadCharacters),
  encoding: z.enum(Object.keys(payloadEncodings) as [PayloadEncoding, ...PayloadEncoding[]]),
  hashFunction: z.enum(Object.keys(hashFunctions) as [HashFunction, ...HashFunction[]]),
});

/** Ours: of a payload that is a hash, what it is the hash of. It is kept with the activity, and shown decoded. */
const paramsWithPreimage = params.extend({ preimage: preimage.optional() });

type SignParams = z.output<typeof paramsWithPreimage>;

const howShown = ({ hashFunction, encoding }: Pick<SignParams, 'hashFunction' | 'encoding'>) => ({
  hash_function: hashFunction,
  encoding,
});

export const signRawPayload = activity({
  path: 'sign_raw_payload',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  intent: 'signRawPayloadIntentV2',
  result: 'signRawPayloadResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    shows: howShown,
    facts: ({ params: { signWith, encoding, payload }, ...where }) => ({
      ...signerFacts(where, signWith),
      ...payloadFacts(encoding, [payload]),
    }),
  },
  params: paramsWithPreimage,
  specified: {
    intent: 'signRawPayloadIntent',
    describe: ({ signWith, ...rest }) => ({ privateKeyId: signWith, ...rest }),
  },
  returns: shownSignature,
  accepts: {
    ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: older({
      intent: 'signRawPayloadIntent',
      params: paramsWithPreimage.omit({ signWith: true }).extend({ privateKeyId: params.shape.signWith }),
      upgrade: ({ privateKeyId, ...rest }): SignParams => ({ signWith: privateKeyId, ...rest }),
    }),
  },
  run(context) {
    const { payload, ...how } = context.params;
    checkPreimage(context.params);
    return { ...signPayload(findSigner(context, how.signWith), how, payload, 'parameters.payload') };
  },
});

export const signRawPayloads = activity({
  path: 'sign_raw_payloads',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
  intent: 'signRawPayloadsIntent',
  result: 'signRawPayloadsResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    shows: howShown,
    facts: ({ params: { signWith, encoding, payloads }, ...where }) => ({
      ...signerFacts(where, signWith),
      ...payloadFacts(encoding, payloads),
    }),
  },
  params: params
    .omit({ payload: true })
    .extend({ payloads: z.array(params.shape.payload).min(1).max(limits.batch) }),
  returns: z.object({ signatures: z.array(shownSignature) }),
  run(context) {
    const { payloads, ...how } = context.params;
    const signer = findSigner(context, how.signWith);
    return {
      signatures: payloads.map((payload, index) =>
        signPayload(signer, how, payload, `parameters.payloads[${String(index)}]`),
      ),
    };
  },
});

/** @param at The payload's name in the request, for errors. */
function signPayload(
  signer: Signer,
  { encoding, hashFunction }: Pick<SignParams, 'encoding' | 'hashFunction'>,
  payload: string,
  at: string,
): Signature {
  checkHashFunction(signer.curve, hashFunction);
  checkEncoding(signer.curve, encoding, hashFunction);
  const bytes = hashFunctions[hashFunction](payloadEncodings[encoding].decode(at, payload));
  if (curves[signer.curve].requiresDigest && bytes.length !== 32) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `invalid ${at}: expected a 32-bytes-long digest with ${hashFunction}, got ${String(bytes.length)} bytes`,
    );
  }
  return signer.sign(signer.secret(), bytes);
}

/** What an encoding makes a digest of is not hashed again, and is no message of Ed25519. */
function checkEncoding(curve: Curve, encoding: PayloadEncoding, hashFunction: HashFunction): void {
  if (!payloadEncodings[encoding].makesDigest || hashFunction === 'HASH_FUNCTION_NO_OP') return;
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    curves[curve].requiresDigest
      ? `invalid hash function: parameters.hashFunction: ${encoding} makes the digest itself, expected HASH_FUNCTION_NO_OP, got ${hashFunction}`
      : `invalid parameters.encoding: ${encoding} makes a digest, which a key on ${curve} does not sign; expected ${Object.entries(
          payloadEncodings,
        )
          .filter(([, { makesDigest }]) => !makesDigest)
          .map(([name]) => name)
          .join(' or ')}`,
  );
}

/** Ed25519 hashes for itself and takes the message whole; ECDSA signs a digest. */
function checkHashFunction(curve: Curve, hashFunction: HashFunction): void {
  const hashesItself = !curves[curve].requiresDigest;
  if (hashesItself === (hashFunction === 'HASH_FUNCTION_NOT_APPLICABLE')) return;
  const fitting = Object.keys(hashFunctions).filter(
    (candidate) => hashesItself === (candidate === 'HASH_FUNCTION_NOT_APPLICABLE'),
  );
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    `invalid hash function: parameters.hashFunction: a key on ${curve} takes ${fitting.join(', ')}, got ${hashFunction}`,
  );
}
