/** Typed data of many applications, and viem's hash of each, for the law of one reading. */
import {
  concat,
  getAddress,
  getTypesForEIP712Domain,
  hashDomain,
  hashStruct,
  isAddress,
  keccak256,
  maxUint160,
  maxUint256,
  zeroAddress,
} from 'viem';
import eip712 from '../vectors/eip712.json' with { type: 'json' };
import { describeTypedData, typedDataFact } from '../../main/chains/ethereum/typed-data.ts';
import { readTypedData } from '../../main/chains/ethereum/eip712.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { context, sender, stranger, usdc } from './ethereum.ts';
import { mutateBytes, type LawOptions, type Random, type Reading } from './law.ts';

interface Member {
  readonly name: string;
  readonly type: string;
}

/** @param text `address owner,uint256 value` */
const members = (text: string): readonly Member[] =>
  text === ''
    ? []
    : text.split(',').map((each) => {
        const [type = '', name = ''] = each.split(' ');
        return { name, type };
      });

export const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
export const weth = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const dust = (index: number): string => getAddress(`0x${(index + 1).toString(16).padStart(40, '0')}`);

type Json = Readonly<Record<string, unknown>>;

/** @param types By name, each as `members` takes it; the first is the primary type. */
export function typedData(types: Readonly<Record<string, string>>, message: Json, domain: Json = {}): Json {
  return {
    types: Object.fromEntries(Object.entries(types).map(([name, text]) => [name, members(text)])),
    primaryType: Object.keys(types)[0],
    domain: { name: 'App', version: '1', chainId: 1, ...domain },
    message,
  };
}

const tokenDomain = { name: 'USD Coin', version: '2', verifyingContract: usdc };

