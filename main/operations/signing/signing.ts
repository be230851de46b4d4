/** Signing with a private key or a wallet account. */
import { z } from 'zod';
import { activity, older, type Item } from '../../activities/define.ts';
import { chainKeywordNames } from '../../policy/language/chain-keywords.ts';
import { checkHashFunction, openPayload, type RawPayload } from '../../chains/payloads/open.ts';
import type { Signature } from '../../crypto/keys/curves.ts';
import { checkPayloadValues } from '../../crypto/json.ts';
import { payloadEncodings } from '../../chains/payloads/encodings.ts';
import type { Reader } from '../../storage/connection.ts';
import { findPrivateKeyByAddress } from '../../storage/tables/private-keys.ts';
import { once } from '../../lib/once.ts';
import { requestLimits } from '../../lib/published-limits.ts';
import { signerFacts } from './key-facts.ts';
import { limits } from '../shared/limits.ts';
import { checkRequest } from '../shared/parameters.ts';
import { origin, payloadParameters, preimage } from './payload-parameters.ts';
import { shownSignature } from '../shared/resources.ts';
import { findNamedKey, findSigner, keyOf, lookUpNamedKey, type Signer } from './signers.ts';
import { signingContext } from './signing-context.ts';

const params = z.object({ signWith: z.string().min(1).max(200), ...payloadParameters });

const paramsWithPreimage = params.extend({
  preimage: preimage.optional(),
  origin: origin.optional(),
});

type SignParams = z.output<typeof paramsWithPreimage>;

interface Where {
  readonly tx: Reader;
  readonly organizationId: string;
}

/** A digest that is written as a text is a digest all the same: the same bytes have one encoding to policies. */
const howShown = ({ hashFunction, encoding }: Pick<SignParams, 'hashFunction' | 'encoding'>) => ({
  hash_function: hashFunction,
  encoding:
    hashFunction === 'HASH_FUNCTION_NO_OP' && encoding === 'PAYLOAD_ENCODING_TEXT_UTF8'
      ? 'PAYLOAD_ENCODING_HEXADECIMAL'
      : encoding,
});

/** Answers what policies may read of each payload that a key signs. A payload is read once, when a policy first asks. */
function payloadItems(where: Where, signWith: string): (raw: RawPayload, at: string) => Item {
  const { tx, organizationId } = where;
  const signer = signerFacts(where, signWith);
  const context = once(() =>
    signingContext(tx, organizationId, keyOf(findNamedKey(tx, organizationId, signWith))),
  );
  return (raw, at) => {
    const facts = once(() => openPayload(raw, context(), at).facts());
    return {
      ...signer,
      ...Object.fromEntries(chainKeywordNames.map((keyword) => [keyword, () => facts()[keyword]?.()])),
      signatures: () => 1,
    };
  };
}

/**
 * Refuses a hash function that the key does not take before anyone votes on the request. A key that is not there is refused
 * where the request is executed.
 */
function refuseHashFunction({
  tx,
  organizationId,
  params: { signWith, hashFunction },
}: Where & { readonly params: Pick<SignParams, 'signWith' | 'hashFunction'> }): void {
  const named = lookUpNamedKey(tx, organizationId, signWith);
  if (named !== undefined) checkHashFunction(keyOf(named).curve, hashFunction);
}

/**
 * Answers the id of the private key that `signWith` names by its address; other signers by the name in the
 * request.
 */
const privateKeyIdIn = (tx: Reader, organizationId: string, signWith: string): string =>
  findPrivateKeyByAddress(tx, organizationId, signWith)?.key.id ?? signWith;

export const signRawPayload = activity({
  path: 'sign_raw_payload',
  summary: 'Signs one payload.',
  title: 'Sign a payload',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  intent: 'signRawPayloadIntentV2',
  result: 'signRawPayloadResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    shows: howShown,
    refuses: refuseHashFunction,
    facts: ({ params: { signWith, ...raw }, ...where }) =>
      payloadItems(where, signWith)(raw, 'parameters.payload'),
  },
  params: paramsWithPreimage,
  specified: {
    intent: 'signRawPayloadIntent',
    describe: ({ signWith, ...rest }, _result, { tx, organizationId }) => ({
      privateKeyId: privateKeyIdIn(tx, organizationId, signWith),
      ...rest,
    }),
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
    const { signWith, ...raw } = context.params;
    return { ...signPayload(context, findSigner(context, signWith), raw, 'parameters.payload') };
  },
});

export const signRawPayloads = activity({
  path: 'sign_raw_payloads',
  summary: 'Signs several payloads with one key.',
  title: 'Sign payloads',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
  intent: 'signRawPayloadsIntent',
  result: 'signRawPayloadsResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    shows: howShown,
    refuses(request) {
      const { encoding, payloads } = request.params;
      refuseHashFunction(request);
      const characters = payloads.reduce((sum, { length }) => sum + length, 0);
      checkRequest('parameters.payloads', 'characters', characters, requestLimits.payloadCharacters);
      if (payloadEncodings[encoding].makesDigest) checkPayloadValues('parameters.payloads', payloads);
    },
    facts({ params: { signWith, payloads, ...how }, ...where }) {
      const item = payloadItems(where, signWith);
      return payloads.map((payload, index) => item({ ...how, payload }, nameOfPayload(index)));
    },
  },
  params: params
    .omit({ payload: true })
    .extend({ payloads: z.array(params.shape.payload).min(1).max(limits.batch) }),
  returns: z.object({ signatures: z.array(shownSignature) }),
  run(context) {
    const { payloads, signWith, ...how } = context.params;
    const signer = findSigner(context, signWith);
    return {
      signatures: payloads.map((payload, index) =>
        signPayload(context, signer, { ...how, payload }, nameOfPayload(index)),
      ),
    };
  },
});

const nameOfPayload = (index: number): string => `parameters.payloads[${String(index)}]`;

/** @param at The payload's name in the request, for errors. */
function signPayload({ tx, organizationId }: Where, signer: Signer, raw: RawPayload, at: string): Signature {
  const { toSign } = openPayload(raw, signingContext(tx, organizationId, signer), at);
  return signer.sign(signer.secret(), toSign);
}
