/**
 * Tempo's transactions. The vault does not read them, and tells bytes that may be one: a type and a list, as Ethereum's have,
 * or a list alone, by which an account lets another key sign. An account of Tempo may have a key on P-256.
 */
import type { HashFunction } from '../../crypto/hashes.ts';
import { Unknown } from '../../policy/language/types.ts';
import { nothingInPayload, type Context, type InPayload } from '../chain.ts';
import { readEthereum } from '../ethereum/read.ts';
import { decodeRlp } from '../ethereum/rlp.ts';
import { attempt } from '../reading.ts';

/** Before a transaction, and before one whose fee another account pays. */
const types: readonly number[] = [0x76, 0x78];
const digestLength = 32;

/** @param bytes As in `Chain.inPayload`. */
export function tempoInPayload(bytes: Uint8Array, hashFunction: HashFunction, { key }: Context): InPayload {
  if (key !== undefined && key.curve !== 'CURVE_SECP256K1' && key.curve !== 'CURVE_P256') {
    return nothingInPayload;
  }
  // Keys of browsers on P-256 hash the transaction's hash once more.
  const mayBe =
    hashFunction === 'HASH_FUNCTION_KECCAK256'
      ? mayBeTempo(bytes)
      : key?.curve === 'CURVE_P256' &&
        hashFunction === 'HASH_FUNCTION_SHA256' &&
        bytes.length === digestLength;
  return mayBe ? { facts: { 'tempo.tx': () => unknown } } : nothingInPayload;
}

const unknown = new Unknown('the bytes may be a transaction of Tempo, which this vault does not read');

function mayBeTempo(bytes: Uint8Array): boolean {
  const [first = 0] = bytes;
  const list = types.includes(first) ? bytes.subarray(1) : bytes;
  return (
    (list[0] ?? 0) >= 0xc0 && attempt(() => decodeRlp(list, 'the payload')).ok && !readEthereum(bytes).ok
  );
}
