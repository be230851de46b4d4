/** What policies may read of typed data and of authorizations that are signed as raw payloads. */
import type { Authorization } from '../../crypto/authorizations.ts';
import type { TypedData } from '../../crypto/typed-data.ts';
import type { FactOf } from '../facts.ts';

/** The domain has fields that are texts or numbers in any typed data that says so; others are left out. */
export function typedDataFact({ primaryType, domain, message }: TypedData): FactOf<'eth.eip_712'> {
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

export const authorizationFact = ({
  address,
  chainId,
  nonce,
}: Authorization): FactOf<'eth.eip_7702_authorization'> => ({ address, chain_id: chainId, nonce });
