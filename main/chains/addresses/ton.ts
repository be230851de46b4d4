/**
 * TON's addresses: the hash of the state that a wallet's contract starts in, which is its code and its data. The code is
 * one of the published wallets (github.com/ton-blockchain/wallet-contract and /wallet-contract-v5), known here by the hash
 * and depth of its cell; the data holds the public key.
 */
import { concatBytes } from '../../crypto/bytes.ts';
import { crc16 } from './checksums.ts';
import { sha256 } from '../../crypto/hashes.ts';

interface WalletContract {
  /** Hash of the code's cell, hex, and the levels of cells below it. */
  readonly codeHash: string;
  readonly codeDepth: number;
  /** The data's bits, as 0 and 1. */
  readonly data: (publicKey: string) => string;
}

/** The number of a key's first wallet, by convention. */
const firstWallet = 698_983_191;
/** In a v5 wallet: the network's id, XORed with what stands for a client's first wallet in the base chain. */
const mainnetId = -239;
const firstOfClient = 0x8000_0000;

const contracts = {
  v3r2: {
    codeHash: '84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599',
    codeDepth: 0,
    // The count of transfers, the wallet's number, the key.
    data: (publicKey) => `${bits(0, 32)}${bits(firstWallet, 32)}${publicKey}`,
  },
  v4r2: {
    codeHash: 'feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0',
    codeDepth: 7,
    // And no plugins.
    data: (publicKey) => `${bits(0, 32)}${bits(firstWallet, 32)}${publicKey}0`,
  },
  v5r1: {
    codeHash: '20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f',
    codeDepth: 6,
    // Signatures are allowed, the count of transfers, the wallet's id, the key, and no extensions.
    data: (publicKey) => `1${bits(0, 32)}${bits((mainnetId ^ firstOfClient) >>> 0, 32)}${publicKey}0`,
  },
} as const satisfies Record<string, WalletContract>;

/** The user-friendly form's first byte: for a wallet, to which senders shall not bounce. */
const nonBounceable = 0x51;
const baseChain = 0;

/**
 * @param publicKey 32 bytes.
 * @returns the address as wallets show it: base64url of 36 bytes, starting with UQ.
 */
export function tonAddress(version: keyof typeof contracts, publicKey: Uint8Array): string {
  const { codeHash, codeDepth, data }: WalletContract = contracts[version];
  const key = Array.from(publicKey, (byte) => bits(byte, 8)).join('');
  // TL-B StateInit: no split depth, no special, code, data, no library.
  const state = cell('00110', [
    { hash: Buffer.from(codeHash, 'hex'), depth: codeDepth },
    { hash: cell(data(key), []), depth: 0 },
  ]);
  const body = concatBytes(Uint8Array.of(nonBounceable, baseChain), state);
  const checksum = crc16(body);
  return Buffer.from(concatBytes(body, Uint8Array.of(checksum >> 8, checksum & 0xff))).toString('base64url');
}

interface Reference {
  readonly hash: Uint8Array;
  readonly depth: number;
}

/** @returns the hash of an ordinary cell's standard representation (TVM, section 3.1.4). */
function cell(content: string, references: readonly Reference[]): Uint8Array {
  const whole = content.length % 8 === 0;
  const padded = whole ? content : `${content}1`.padEnd(Math.ceil(content.length / 8) * 8, '0');
  const bytes = (padded.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2));
  return sha256(
    concatBytes(
      Uint8Array.of(references.length, Math.floor(content.length / 8) + Math.ceil(content.length / 8)),
      Uint8Array.from(bytes),
      ...references.map(({ depth }) => Uint8Array.of(depth >> 8, depth & 0xff)),
      ...references.map(({ hash }) => hash),
    ),
  );
}

function bits(number: number, length: number): string {
  return number.toString(2).padStart(length, '0');
}