export const permit = (value: bigint, spender = stranger): Json =>
  typedData(
    { Permit: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline' },
    { owner: sender, spender, value: String(value), nonce: 0, deadline: 1_900_000_000 },
    tokenDomain,
  );

export const daiPermit = typedData(
  { Permit: 'address holder,address spender,uint256 nonce,uint256 expiry,bool allowed' },
  { holder: sender, spender: stranger, nonce: 0, expiry: 0, allowed: true },
  { name: 'Dai Stablecoin', verifyingContract: '0x6B175474E89094C44Da98b954EedeAC495271d0F' },
);

/** As many entries of dust as asked for, and USDC without limit at the end. */
export const permitBatch = (entries: number): Json =>
  typedData(
    {
      PermitBatch: 'PermitDetails[] details,address spender,uint256 sigDeadline',
      PermitDetails: 'address token,uint160 amount,uint48 expiration,uint48 nonce',
    },
    {
      details: [
        ...Array.from({ length: entries }, (_, index) => [dust(index), 1n] as const),
        [usdc, maxUint160] as const,
      ].map(([token, amount]) => ({ token, amount: String(amount), expiration: 0, nonce: 0 })),
      spender: stranger,
      sigDeadline: 1_900_000_000,
    },
    { name: 'Permit2', version: undefined, verifyingContract: permit2 },
  );

export const permitSingle = typedData(
  {
    PermitSingle: 'PermitDetails details,address spender,uint256 sigDeadline',
    PermitDetails: 'address token,uint160 amount,uint48 expiration,uint48 nonce',
  },
  {
    details: { token: usdc, amount: 1_250_000_000, expiration: 0, nonce: 0 },
    spender: stranger,
    sigDeadline: 1_900_000_000,
  },
  { name: 'Permit2', verifyingContract: permit2 },
);

export const transferPermits: readonly Json[] = [
  'PermitTransferFrom',
  'PermitBatchTransferFrom',
  'PermitWitnessTransferFrom',
  'PermitBatchWitnessTransferFrom',
].map((name) => {
  const [list, isBatch] = name.includes('Batch') ? ['[]', true] : ['', false];
  const isWitnessed = name.includes('Witness');
  const one = { token: usdc, amount: 1_250_000_000 };
  return typedData(
    {
      [name]: `TokenPermissions${list} permitted,address spender,uint256 nonce,uint256 deadline${isWitnessed ? ',Witness witness' : ''}`,
      TokenPermissions: 'address token,uint256 amount',
      ...(isWitnessed && { Witness: 'address user' }),
    },
    {
      permitted: isBatch ? [one, { token: weth, amount: String(10n ** 18n) }] : one,
      spender: stranger,
      nonce: 1,
      deadline: 1_900_000_000,
      ...(isWitnessed && { witness: { user: sender } }),
    },
    { name: 'Permit2', version: undefined, verifyingContract: permit2 },
  );
});

export const authorizedTransfers: readonly Json[] = [
  'TransferWithAuthorization',
  'ReceiveWithAuthorization',
].map((name) =>
  typedData(
    { [name]: 'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce' },
    {
      from: sender,
      to: stranger,
      value: 1_250_000_000,
      validAfter: 0,
      validBefore: 1_900_000_000,
      nonce: `0x${'07'.repeat(32)}`,
    },
    tokenDomain,
  ),
);

const seaportTypes = {
  OrderComponents:
    'address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter',
  OfferItem:
    'uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount',
  ConsiderationItem:
    'uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient',
};
const seaportOrder = {
  offerer: sender,
  zone: zeroAddress,
  offer: [
    { itemType: 2, token: stranger, identifierOrCriteria: 77, startAmount: 1, endAmount: 1 },
    { itemType: 1, token: usdc, identifierOrCriteria: 0, startAmount: 5_000_000, endAmount: 4_000_000 },
  ],
  consideration: [
    {
      itemType: 0,
      token: zeroAddress,
      identifierOrCriteria: 0,
      startAmount: 1,
      endAmount: 1,
      recipient: sender,
    },
  ],
  orderType: 0,
  startTime: 0,
  endTime: 1_900_000_000,
  zoneHash: `0x${'00'.repeat(32)}`,
  salt: 1,
  conduitKey: `0x${'00'.repeat(32)}`,
  counter: 0,
};
const seaportDomain = { name: 'Seaport', version: '1.6', verifyingContract: stranger };
export const seaport = typedData(seaportTypes, seaportOrder, seaportDomain);
export const bulkSeaport = typedData(
  { BulkOrder: 'OrderComponents[2][2] tree', ...seaportTypes },
  {
    tree: [
      [seaportOrder, seaportOrder],
      [seaportOrder, seaportOrder],
    ],
  },
  seaportDomain,
);

export const safeTransaction = (operation: number): Json =>
  typedData(
    {
      SafeTx:
        'address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce',
    },
    {
      to: usdc,
      value: 0,
      data: `0xa9059cbb${stranger.slice(2).toLowerCase().padStart(64, '0')}${(1_250_000_000).toString(16).padStart(64, '0')}`,
      operation,
      safeTxGas: 0,
      baseGas: 0,
      gasPrice: 0,
      gasToken: zeroAddress,
      refundReceiver: zeroAddress,
      nonce: 3,
    },
    {
      name: undefined,
      version: undefined,
      verifyingContract: '0x5AfE000000000000000000000000000000000000'.toLowerCase(),
    },
  );

export const userOperation = typedData(
  {
    PackedUserOperation:
      'address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData',
  },
  {
    sender,
    nonce: 1,
    initCode: '0x',
    callData: '0xb61d27f6',
    accountGasLimits: `0x${'00'.repeat(32)}`,
    preVerificationGas: 1,
    gasFees: `0x${'00'.repeat(32)}`,
    paymasterAndData: '0x',
  },
  { name: 'ERC4337', verifyingContract: stranger },
);

export const orders: readonly Json[] = [
  typedData(
    {
      Order:
        'address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable',
    },
    {
      sellToken: usdc,
      buyToken: weth,
      receiver: stranger,
      sellAmount: 1_250_000_000,
      buyAmount: 1,
      validTo: 1_900_000_000,
      appData: `0x${'00'.repeat(32)}`,
      feeAmount: 1_000_000,
      kind: 'sell',
      partiallyFillable: false,
    },
    { name: 'Gnosis Protocol', version: 'v2', verifyingContract: stranger },
  ),
  typedData(
    {
      LimitOrder:
        'address makerToken,address takerToken,uint128 makerAmount,uint128 takerAmount,address maker,address taker',
    },
    {
      makerToken: usdc,
      takerToken: weth,
      makerAmount: 1_250_000_000,
      takerAmount: 1,
      maker: sender,
      taker: zeroAddress,
    },
    { name: 'ZeroEx', verifyingContract: stranger },
  ),
  typedData(
    {
      Order:
        'uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount,uint256 takingAmount,uint256 makerTraits',
    },
    {
      salt: 1,
      maker: sender,
      receiver: stranger,
      makerAsset: usdc,
      takerAsset: weth,
      makingAmount: 1_250_000_000,
      takingAmount: 1,
      makerTraits: 0,
    },
    { name: '1inch Aggregation Router', version: '6', verifyingContract: stranger },
  ),
];

export const forwarded = typedData(
  { ForwardRequest: 'address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data' },
  { from: sender, to: stranger, value: 0, gas: 1, nonce: 1, data: '0x12345678' },
);

/** A type of unknown shape: every kind of value, nested and empty. */
export const unknown = typedData(
  {
    Unheard: 'Part[] parts,Part one,string text,bytes data,bool[] flags,Nothing nothing,int8[2][] grid',
    Part: 'string label,address[] to',
    Nothing: '',
  },
  {
    parts: [
      { label: 'a, b', to: [] },
      { label: '', to: [stranger, sender] },
    ],
    one: { label: 'No elements', to: [usdc] },
    text: 'grüße\n\u202e05$',
    data: '0x',
    flags: [true, false],
    nothing: {},
    grid: [[-1, 2]],
  },
  { salt: `0x${'5a'.repeat(32)}` },
);

const strangeDomain = {
  ...unknown,
  types: {
    ...(unknown['types'] as Json),
    EIP712Domain: members('string name,uint64 chainId,address operator'),
  },
  domain: { name: 'App', chainId: 1, operator: stranger },
};

const payloads: readonly unknown[] = [
  ...[0n, 1_250_000_000n, maxUint256].map((value) => permit(value)),
  daiPermit,
  permitSingle,
  permitBatch(2),
  permitBatch(25),
  ...transferPermits,
  ...authorizedTransfers,
  seaport,
  bulkSeaport,
  safeTransaction(0),
  safeTransaction(1),
  userOperation,
  ...orders,
  forwarded,
  unknown,
  strangeDomain,
  ...eip712.vectors.map((each) => each.typedData),
];

export const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value), 'utf8');

