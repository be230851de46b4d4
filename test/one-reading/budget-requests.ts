/** Requests of a user who wants more than a policy gives, random and adversarial; and what each signs, as viem tells it. */
import {
  encodeFunctionData,
  erc20Abi,
  keccak256,
  maxUint256,
  parseTransaction,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
} from 'viem';
import type { Json } from '../support/support.ts';
import { friend, type OtherTransaction, type Scene, type SceneKey, type SceneUser } from './budget-scene.ts';
import type { Random } from './law.ts';

const ether = 10n ** 18n;
export const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const stranger = '0x3535353535353535353535353535353535353535';

export interface SceneRequest {
  /** `sign_transaction`, and the type of the activity without its prefix. */
  readonly operation: string;
  readonly type: string;
  readonly parameters: Json;
  readonly key: SceneKey;
}

/** The effect of a signed request. */
export interface Effect {
  readonly key: SceneKey;
  readonly signatures: number;
  /** Undefined for bytes that viem does not read as a transaction of Ethereum. */
  readonly transaction: Transaction | undefined;
}

export type Transaction = ReturnType<typeof parseTransaction>;

/** @param user Most requests are for the key that the user spends from: what others send of a key counts as well. */
export function requestOf(random: Random, { keys }: Scene, user: SceneUser): SceneRequest {
  const key = random.below(4) === 0 ? random.pick(keys) : user.key;
  const signWith = random.pick(random.below(4) === 0 ? key.names : key.ethereumNames);
  const old = random.below(4) === 0;
  const named = old ? { privateKeyId: signWith } : { signWith };
  const signed = (kind: string, parameters: Json): SceneRequest => ({
    operation: kind,
    type: `${kind.toUpperCase()}${old ? '' : '_V2'}`,
    parameters: { ...named, ...parameters },
    key,
  });
  switch (random.below(8)) {
    case 0: {
      const { how, make } = random.pick(kindsOf(key));
      return signed('sign_raw_payload', { ...how, ...make(random, key) });
    }
    case 1: {
      const { how, make } = random.pick(kindsOf(key).filter(({ inBatches = true }) => inBatches));
      const length = random.pick([1, 2, 3, 7, 33, 40, 100]);
      const payloads = Array.from({ length }, () => make(random, key)['payload']);
      return {
        operation: 'sign_raw_payloads',
        type: 'SIGN_RAW_PAYLOADS',
        parameters: { signWith, ...how, payloads },
        key,
      };
    }
    case 2: {
      const { type, hex } = random.pick(key.others);
      return signed('sign_transaction', { type, unsignedTransaction: hex });
    }
    default:
      return signed('sign_transaction', {
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: random.below(50) === 0 ? random.pick(key.others).hex : unsigned(random),
      });
  }
}

const amounts = [
  0n,
  1n,
  ether / 100n,
  ether / 10n,
  ether / 4n,
  ether / 2n,
  ether - 21_000n * 10n ** 9n,
  ether - 1n,
];
const tooMuch = [ether, ether + 1n, 2n ** 64n, 2n ** 255n, maxUint256];

/** A transaction of Ethereum: most are what one policy or another allows, or nearly so. */
function unsigned(random: Random): Hex {
  for (;;) {
    try {
      return serializeTransaction(transactionOf(random));
    } catch {
      // The library makes no such transaction.
    }
  }
}

function transactionOf(random: Random): TransactionSerializable {
  const rarely = <T>(odd: T, usual: T): T => (random.below(12) === 0 ? odd : usual);
  const price = rarely(10n ** 12n, random.pick([0n, 1n, 10n ** 9n, 30n * 10n ** 9n]));
  const call = random.below(3) === 0;
  const common = {
    chainId: rarely(random.pick([undefined, 5, 10, 137, 8453]), 1),
    nonce: random.below(1000),
    to: rarely(undefined, call ? rarely(stranger, usdc) : random.pick([friend, friend, stranger])) as
      | Hex
      | undefined,
    value: call ? rarely(1n, 0n) : rarely(random.pick(tooMuch), random.pick(amounts)),
    gas: rarely(30_000_000n, random.pick([21_000n, 60_000n])),
    data: call ? callOf(random) : rarely(random.pick(['0x00', '0xdeadbeef'] as const), undefined),
  };
  const fees = { maxFeePerGas: price, maxPriorityFeePerGas: random.pick([0n, price]) };
  const transactions: readonly Json[] = [
    { ...common, type: 'legacy', gasPrice: price },
    { ...common, type: 'legacy', gasPrice: price, chainId: rarely(undefined, common.chainId) },
    { ...common, type: 'eip2930', gasPrice: price, accessList: [{ address: usdc, storageKeys: [] }] },
    { ...common, ...fees, type: 'eip1559' },
    { ...common, ...fees, type: 'eip1559' },
    rarely(
      {
        ...common,
        ...fees,
        type: 'eip4844',
        maxFeePerBlobGas: 10n ** 12n,
        blobVersionedHashes: [`0x01${'aa'.repeat(31)}`],
      },
      { ...common, ...fees, type: 'eip1559' },
    ),
    rarely(
      { ...common, ...fees, type: 'eip7702', authorizationList: [authorization] },
      { ...common, ...fees, type: 'eip1559' },
    ),
  ];
  return random.pick(transactions);
}

const authorization = {
  address: stranger,
  chainId: 1,
  nonce: 0,
  r: `0x${'11'.repeat(32)}`,
  s: `0x${'22'.repeat(32)}`,
  yParity: 0,
};

