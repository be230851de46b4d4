/** The formats of addresses, a row each: the curves whose keys have such an address, and how it is written. */
import { base58, bech32 } from '@scure/base';
import { checkBytes } from './bytes.ts';
import { curves, type Curve } from './curves.ts';
import { invalid, toHex } from './encodings.ts';
import { hash160, keccak256 } from './hashes.ts';
import { uncompressed } from './secp256k1.ts';

interface AddressFormatEntry {
  readonly curves: readonly Curve[];
  /** @param publicKey Compressed SEC 1 (33 bytes) or an Ed25519 key (32 bytes). */
  encode(publicKey: Uint8Array): string;
}

const table = {
  ADDRESS_FORMAT_UNCOMPRESSED: {
    curves: ['CURVE_SECP256K1'],
    encode: (publicKey) => toHex(uncompressed(publicKey)),
  },
  ADDRESS_FORMAT_COMPRESSED: { curves: ['CURVE_SECP256K1', 'CURVE_ED25519'], encode: toHex },
  ADDRESS_FORMAT_ETHEREUM: {
    curves: ['CURVE_SECP256K1'],
    encode: (publicKey) => checksumAddress(keccak256(uncompressed(publicKey).subarray(1)).subarray(-20)),
  },
  ADDRESS_FORMAT_SOLANA: { curves: ['CURVE_ED25519'], encode: (publicKey) => base58.encode(publicKey) },
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH: p2wpkh('bc'),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH: p2wpkh('tb'),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH: p2wpkh('tb'),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH: p2wpkh('bcrt'),
} as const satisfies Record<string, AddressFormatEntry>;

export type AddressFormat = keyof typeof table;

export const addressFormats = Object.keys(table) as [AddressFormat, ...AddressFormat[]];

/**
 * @param publicKey Compressed SEC 1 (33 bytes) or an Ed25519 key (32 bytes).
 * @param field The format's name in the request, for errors.
 * @throws LatchkeyError INVALID_ARGUMENT when keys of the curve have no address of the format.
 */
export function encodeAddress(
  format: AddressFormat,
  curve: Curve,
  publicKey: Uint8Array,
  field = 'addressFormat',
): string {
  const entry: AddressFormatEntry = table[format];
  if (!entry.curves.includes(curve)) {
    throw invalid(
      field,
      `${format} is not an address format of ${curve}; expected one of ${addressFormatsOf(curve).join(', ')}`,
    );
  }
  checkBytes('publicKey', publicKey, curves[curve].publicKeyLength);
  return entry.encode(publicKey);
}

/** @returns the formats that keys of a curve have addresses in. */
export function addressFormatsOf(curve: Curve): AddressFormat[] {
  return addressFormats.filter((format) => (table[format].curves as readonly Curve[]).includes(curve));
}

/**
 * An Ethereum address with the checksum of EIP-55 in the case of its letters.
 * @param address 20 bytes.
 */
export function checksumAddress(address: Uint8Array): string {
  checkBytes('address', address, 20);
  const digits = toHex(address);
  const checksum = toHex(keccak256(Buffer.from(digits, 'ascii')));
  return `0x${Array.from(digits, (digit, at) => (parseInt(checksum.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
}

/** BIP-173: witness version 0 and the key's hash. */
function p2wpkh(prefix: string): {
  readonly curves: readonly ['CURVE_SECP256K1'];
  encode(publicKey: Uint8Array): string;
} {
  return {
    curves: ['CURVE_SECP256K1'],
    encode: (publicKey) => bech32.encode(prefix, [0, ...bech32.toWords(hash160(publicKey))]),
  };
}
