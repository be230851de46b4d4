/** Signed transactions, and signatures as Ethereum's tools write them. */
import { keccak256 } from '../../crypto/hashes.ts';
import { bigEndian } from '../reading.ts';
import { bytesOfHex, hexOf } from './hex.ts';
import { hexOfNumber } from './requests.ts';
import { decodeRlp, type Item } from './rlp.ts';

/** A signed transaction as clef and geth answer it. */
export function shownSigned(raw: string): { readonly raw: string; readonly tx: Record<string, unknown> } {
  const { prefix, items, v, r, s } = partsOf(raw);
  const texts = items.map((item) => (item instanceof Uint8Array ? item : new Uint8Array()));
  const fields: Readonly<Record<number, readonly string[]>> = {
    0: ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input'],
    1: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input'],
    2: ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input'],
  };
  const named = (fields[prefix] ?? []).map((name, index) => {
    const bytes = texts[index] ?? new Uint8Array();
    if (name === 'to') return [name, bytes.length === 0 ? null : hexOf(bytes)];
    return [name, name === 'input' ? hexOf(bytes) : hexOfNumber(bigEndian(bytes))];
  });
  return {
    raw,
    tx: {
      type: hexOfNumber(BigInt(prefix)),
      ...(Object.fromEntries(named) as Record<string, unknown>),
      ...{ v: hexOfNumber(v), r: hexOfNumber(r), s: hexOfNumber(s) },
      hash: hexOf(keccak256(bytesOfHex(raw))),
    },
  };
}

/** @param raw A signed transaction, in hex. */
export function partsOf(raw: string) {
  const bytes = bytesOfHex(raw);
  const prefix = (bytes[0] ?? 0) >= 0xc0 ? 0 : (bytes[0] ?? 0);
  const items = decodeRlp(
    prefix === 0 ? bytes : bytes.subarray(1),
    'a signed transaction',
  ) as readonly Item[];
  const [v = 0n, r = 0n, s = 0n] = items.slice(-3).map((item) => bigEndian(item as Uint8Array));
  return { prefix, items, v, r, s, parity: prefix === 0 ? (v + 1n) % 2n : v };
}

/** r, s and v as 65 bytes, in hex. */
export const signatureOf = (r: bigint, s: bigint, parity: bigint): string =>
  `0x${[r, s].map((number) => number.toString(16).padStart(64, '0')).join('')}${(27n + parity).toString(16)}`;