/** A call of a token, mostly a transfer; some have bytes that no encoder writes. */
function callOf(random: Random): Hex {
  const amount = random.pick([
    0n,
    1n,
    1_000_000n,
    250_000_000n,
    999_999_999n,
    1_000_000_000n,
    1_000_000_001n,
    maxUint256,
  ]);
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [friend, amount] });
  switch (random.below(10)) {
    case 0:
      return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [stranger, amount] });
    case 1:
      return encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transferFrom',
        args: [friend, stranger, amount],
      });
    case 2:
      // A dirty bit before the address, a byte too many, a byte too few.
      return random.pick<Hex>([
        `${transfer.slice(0, 10)}01${transfer.slice(12)}` as Hex,
        `${transfer}00`,
        transfer.slice(0, -2) as Hex,
        transfer.slice(0, 10) as Hex,
      ]);
    default:
      return transfer;
  }
}

const permit = (amount: bigint): string =>
  JSON.stringify({
    domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: usdc },
    primaryType: 'Permit',
    types: {
      EIP712Domain: ['name', 'version', 'chainId', 'verifyingContract'].map((name) => ({
        name,
        type: name === 'chainId' ? 'uint256' : name === 'verifyingContract' ? 'address' : 'string',
      })),
      Permit: ['owner', 'spender', 'value', 'nonce', 'deadline'].map((name, index) => ({
        name,
        type: index < 2 ? 'address' : 'uint256',
      })),
    },
    message: { owner: friend, spender: stranger, value: String(amount), nonce: '0', deadline: '9999999999' },
  });

interface PayloadKind {
  readonly how: { readonly encoding: string; readonly hashFunction: string };
  readonly make: (random: Random, key: SceneKey) => Json;
  /** True if it may be in a batch: a batch has no preimages. */
  readonly inBatches?: boolean;
}

const kind = (
  encoding: string,
  hashFunction: string,
  make: PayloadKind['make'],
  inBatches = true,
): PayloadKind => ({
  how: { encoding: `PAYLOAD_ENCODING_${encoding}`, hashFunction: `HASH_FUNCTION_${hashFunction}` },
  make,
  inBatches,
});

/** Raw payloads, which may be transactions under another name. */
const digestKinds: readonly PayloadKind[] = [
  kind('HEXADECIMAL', 'KECCAK256', (random) => ({ payload: unsigned(random) })),
  kind('HEXADECIMAL', 'KECCAK256', (random) => ({
    payload: random.below(4) === 0 ? 'c0ffee' : unsigned(random).slice(2),
  })),
  kind('HEXADECIMAL', 'SHA256', (random, { others }) => ({ payload: random.pick(others).hex })),
  kind('HEXADECIMAL', 'NO_OP', (random) => ({ payload: keccak256(unsigned(random)) })),
  kind(
    'HEXADECIMAL',
    'NO_OP',
    (random) => {
      const bytes = unsigned(random);
      return { payload: keccak256(bytes), preimage: { bytes, hashFunction: 'HASH_FUNCTION_KECCAK256' } };
    },
    false,
  ),
  // A text of 32 bytes is a digest as well.
  kind('TEXT_UTF8', 'NO_OP', (random) => ({
    payload: `a text that is 32 bytes long ${String(100 + random.below(900))}`,
  })),
  kind('TEXT_UTF8', 'KECCAK256', (random) => ({
    payload: `\u0019Ethereum Signed Message:\n5${String(10_000 + random.below(90_000))}`,
  })),
  kind('TEXT_UTF8', 'KECCAK256', (random) => ({ payload: unsigned(random) })),
  kind('EIP712', 'NO_OP', (random) => ({ payload: permit(random.pick([1n, maxUint256])) })),
  kind('EIP7702_AUTHORIZATION', 'NO_OP', (random) => ({
    payload: JSON.stringify({ address: stranger, chainId: 1, nonce: random.below(5) }),
  })),
];

/** Messages of Ed25519, which hashes for itself. */
const messageKinds: readonly PayloadKind[] = [
  kind('HEXADECIMAL', 'NOT_APPLICABLE', (random, { others }) => ({
    payload: random.pick([...others.map(({ hex }) => hex.slice(2 + 128)), 'abcd']),
  })),
];

const kindsOf = ({ ethereum }: SceneKey): readonly PayloadKind[] =>
  ethereum === undefined ? messageKinds : digestKinds;

/** @returns what each signature that the request asks for would be worth on Ethereum. */
export function effectsOf({ operation, parameters, key }: SceneRequest): readonly Effect[] {
  const { unsignedTransaction, type, payload, payloads, encoding, hashFunction, preimage } = parameters;
  if (operation === 'sign_transaction') {
    const hex = String(unsignedTransaction);
    if (type === 'TRANSACTION_TYPE_ETHEREUM') return [{ key, signatures: 1, transaction: parsed(hex) }];
    const other: OtherTransaction | undefined = key.others.find((each) => each.hex === hex);
    return [{ key, signatures: other?.signatures ?? 1, transaction: undefined }];
  }
  const all = operation === 'sign_raw_payloads' ? (payloads as readonly unknown[]) : [payload];
  const shown = (preimage as { readonly bytes?: string } | undefined)?.bytes;
  const hashed = encoding === 'PAYLOAD_ENCODING_HEXADECIMAL' && hashFunction === 'HASH_FUNCTION_KECCAK256';
  return all.map((each) => ({
    key,
    signatures: 1,
    transaction: hashed ? parsed(String(each)) : shown === undefined ? undefined : parsed(shown),
  }));
}

export function parsed(hex: string): Transaction | undefined {
  try {
    return parseTransaction((hex.startsWith('0x') ? hex : `0x${hex}`) as Hex);
  } catch {
    return undefined;
  }
}
