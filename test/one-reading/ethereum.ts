/** Ethereum's transactions as viem takes them apart: what each would do on its chain, for the law of one reading. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  concat,
  encodeFunctionData,
  fromRlp,
  getAddress,
  hexToBytes,
  keccak256,
  parseAbi,
  serializeTransaction,
  toHex,
  toRlp,
  type Hex,
  type TransactionSerializable,
} from 'viem';
import { publicKeyToAddress } from 'viem/utils';
import type { Context } from '../../main/chains/chain.ts';
import { ethereum } from '../../main/chains/ethereum/chain.ts';
import { readAbi } from '../../main/chains/ethereum/abi.ts';
import { tokenRows } from '../../main/chains/tokens.ts';
import { curves } from '../../main/crypto/keys/curves.ts';
import { holderNamed, mutateBytes, type LawOptions, type Random, type Reading } from './law.ts';

export const privateKey = hexToBytes(`0x${'46'.repeat(32)}`);
export const publicKey = curves.CURVE_SECP256K1.publicKey(privateKey);
export const sender = publicKeyToAddress(toHex(secp256k1.getPublicKey(privateKey, false)));
export const savings = getAddress(`0x${'5a'.repeat(20)}`);
export const stranger = getAddress(`0x${'35'.repeat(20)}`);
export const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
export const contract = getAddress(`0x${'c0'.repeat(20)}`);

const contractAbi = parseAbi([
  'function executeBatch((address target, uint256 value, bytes data)[] calls)',
  'function note(string text, bytes4 kind, bool[] flags, int16 number)',
]);
export const tokenAbi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
  'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
]);

/** An organization that keeps one interface, and has one account beside the one that signs. */
export const context: Context = {
  key: { curve: 'CURVE_SECP256K1', publicKey, format: 'ADDRESS_FORMAT_ETHEREUM' },
  interfaces: {
    abi: (address) => (address === contract ? kept : undefined),
    idl: () => undefined,
  },
  ours: (address) => (address === savings ? holderNamed('Savings') : undefined),
};
const kept = ((read) => (read.ok ? read.value : undefined))(readAbi(contractAbi));

/** @returns what the chain is asked to do, told by another decoder of RLP and another implementation of the curve. */
export function effectsOf(payload: Uint8Array): string {
  const [first = 0] = payload;
  const legacy = first >= 0xc0;
  const items = fromRlp(legacy ? payload : payload.subarray(1), 'hex');
  const type = legacy ? 'legacy' : first;
  if (first !== 4) return JSON.stringify([type, items]);
  // An authorization counts by the account that signed it, whatever the signature.
  const authorizations = (items.at(-1) as unknown as Hex[][]).map(([chain, code, nonce, parity, r, s]) => [
    chain,
    code,
    nonce,
    accountOf([chain, code, nonce] as Hex[], [parity, r, s] as Hex[]),
  ]);
  return JSON.stringify([type, items.slice(0, -1), authorizations]);
}

function accountOf(
  signed: readonly Hex[],
  [parity = '0x', r = '0x', s = '0x']: readonly Hex[],
): string | null {
  const [bit, numbers] = [
    parity === '0x' ? 0 : Number(parity),
    [r, s].map((each) => (each === '0x' ? 0n : BigInt(each))),
  ];
  const [, , nonce = '0x'] = signed;
  if (bit > 1 || nonce === '0xffffffffffffffff') return null;
  try {
    const signature = new secp256k1.Signature(numbers[0] ?? 0n, numbers[1] ?? 0n, bit);
    if (signature.hasHighS()) return null;
    const digest = hexToBytes(keccak256(concat(['0x05', toRlp([...signed])])));
    return publicKeyToAddress(toHex(signature.recoverPublicKey(digest).toBytes(false)));
  } catch {
    return null;
  }
}

const transactions: readonly TransactionSerializable[] = [
  {
    type: 'legacy',
    chainId: 1,
    nonce: 9,
    to: stranger,
    value: 10n ** 18n,
    gas: 21_000n,
    gasPrice: 20n ** 9n,
  },
  { type: 'legacy', nonce: 1, to: savings, value: 1n, gas: 21_000n, gasPrice: 1n },
  {
    type: 'eip2930',
    chainId: 1,
    to: stranger,
    gas: 30_000n,
    gasPrice: 7n,
    accessList: [{ address: usdc, storageKeys: [`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`] }],
  },
  ...tokenRows
    .filter(([chain]) => chain.startsWith('eip155:'))
    .map(([chain, address]) => ({
      type: 'eip1559' as const,
      chainId: Number(chain.slice('eip155:'.length)),
      to: address as Hex,
      gas: 60_000n,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 8n,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [stranger, 1_250_000_000n] }),
    })),
  ...[0n, 5n, 2n ** 256n - 1n].flatMap((amount) =>
    [usdc, contract].map((to) => ({
      type: 'eip1559' as const,
      chainId: 1,
      to: to as Hex,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [stranger, amount] }),
    })),
  ),
  {
    type: 'eip1559',
    chainId: 1,
    to: stranger,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'setApprovalForAll', args: [stranger, true] }),
  },
  {
    type: 'eip1559',
    chainId: 1,
    to: stranger,
    data: encodeFunctionData({
      abi: tokenAbi,
      functionName: 'safeBatchTransferFrom',
      args: [sender, stranger, [1n, 2n], [3n, 4n], '0x0102'],
    }),
  },
  {
    type: 'eip1559',
    chainId: 1,
    to: contract,
    value: 5n,
    data: encodeFunctionData({
      abi: contractAbi,
      functionName: 'executeBatch',
      args: [
        [
          { target: stranger, value: 1n, data: '0x0102' },
          { target: savings, value: 2n, data: '0x' },
        ],
      ],
    }),
  },
  {
    type: 'eip1559',
    chainId: 1,
    to: contract,
    data: encodeFunctionData({
      abi: contractAbi,
      functionName: 'note',
      args: ['grüße, No elements', '0x01020304', [true, false], -5],
    }),
  },
  { type: 'eip1559', chainId: 1, value: 7n, data: '0x600160020160005260206000f3' },
  {
    type: 'eip4844',
    chainId: 1,
    to: stranger,
    maxFeePerGas: 9n,
    maxPriorityFeePerGas: 1n,
    maxFeePerBlobGas: 3n,
    blobVersionedHashes: [`0x01${'aa'.repeat(31)}`, `0x01${'bb'.repeat(31)}`],
  },
  ...[savings, stranger].map((to) => ({
    type: 'eip7702' as const,
    chainId: 1,
    to,
    authorizationList: [0, 1].map((nonce) => authorizationBy(privateKey, nonce)),
  })),
];

