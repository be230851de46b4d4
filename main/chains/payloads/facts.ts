/** What policies may read of a payload that is signed as it is. */
import { readAuthorization } from '../../crypto/authorizations.ts';
import type { PayloadEncoding } from '../../crypto/payloads.ts';
import { readTypedData } from '../../crypto/typed-data.ts';
import type { ConditionFacts } from '../../policy/schema.ts';

type PayloadFacts = Pick<ConditionFacts, 'eth.eip_712' | 'eth.eip_7702_authorization'>;

/**
 * Of several payloads nothing is shown: a condition that speaks of one would not hold for the others.
 * @returns facts that throw LatchkeyError INVALID_ARGUMENT where the payload is not what its encoding says.
 */
export function payloadFacts(encoding: PayloadEncoding, payloads: readonly string[]): PayloadFacts {
  const [payload] = payloads;
  if (payload === undefined || payloads.length > 1) return {};
  switch (encoding) {
    case 'PAYLOAD_ENCODING_EIP712':
      return { 'eth.eip_712': () => typedDataFact(payload) };
    case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION':
      return { 'eth.eip_7702_authorization': () => authorizationFact(payload) };
    default:
      return {};
  }
}

/** The domain has fields that are texts or numbers in any typed data that says so; others are left out. */
function typedDataFact(payload: string): ReturnType<NonNullable<PayloadFacts['eth.eip_712']>> {
  const { primaryType, domain, message } = readTypedData('payload', payload);
  const { name, version, chainId, verifyingContract } = domain;
  return {
    primary_type: primaryType,
    domain: {
      name: typeof name === 'string' ? name : undefined,
      version: typeof version === 'string' ? version : undefined,
      chain_id: typeof chainId === 'bigint' ? chainId : undefined,
      verifying_contract: typeof verifyingContract === 'string' ? verifyingContract : undefined,
    },
    message,
  };
}

function authorizationFact(
  payload: string,
): ReturnType<NonNullable<PayloadFacts['eth.eip_7702_authorization']>> {
  const { address, chainId, nonce } = readAuthorization('payload', payload);
  return { address, chain_id: chainId, nonce };
}
