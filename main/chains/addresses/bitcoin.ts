/**
 * Bitcoin's addresses of a single key, and those of chains that write theirs like it. An address is a hash of the
 * script that coins are locked with.
 */
import { bech32, bech32m } from '@scure/base';
import { concatBytes } from '../../crypto/bytes.ts';
import { encodeBase58Check } from '../../crypto/encodings.ts';
import { hash160, sha256 } from '../../crypto/hashes.ts';
import { taprootOutputKey } from '../../crypto/keys/secp256k1.ts';

interface Network {
  /** The byte in front of a hash of a key, in Base58Check. */
  readonly keyHash: number;
}

interface BitcoinNetwork extends Network {
  readonly scriptHash: number;
  /** BIP-173's human-readable part. */
  readonly prefix: string;
}

export const mainnet: BitcoinNetwork = { keyHash: 0x00, scriptHash: 0x05, prefix: 'bc' };
/** Signet writes its addresses as testnet does. */
export const testnet: BitcoinNetwork = { keyHash: 0x6f, scriptHash: 0xc4, prefix: 'tb' };
export const regtest: BitcoinNetwork = { ...testnet, prefix: 'bcrt' };
export const dogecoin: Network = { keyHash: 0x1e };
export const dogecoinTestnet: Network = { keyHash: 0x71 };

const checkSignature = 0xac;

/** Every function takes a compressed public key, 33 bytes. */
export const p2pkh = ({ keyHash }: Network, publicKey: Uint8Array): string =>
  encodeBase58Check(concatBytes(Uint8Array.of(keyHash), hash160(publicKey)));

/** BIP-49: the script is a witness program of the key, which is what wallets make of one key under P2SH. */
export const p2sh = ({ scriptHash }: BitcoinNetwork, publicKey: Uint8Array): string =>
  encodeBase58Check(
    concatBytes(Uint8Array.of(scriptHash), hash160(concatBytes(Uint8Array.of(0, 20), hash160(publicKey)))),
  );

/** BIP-84. */
export const p2wpkh = ({ prefix }: BitcoinNetwork, publicKey: Uint8Array): string =>
  bech32.encode(prefix, [0, ...bech32.toWords(hash160(publicKey))]);

/** The script is the key and OP_CHECKSIG. */
export const p2wsh = ({ prefix }: BitcoinNetwork, publicKey: Uint8Array): string => {
  const script = concatBytes(Uint8Array.of(publicKey.length), publicKey, Uint8Array.of(checkSignature));
  return bech32.encode(prefix, [0, ...bech32.toWords(sha256(script))]);
};

/** BIP-86: spent by the key alone, without scripts. */
export const p2tr = ({ prefix }: BitcoinNetwork, publicKey: Uint8Array): string =>
  bech32m.encode(prefix, [1, ...bech32m.toWords(taprootOutputKey(publicKey))]);
