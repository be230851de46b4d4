/** Compares the amounts that may leave an account with viem as an independent encoder. */
import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  hexToBytes,
  maxUint256,
  parseAbi,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { Unknown } from '../../policy/language/types.ts';
import { openPayload } from '../payloads/open.ts';
import { ethereum } from './chain.ts';

const context = {
  key: undefined,
  interfaces: { abi: () => undefined, idl: () => undefined },
  ours: () => undefined,
};
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const friend = getAddress(`0x${'5a'.repeat(20)}`);
const me = '0x3535353535353535353535353535353535353535';

function ofTransaction(change: Partial<TransactionSerializable>): unknown {
  const raw = serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to: usdc,
    gas: 100n,
    maxFeePerGas: 7n,
    ...change,
  } as TransactionSerializable);
  const opened = ethereum.open(hexToBytes(raw), context);
  return opened.ok ? opened.value.facts['eth.outflow']?.() : opened.problem;
}

const call = (abi: readonly string[], functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: parseAbi(abi), functionName, args });

const one = (token: string, amount: bigint, receiver: string = friend) => ({
  chain_id: 1n,
  coin: 700n,
  tokens: [{ token, amount, receiver }],
  receivers: [receiver],
});

const unknownTokens = { tokens: expect.any(Unknown) as Unknown, receivers: expect.any(Unknown) as Unknown };

describe('a transaction', () => {
  test('of coins leaves with its fee', () => {
    expect(ofTransaction({ to: friend, value: 5n })).toEqual({
      chain_id: 1n,
      coin: 705n,
      tokens: [],
      receivers: [friend],
    });
  });

  test.each([
    ['transfer', [friend, 12n]],
    ['transferFrom', [me, friend, 12n]],
    ['approve', [friend, 12n]],
  ] as const)('%s of a token', (functionName, args) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName, args });
    expect(ofTransaction({ data })).toEqual(one(usdc, 12n));
  });

  test('an approval of all is an amount that no budget has', () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [friend, maxUint256] });
    expect(ofTransaction({ data })).toEqual(one(usdc, maxUint256));
  });

  const authorization =
    'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce';
  const [word, until] = [`0x${'11'.repeat(32)}`, 2n ** 40n];
  test.each([
    [
      'permit',
      'address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s',
      [me, friend, 12n, until, 27, word, word],
    ],
    ...['transferWithAuthorization', 'receiveWithAuthorization'].flatMap((name) => [
      [
        name,
        `${authorization}, uint8 v, bytes32 r, bytes32 s`,
        [me, friend, 12n, 0n, until, word, 27, word, word],
      ] as const,
      [name, `${authorization}, bytes signature`, [me, friend, 12n, 0n, until, word, '0x00']] as const,
    ]),
  ] as const)('%s(%s) counts the tokens of the signature that it brings', (name, inputs, args) => {
    const data = call([`function ${name}(${inputs})`], name, args);
    expect(ofTransaction({ data })).toEqual(one(usdc, 12n));
  });

  test('Dai’s permit names no amount, and is unknown', () => {
    const data = call(
      ['function permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)'],
      'permit',
      [me, friend, 0n, until, true, 27, word, word],
    );
    expect(ofTransaction({ data })).toMatchObject({ tokens: expect.any(Unknown) as Unknown });
  });

  test('coins that go with a call have the contract as their receiver too', () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [friend, 1n] });
    expect(ofTransaction({ data, value: 3n })).toMatchObject({ coin: 703n, receivers: [usdc, friend] });
  });

  test('Permit2 names the token itself, at its one address', () => {
    const data = call(['function approve(address,address,uint160,uint48)'], 'approve', [
      usdc,
      friend,
      9n,
      2 ** 47,
    ]);
    expect(ofTransaction({ to: permit2, data })).toEqual(one(usdc, 9n));
    expect(ofTransaction({ to: friend, data })).toMatchObject({ tokens: expect.any(Unknown) as Unknown });
  });

  test.each([
    [
      'a multicall with a transfer inside',
      call(['function multicall(bytes[])'], 'multicall', [['0xa9059cbb']]),
    ],
    ['another function', call(['function withdraw(uint256)'], 'withdraw', [1n])],
    ['a function that no standard has', '0x12345678'],
    ['less than a function', '0xa9'],
    [
      'a transfer with bytes after it',
      `${call(['function transfer(address,uint256)'], 'transfer', [friend, 1n])}00`,
    ],
    [
      'an NFT approval of all',
      call(['function setApprovalForAll(address,bool)'], 'setApprovalForAll', [friend, true]),
    ],
  ] satisfies readonly (readonly [string, Hex])[])('%s is unknown, and so are its receivers', (_, data) => {
    expect(ofTransaction({ data })).toMatchObject(unknownTokens);
    expect(ofTransaction({ data, value: 3n })).toMatchObject({ coin: 703n, ...unknownTokens });
  });

  test('a new contract, an account handed over and a transaction of every chain are unknown', () => {
    expect(ofTransaction({ to: null, data: '0x60' })).toMatchObject(unknownTokens);
    const authorization = { address: friend, chainId: 1, nonce: 0, r: '0x1', s: '0x1', yParity: 0 } as const;
    const handed = { type: 'eip7702', authorizationList: [authorization] } as never;
    expect(ofTransaction(handed)).toMatchObject(unknownTokens);
    const everywhere = { type: 'legacy', chainId: undefined, gasPrice: 1n, maxFeePerGas: undefined } as never;
    expect(ofTransaction(everywhere)).toMatchObject({ chain_id: expect.any(Unknown) as Unknown });
  });
});

