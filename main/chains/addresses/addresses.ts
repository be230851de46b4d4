/** The formats of addresses, a row each: the curves whose keys have such an address, and how it is written. */
import { base32, base58, base58xrp, bech32, bech32m } from '@scure/base';
import {
  dogecoin,
  dogecoinTestnet,
  mainnet,
  p2pkh,
  p2sh,
  p2tr,
  p2wpkh,
  p2wsh,
  regtest,
  testnet,
} from './bitcoin.ts';
import { checkBytes, concatBytes } from '../../crypto/bytes.ts';
import { crc16 } from './checksums.ts';
import { curves, signSchnorr, signTaproot, type Curve, type CurveEntry } from '../../crypto/keys/curves.ts';
import { encodeBase58Check, invalid, toHex } from '../../crypto/encodings.ts';
import { checksumAddress } from './ethereum.ts';
import { blake2b256, hash160, keccak256, sha256, sha3 } from '../../crypto/hashes.ts';
import { uncompressP256 } from '../../crypto/keys/p256.ts';
import { uncompressed } from '../../crypto/keys/secp256k1.ts';
import { tonAddress } from './ton.ts';
import { defined } from '../../lib/defined.ts';

interface AddressFormatEntry {
  readonly curves: readonly Curve[];
  /** @param publicKey Compressed SEC 1 (33 bytes) or an Ed25519 key (32 bytes). */
  encode(publicKey: Uint8Array, curve: Curve): string;
  /** Signs for a key that is named by such an address, if that differs from its curve's way. */
  readonly sign?: CurveEntry['sign'];
}

