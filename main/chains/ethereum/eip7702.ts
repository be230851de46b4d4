/** EIP-7702: the digest by which an Ethereum account authorizes a contract's code as its own. */
import { concatBytes } from '../../crypto/bytes.ts';
import { invalid } from '../../crypto/encodings.ts';
import { checksumAddress, readEthereumAddress } from '../addresses/ethereum.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { integerBytes, readInteger } from './integers.ts';
import { checkPayloadValues, isObject, kindOf, parseJson } from '../../crypto/json.ts';

/** The first byte. Types of transactions are smaller. */
export const authorizationMagic = 0x05;

export interface Authorization {
  /** The contract whose code the account takes on, with its checksum. */
  readonly address: string;
  /** 0 for every chain. */
  readonly chainId: bigint;
  readonly nonce: bigint;
  /** The digest to sign: 32 bytes. */
  readonly digest: Uint8Array;
}

/** As `readAuthorization`, of which it answers the digest. */
export const authorizationDigest = (field: string, payload: string): Uint8Array =>
  readAuthorization(field, payload).digest;

/**
 * @param payload JSON: `address` (the contract's), `chainId` (0 for every chain), `nonce`.
 * @throws KeyhearthError INVALID_ARGUMENT naming the part that is wrong.
 */
export function readAuthorization(field: string, payload: string): Authorization {
  checkPayloadValues(field, [payload]);
  const data = parseJson(field, payload);
  if (!isObject(data))
    throw invalid(field, `expected an authorization as a JSON object, got ${kindOf(data)}`);
  const chainId = readInteger(`${field}.chainId`, data['chainId'], 256);
  const address = readEthereumAddress(`${field}.address`, data['address']);
  const nonce = readInteger(`${field}.nonce`, data['nonce'], 64);
  return authorizationOf(chainId, address, nonce);
}

/**
 * @param chainId Of 256 bits at most.
 * @param address 20 bytes.
 * @param nonce Of 64 bits at most.
 */
export const authorizationOf = (chainId: bigint, address: Uint8Array, nonce: bigint): Authorization => ({
  address: checksumAddress(address),
  chainId,
  nonce,
  digest: keccak256(encodeAuthorization(chainId, address, nonce)),
});

/** Writes what is hashed: the magic byte, and a list in RLP. */
function encodeAuthorization(chainId: bigint, address: Uint8Array, nonce: bigint): Uint8Array {
  const list = concatBytes(...[minimal(chainId), address, minimal(nonce)].map(rlpString));
  // All three are 33, 21 and 9 bytes at most, which is more than the 55 of a short list's head.
  const head = list.length <= 55 ? [0xc0 + list.length] : [0xf8, list.length];
  return concatBytes(Uint8Array.of(authorizationMagic, ...head), list);
}

/** RLP writes a number without leading zeros, and nothing for 0. */
const minimal = (number: bigint): Uint8Array =>
  number === 0n ? new Uint8Array() : integerBytes(number, Math.ceil(number.toString(16).length / 2));

/** RLP of at most 55 bytes. */
function rlpString(bytes: Uint8Array): Uint8Array {
  const [first] = bytes;
  return bytes.length === 1 && first !== undefined && first < 0x80
    ? bytes
    : concatBytes(Uint8Array.of(0x80 + bytes.length), bytes);
}