const typed = (
  primaryType: string,
  types: Record<string, string>,
  message: object,
  contract = usdc,
  chainId = 1,
) => {
  const members = (text: string) =>
    text.split(',').map((each) => ({ type: each.split(' ')[0] ?? '', name: each.split(' ')[1] ?? '' }));
  const payload = JSON.stringify({
    domain: { name: 'USD Coin', chainId, verifyingContract: contract },
    primaryType,
    types: Object.fromEntries(Object.entries(types).map(([name, text]) => [name, members(text)])),
    message,
  });
  const raw = { payload, encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' } as const;
  return openPayload(raw, context, 'payload').facts()['eth.outflow']?.();
};

const transfer = 'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce';
const authorized = {
  from: me,
  to: friend,
  value: '12',
  validAfter: 0,
  validBefore: 9,
  nonce: `0x${'11'.repeat(32)}`,
};
const permissions = { TokenPermissions: 'address token,uint256 amount' };
const details = { PermitDetails: 'address token,uint160 amount,uint48 expiration,uint48 nonce' };
const signed = (token: string, amount: bigint) => ({ ...one(token, amount), coin: 0n });

describe('typed data', () => {
  test.each([
    ['TransferWithAuthorization', { TransferWithAuthorization: transfer }, authorized],
    ['ReceiveWithAuthorization', { ReceiveWithAuthorization: transfer }, authorized],
    [
      'Permit',
      { Permit: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline' },
      { owner: me, spender: friend, value: 12, nonce: 0, deadline: 9 },
    ],
  ])('%s is of the contract’s own token', (primaryType, types, message) => {
    expect(typed(primaryType, types as never, message)).toEqual(signed(usdc, 12n));
  });

  test('Dai’s own permit is of all there is, unless it takes the permission back', () => {
    const type = { Permit: 'address holder,address spender,uint256 nonce,uint256 expiry,bool allowed' };
    const message = { holder: me, spender: friend, nonce: 0, expiry: 0, allowed: true };
    expect(typed('Permit', type, message)).toEqual(signed(usdc, maxUint256));
    expect(typed('Permit', type, { ...message, allowed: false })).toEqual(signed(usdc, 0n));
  });

  // Whatever its deadline, it counts at once and in full.
  test('Permit2 names the tokens, one or many', () => {
    const far = 2 ** 47;
    const grant = { token: usdc, amount: '12', expiration: far, nonce: 0 };
    const single = { PermitSingle: 'PermitDetails details,address spender,uint256 sigDeadline', ...details };
    expect(
      typed('PermitSingle', single, { details: grant, spender: friend, sigDeadline: far }, permit2),
    ).toEqual(signed(usdc, 12n));
    const batch = {
      PermitBatchTransferFrom: 'TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline',
      ...permissions,
    };
    const permitted = [usdc, me].map((token) => ({ token, amount: '12' }));
    const message = { permitted, spender: friend, nonce: 0, deadline: far };
    expect(typed('PermitBatchTransferFrom', batch, message, permit2)).toMatchObject({
      tokens: [
        { token: usdc, amount: 12n, receiver: friend },
        { token: me, amount: 12n, receiver: friend },
      ],
    });
    expect(typed('PermitBatchTransferFrom', batch, message, friend)).toBeInstanceOf(Unknown);
  });

  test.each([
    ['of another application', 'Order', { Order: 'uint256 amount' }, { amount: 1 }],
    [
      'with a member more',
      'Permit',
      { Permit: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline,bool all' },
      { owner: me, spender: friend, value: 1, nonce: 0, deadline: 0, all: true },
    ],
    ['that holds a hash', 'Digest', { Digest: 'bytes32 hash' }, { hash: `0x${'11'.repeat(32)}` }],
  ] as const)('%s is unknown', (_, primaryType, types, message) => {
    expect(typed(primaryType, types as never, message)).toBeInstanceOf(Unknown);
  });
});

describe('a payload', () => {
  const keccak = (bytes: string) => {
    const payload = {
      payload: Buffer.from(bytes, 'latin1').toString('hex'),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    } as const;
    const facts = openPayload(payload, context, 'payload').facts();
    return facts['eth.outflow']?.();
  };
  const message = (text: string) => `\u0019Ethereum Signed Message:\n${String(text.length)}${text}`;

  test('that is a text for Ethereum takes nothing', () => {
    expect(keccak(message('Sign in to the shop'))).toMatchObject({ coin: 0n, tokens: [], receivers: [] });
  });

  test.each([
    ['a text of 32 bytes, as a hash has', message('x'.repeat(32))],
    ['bytes as a message', message('\u0000\u0001')],
    ['a text without the prefix', 'hello'],
    ['a length that is not the message’s', '\u0019Ethereum Signed Message:\n9hello'],
  ])('that is %s is unknown', (_, bytes) => {
    expect(keccak(bytes)).toBeInstanceOf(Unknown);
  });

  test('that is an authorization, or a digest, is unknown', () => {
    const authorization = {
      payload: JSON.stringify({ address: friend, chainId: 1, nonce: 0 }),
      encoding: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    } as const;
    const digest = {
      ...authorization,
      payload: '11'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    } as const;
    for (const raw of [authorization, digest]) {
      expect(openPayload(raw, context, 'payload').facts()['eth.outflow']?.()).toBeInstanceOf(Unknown);
    }
  });
});