const table = {
  ADDRESS_FORMAT_UNCOMPRESSED: {
    curves: ['CURVE_SECP256K1', 'CURVE_P256'],
    encode: (publicKey, curve) =>
      toHex(curve === 'CURVE_P256' ? uncompressP256(publicKey) : uncompressed(publicKey)),
  },
  ADDRESS_FORMAT_COMPRESSED: { curves: ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'], encode: toHex },
  ADDRESS_FORMAT_ETHEREUM: secp256k1((publicKey) => checksumAddress(ethereumHash(publicKey))),
  ADDRESS_FORMAT_SOLANA: ed25519((publicKey) => base58.encode(publicKey)),
  ADDRESS_FORMAT_COSMOS: secp256k1((publicKey) => cosmos('cosmos', publicKey)),
  ADDRESS_FORMAT_TRON: secp256k1((publicKey) =>
    encodeBase58Check(concatBytes(Uint8Array.of(0x41), ethereumHash(publicKey))),
  ),
  // The scheme's number stands before the key: 0 is Ed25519.
  ADDRESS_FORMAT_SUI: ed25519(
    (publicKey) => `0x${toHex(blake2b256(concatBytes(Uint8Array.of(0), publicKey)))}`,
  ),
  // And after it: 0 is a single Ed25519 key.
  ADDRESS_FORMAT_APTOS: ed25519((publicKey) => `0x${toHex(sha3(concatBytes(publicKey, Uint8Array.of(0))))}`),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH: secp256k1((publicKey) => p2pkh(mainnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH: secp256k1((publicKey) => p2sh(mainnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH: secp256k1((publicKey) => p2wpkh(mainnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH: secp256k1((publicKey) => p2wsh(mainnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR: secp256k1((publicKey) => p2tr(mainnet, publicKey), signTaproot),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH: secp256k1((publicKey) => p2pkh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH: secp256k1((publicKey) => p2sh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH: secp256k1((publicKey) => p2wpkh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH: secp256k1((publicKey) => p2wsh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR: secp256k1((publicKey) => p2tr(testnet, publicKey), signTaproot),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH: secp256k1((publicKey) => p2pkh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH: secp256k1((publicKey) => p2sh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH: secp256k1((publicKey) => p2wpkh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH: secp256k1((publicKey) => p2wsh(testnet, publicKey)),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR: secp256k1((publicKey) => p2tr(testnet, publicKey), signTaproot),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH: secp256k1((publicKey) => p2pkh(regtest, publicKey)),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH: secp256k1((publicKey) => p2sh(regtest, publicKey)),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH: secp256k1((publicKey) => p2wpkh(regtest, publicKey)),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH: secp256k1((publicKey) => p2wsh(regtest, publicKey)),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR: secp256k1((publicKey) => p2tr(regtest, publicKey), signTaproot),
  ADDRESS_FORMAT_SEI: secp256k1((publicKey) => cosmos('sei', publicKey)),
  ADDRESS_FORMAT_XLM: ed25519(stellar),
  ADDRESS_FORMAT_DOGE_MAINNET: secp256k1((publicKey) => p2pkh(dogecoin, publicKey)),
  ADDRESS_FORMAT_DOGE_TESTNET: secp256k1((publicKey) => p2pkh(dogecoinTestnet, publicKey)),
  ADDRESS_FORMAT_TON_V3R2: ed25519((publicKey) => tonAddress('v3r2', publicKey)),
  ADDRESS_FORMAT_TON_V4R2: ed25519((publicKey) => tonAddress('v4r2', publicKey)),
  ADDRESS_FORMAT_TON_V5R1: ed25519((publicKey) => tonAddress('v5r1', publicKey)),
  ADDRESS_FORMAT_XRP: secp256k1(xrp),
  ADDRESS_FORMAT_SPARK_MAINNET: secp256k1((publicKey) => spark('spark', publicKey), signSchnorr),
  ADDRESS_FORMAT_SPARK_REGTEST: secp256k1((publicKey) => spark('sparkrt', publicKey), signSchnorr),
} as const satisfies Record<string, AddressFormatEntry>;

export type AddressFormat = keyof typeof table;

export const addressFormats = Object.keys(table) as [AddressFormat, ...AddressFormat[]];

/**
 * @param publicKey Compressed SEC 1 (33 bytes) or an Ed25519 key (32 bytes).
 * @param field The format's name in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT when keys of the curve have no address of the format.
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
      `${format} is an address format of ${entry.curves.join(' and ')}, not of ${curve}; expected one of ${addressFormatsOf(curve).join(', ')}`,
    );
  }
  checkBytes('publicKey', publicKey, curves[curve].publicKeyLength);
  return entry.encode(publicKey, curve);
}

/** @returns the formats that keys of a curve have addresses in. */
export function addressFormatsOf(curve: Curve): AddressFormat[] {
  return addressFormats.filter((format) => (table[format].curves as readonly Curve[]).includes(curve));
}

/** @returns how a key of the curve signs when it is named by an address of the format. */
export function signerOf(format: AddressFormat, curve: Curve): CurveEntry['sign'] {
  const entry: AddressFormatEntry = table[format];
  return entry.sign ?? curves[curve].sign;
}

/** The last 20 bytes of the hash of a key's two coordinates. */
function ethereumHash(publicKey: Uint8Array): Uint8Array {
  return keccak256(uncompressed(publicKey).subarray(1)).subarray(-20);
}

function cosmos(prefix: string, publicKey: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(hash160(publicKey)));
}

/** SEP-23: the version byte of an account, its key, and a checksum, low byte first. */
function stellar(publicKey: Uint8Array): string {
  const body = concatBytes(Uint8Array.of(6 << 3), publicKey);
  const checksum = crc16(body);
  return base32.encode(concatBytes(body, Uint8Array.of(checksum & 0xff, checksum >> 8)));
}

/** XLS-5's classic address: Bitcoin's scheme in an alphabet of its own. */
function xrp(publicKey: Uint8Array): string {
  const body = concatBytes(Uint8Array.of(0), hash160(publicKey));
  return base58xrp.encode(concatBytes(body, sha256(sha256(body)).subarray(0, 4)));
}

/** The identity key as the first field, of 33 bytes, of a protobuf message. */
function spark(prefix: string, publicKey: Uint8Array): string {
  const message = concatBytes(Uint8Array.of(0x0a, publicKey.length), publicKey);
  return bech32m.encode(prefix, bech32m.toWords(message), 100);
}

function secp256k1(
  encode: (publicKey: Uint8Array) => string,
  sign?: CurveEntry['sign'],
): AddressFormatEntry & { readonly curves: readonly ['CURVE_SECP256K1'] } {
  return { curves: ['CURVE_SECP256K1'], encode, ...defined({ sign }) };
}

function ed25519(
  encode: (publicKey: Uint8Array) => string,
): AddressFormatEntry & { readonly curves: readonly ['CURVE_ED25519'] } {
  return { curves: ['CURVE_ED25519'], encode };
}