export function authorizationBy(key: Uint8Array, nonce: number, code: Hex = contract) {
  const digest = keccak256(concat(['0x05', toRlp([toHex(1), code, nonce === 0 ? '0x' : toHex(nonce)])]));
  const { r, s, v } = curves.CURVE_SECP256K1.sign(key, hexToBytes(digest));
  return { chainId: 1, address: code, nonce, r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } as const;
}

export const originals = transactions.map((each) => hexToBytes(serializeTransaction(each)));

type Item = Hex | Item[];

/** Changes one item of the lists, or the lists themselves. */
export function mutate(payload: Uint8Array, random: Random): Uint8Array {
  const [first = 0] = payload;
  const legacy = first >= 0xc0;
  const head = legacy ? new Uint8Array() : payload.subarray(0, 1);
  try {
    const items = fromRlp(payload.subarray(head.length), 'hex') as Item;
    return hexToBytes(concat([toHex(head), toRlp(changed(items, random) as Hex)]));
  } catch {
    return mutateBytes(payload, random);
  }
}

function changed(item: Item, random: Random): Item {
  if (typeof item === 'string') return changedBytes(item, random);
  const at = random.below(item.length);
  const [one = '0x', other = '0x'] = [item[at], item[random.below(item.length)]];
  // Mostly something inside: the number of items is fixed but in lists of lists.
  switch (random.below(one !== '0x' && typeof one !== 'string' ? 5 : 12)) {
    case 0:
      return item.with(at, other);
    case 1:
      return [...item.slice(0, at), one, ...item.slice(at)];
    case 2:
      return item.toSpliced(at, 1);
    default:
      return item.length === 0 ? [] : item.with(at, changed(one, random));
  }
}

/** Numbers by their value, and data by its words: what remains well formed is read. */
function changedBytes(item: Hex, random: Random): Hex {
  const bytes = hexToBytes(item);
  if (bytes.length > 36 && random.below(2) === 0) return toHex(changedWords(bytes, random));
  switch (random.below(4)) {
    case 0:
      return random.pick(['0x', '0x01', '0x02', '0x0de0b6b3a7640000', toHex(random.below(2 ** 31))]);
    case 1:
      return bytes.length === 20 ? random.pick([stranger, savings, sender, usdc, contract]) : item;
    default:
      return toHex(mutateBytes(bytes, random));
  }
}

function changedWords(data: Uint8Array, random: Random): Uint8Array {
  const words = Array.from({ length: (data.length - 4) >> 5 }, (_, index) =>
    data.slice(4 + index * 32, 36 + index * 32),
  );
  const at = random.below(words.length);
  const word = words[at]?.slice() ?? new Uint8Array(32);
  const byte = random.below(32);
  word[byte] = random.pick([0, 1, 0x20, 0x40, 0xff, (word[byte] ?? 0) + 1]);
  words[at] = random.below(3) === 0 ? (words[random.below(words.length)] ?? word) : word;
  return hexToBytes(concat([toHex(data.subarray(0, 4)), ...words.map((each) => toHex(each))]));
}

export function read(payload: Uint8Array): Reading | undefined {
  const opened = ethereum.open(payload, context);
  if (!opened.ok) return undefined;
  return { description: opened.value.describe(), facts: opened.value.facts['eth.tx']?.() };
}

/** As `read`, without the bytes of a call that is read: its arguments must tell as much. */
export function readByArguments(payload: Uint8Array): Reading | undefined {
  const reading = read(payload);
  if (reading === undefined) return undefined;
  const { description } = reading;
  const [call] = description.parts;
  const isRead = call?.title.includes('(') === true && call.lines.every(({ label }) => label !== 'Not read');
  return isRead
    ? {
        ...reading,
        description: {
          ...description,
          lines: description.lines.filter(({ label }) => !label.endsWith('ata')),
        },
      }
    : reading;
}

export const ethereumLaw: Omit<LawOptions, 'reads' | 'tries' | 'seed'> = {
  originals,
  mutate,
  read,
  effects: effectsOf,
};