/** A number that JavaScript would round is kept as its digits, and an address that viem finds mistyped in lower case. */
function decode(payload: Uint8Array): unknown {
  const exact = (_: string, value: unknown, { source }: { source?: string }): unknown => {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) return source;
    const isOdd = typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) && !isAddress(value);
    return isOdd ? value.toLowerCase() : value;
  };
  const parse = JSON.parse as (text: string, reviver: typeof exact) => unknown;
  return parse(Buffer.from(payload).toString('utf8'), exact);
}

function mutate(payload: Uint8Array, random: Random): Uint8Array {
  try {
    return encode(changed(decode(payload), random));
  } catch {
    return mutateBytes(payload, random);
  }
}

const kinds = [
  'uint256',
  'uint8',
  'int8',
  'address',
  'bool',
  'string',
  'bytes',
  'bytes4',
  'bytes32',
  'uint256[]',
  'Part',
  'Nothing',
];

/** Changes one value, mostly deep inside, and the members of types as well. */
function changed(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return changedList(value as readonly unknown[], random);
  if (typeof value !== 'object' || value === null) return changedLeaf(value, random);
  const entries = Object.entries(value);
  if (entries.length === 0) return value;
  const at = random.below(entries.length);
  const [name, inner] = (entries as [string, unknown][])[at] ?? ['', undefined];
  switch (random.below(20)) {
    case 0:
      return Object.fromEntries(entries.filter((_, index) => index !== at));
    case 1:
      return Object.fromEntries([...entries, [random.pick(['salt', 'name', 'more', 'spender']), inner]]);
    default:
      return { ...value, [name]: changed(inner, random) };
  }
}

function changedList(list: readonly unknown[], random: Random): unknown {
  const at = random.below(list.length);
  const one = list[at];
  switch (random.below(6)) {
    case 0:
      return [...list.slice(0, at), ...list.slice(at + 1)];
    case 1:
      return list.length === 0 ? list : [...list.slice(0, at), one, ...list.slice(at)];
    case 2:
      return list.toReversed();
    default:
      return list.length === 0 ? list : list.with(at, changed(one, random));
  }
}

function changedLeaf(value: unknown, random: Random): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number')
    return random.pick([value + 1, 0, 1, -1, String(value), 2 ** 31, String(maxUint256)]);
  const text = String(value);
  switch (random.below(5)) {
    case 0:
      return random.pick(['', '0x', '0', 'No elements', 'a.b', '“App”', '\u200b', String(maxUint160)]);
    case 1:
      return random.pick([stranger, sender, usdc, weth]);
    case 2:
      return random.pick(kinds);
    case 3:
      return text.replace(/[0-9a-z]/, (letter) => random.pick([letter, '1', 'a', '⟨', `${letter}${letter}`]));
    default:
      return Buffer.from(mutateBytes(Buffer.from(text, 'utf8'), random)).toString('utf8');
  }
}

export function read(payload: Uint8Array): Reading | undefined {
  try {
    const data = readTypedData('payload', Buffer.from(payload).toString('utf8'));
    return { description: describeTypedData(data, context), facts: typedDataFact(data) };
  } catch (error) {
    if (error instanceof KeyhearthError) return undefined;
    throw error;
  }
}

/**
 * The signed effects. viem's own checks are left out: other wallets hash the type `uint`, and names that viem
 * refuses.
 */
function effectsOf(payload: Uint8Array): string {
  const { domain, message, primaryType, types } = decode(payload) as Data;
  const all: Data['types'] = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
  const hashes = [
    hashDomain({ domain, types: all }),
    ...(primaryType === 'EIP712Domain' ? [] : [hashStruct({ data: message, primaryType, types: all })]),
  ];
  return keccak256(concat(['0x1901', ...hashes]));
}

interface Data {
  readonly domain: Record<string, unknown>;
  readonly message: Record<string, unknown>;
  readonly primaryType: string;
  readonly types: Record<string, Member[]>;
}

export const typedDataLaw: Omit<LawOptions, 'reads' | 'tries' | 'seed'> = {
  originals: payloads.map(encode),
  mutate,
  read,
  effects: effectsOf,
};
