/** EIP-7702's authorizations, signed on their own: an account's consent to run a contract's code as its own. */
import { authorizationMagic, authorizationOf, type Authorization } from './eip7702.ts';
import { line, type Description } from '../description.ts';
import type { FactOf } from '../facts.ts';
import { Unknown } from '../../policy/language/types.ts';
import { attempt, bigEndian, unreadable, type Read } from '../reading.ts';
import { hexOf } from './hex.ts';
import { networkName } from './networks.ts';
import { decodeRlp } from './rlp.ts';
import { noCode } from './money.ts';

/** @param bytes What is hashed to be signed: the magic byte and a list of chain, address and nonce. */
export function readAuthorizationBytes(bytes: Uint8Array): Read<Authorization> {
  return attempt(() => {
    const what = 'an authorization';
    if (bytes[0] !== authorizationMagic) unreadable(`expected ${what}, got bytes that begin otherwise`);
    const list = decodeRlp(bytes.subarray(1), what);
    const [chainId, address, nonce, ...more] = list instanceof Uint8Array ? [] : list;
    if (
      !(chainId instanceof Uint8Array && address instanceof Uint8Array && nonce instanceof Uint8Array) ||
      more.length > 0 ||
      address.length !== 20 ||
      !isNumber(chainId, 32) ||
      !isNumber(nonce, 8)
    ) {
      unreadable(`expected a chain, an address and a nonce in ${what}`);
    }
    return authorizationOf(bigEndian(chainId), address, bigEndian(nonce));
  });
}

/** True for a whole number as RLP writes it. */
const isNumber = (bytes: Uint8Array, most: number): boolean => bytes.length <= most && bytes[0] !== 0;

export function describeAuthorization({ address, chainId, nonce, digest }: Authorization): Description {
  const clears = address === noCode;
  return {
    title: clears ? 'Take away the code of your account' : `Let your account run the code of ${address}`,
    lines: [line('Code', address), line('Network', networkName(chainId)), line('Nonce', nonce)],
    parts: [],
    warnings: clears
      ? []
      : ['The contract’s code becomes your account’s own: it can spend all that the account has.'],
    digests: [line('Digest', hexOf(digest))],
  };
}

export const authorizationFact = ({
  address,
  chainId,
  nonce,
}: Authorization): FactOf<'eth.eip_7702_authorization'> => ({ address, chain_id: chainId, nonce });

export const outflowOfAuthorization = new Unknown(
  'the account takes on the code of a contract, which can spend all it has',
);
