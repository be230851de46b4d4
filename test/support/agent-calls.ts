/**
 * Calls of an agent's tools that spend, on each path that the vault knows and on those that it refuses; and the amounts that leave
 * by what was signed, read by viem, which has nothing of the vault's own readers.
 */
import {
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  maxUint256,
  parseTransaction,
  serializeTransaction,
  type Hex,
} from 'viem';
import { expect } from 'vitest';
import type { Json } from './support.ts';
import { transferAuthorization, usdc } from './transfer-authorization.ts';

const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
export const friend = getAddress(`0x${'5a'.repeat(20)}`);
export const stranger = getAddress(`0x${'66'.repeat(20)}`);
const gas = 21_000n;
const gasPrice = 1_000_000_000n;
/** Of each transaction. */
export const fee = gas * gasPrice;
const far = String(2n ** 47n);

export type ToolCall = readonly [tool: 'sign_transaction' | 'sign_typed_data' | 'sign_message', args: Json];

export interface Spent {
  readonly usdc: bigint;
  readonly wei: bigint;
}

const fields = (text: string) =>
  text.split(', ').map((field) => {
    const [type = '', name = ''] = field.split(' ');
    return { name, type };
  });
const details = { PermitDetails: fields('address token, uint160 amount, uint48 expiration, uint48 nonce') };
const permissions = { TokenPermissions: fields('address token, uint256 amount') };

/** @param below Answers a random number below another. @returns what makes the next call. */
export function agentCalls(account: Hex, below: (bound: number) => number): () => ToolCall {
  let nonce = 0;
  const next = (): string => String(nonce++);
  const amount = (): bigint =>
    [0n, 1n, BigInt(below(3_000)), BigInt(below(900_000)), 5_000_001n, maxUint256][below(6)] ?? 0n;
  const uint160 = (): string => String(amount() % 2n ** 160n);
  const to = (): Hex => (below(5) === 0 ? stranger : friend);
  const token = (): Hex => (below(8) === 0 ? stranger : usdc);
  const many = <T>(make: () => T): readonly T[] => Array.from({ length: 1 + below(3) }, make);

  const transaction = (change: object): ToolCall => [
    'sign_transaction',
    {
      transaction: {
        ...{ chainId: '1', nonce: next(), to: friend, value: '0', gas: String(gas) },
        ...{ maxFeePerGas: String(gasPrice), maxPriorityFeePerGas: '1', ...change },
      },
    },
  ];
  const raw = (change: object): ToolCall => {
    const whole = { chainId: 1, nonce: nonce++, to: to(), gas, ...change };
    return ['sign_transaction', { unsignedTransaction: serializeTransaction(whole as never) }];
  };
  const call = (data: Hex): ToolCall =>
    transaction({ to: token(), data, ...(below(10) === 0 && { value: String(below(3)) }) });
  const typed = (
    verifyingContract: string,
    name: string,
    primaryType: string,
    types: object,
    message: object,
  ): ToolCall => [
    'sign_typed_data',
    { typedData: { domain: { name, chainId: 1, verifyingContract }, primaryType, types, message } },
  ];
  const permit2Of = (primaryType: string, types: object, message: object): ToolCall =>
    typed(below(20) === 0 ? stranger : permit2, 'Permit2', primaryType, types, message);
  const grant = () => ({ token: token(), amount: uint160(), expiration: far, nonce: next() });
  const permission = () => ({ token: token(), amount: String(amount()) });

  const makers: readonly (() => ToolCall)[] = [
    () => transaction({ value: String(BigInt(below(20)) * fee) }),
    () => transaction({ to: to(), value: String(below(1000)) }),
    () => raw({ type: 'legacy', gasPrice, value: BigInt(below(20)) * fee }),
    () => call(encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to(), amount()] })),
    () => call(encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [to(), amount()] })),
    () =>
      call(
        encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [account, to(), amount()] }),
      ),
    () => {
      const typedData = transferAuthorization({
        ...{ from: account, to: to(), value: amount(), nonce: BigInt(next()) },
      });
      const { domain, message, types } = typedData;
      if (below(2) === 0) return ['sign_typed_data', { typedData }];
      const received = { ReceiveWithAuthorization: types.TransferWithAuthorization };
      return typed(...[domain.verifyingContract, domain.name, 'ReceiveWithAuthorization'], received, message);
    },
    () =>
      typed(
        ...[token(), 'USD Coin', 'Permit'],
        { Permit: fields('address holder, address spender, uint256 nonce, uint256 expiry, bool allowed') },
        { holder: account, spender: to(), nonce: next(), expiry: far, allowed: below(2) === 0 },
      ),
    () =>
      typed(
        ...[token(), 'USD Coin', 'Permit'],
        { Permit: fields('address owner, address spender, uint256 value, uint256 nonce, uint256 deadline') },
        { owner: account, spender: to(), value: String(amount()), nonce: next(), deadline: far },
      ),
    () =>
      permit2Of(
        'PermitSingle',
        { PermitSingle: fields('PermitDetails details, address spender, uint256 sigDeadline'), ...details },
        { details: grant(), spender: to(), sigDeadline: far },
      ),
    () =>
      permit2Of(
        'PermitBatch',
        { PermitBatch: fields('PermitDetails[] details, address spender, uint256 sigDeadline'), ...details },
        { details: many(grant), spender: to(), sigDeadline: far },
      ),
    () =>
      permit2Of(
        'PermitTransferFrom',
        {
          PermitTransferFrom: fields(
            'TokenPermissions permitted, address spender, uint256 nonce, uint256 deadline',
          ),
          ...permissions,
        },
        { permitted: permission(), spender: to(), nonce: next(), deadline: far },
      ),
    () =>
      permit2Of(
        'PermitBatchTransferFrom',
        {
          PermitBatchTransferFrom: fields(
            'TokenPermissions[] permitted, address spender, uint256 nonce, uint256 deadline',
          ),
          ...permissions,
        },
        { permitted: many(permission), spender: to(), nonce: next(), deadline: far },
      ),
    // Refused, whatever the budgets: calls that cannot be read, new contracts, authorizations, hashes, other typed data and texts.
    () => transaction({ to: usdc, data: '0xac9650d8' }),
    () =>
      raw({
        type: 'eip1559',
        to: undefined,
        data: '0x6000',
        maxFeePerGas: gasPrice,
        maxPriorityFeePerGas: 1n,
      }),
    () =>
      raw({
        ...{ type: 'eip7702', maxFeePerGas: gasPrice, maxPriorityFeePerGas: 1n, value: 1n },
        authorizationList: [
          {
            chainId: 1,
            address: stranger,
            nonce: 0,
            yParity: 0,
            r: `0x${'11'.repeat(32)}`,
            s: `0x${'22'.repeat(32)}`,
          },
        ],
      }),
    () => ['sign_message', { message: below(2) === 0 ? 'Sign in' : 'x'.repeat(32) }],
    () =>
      typed(
        usdc,
        'USD Coin',
        'Order',
        { Order: fields('address to, uint256 value') },
        { to: friend, value: '1' },
      ),
  ];
  return () => {
    const [tool, args] = makers[below(makers.length)]?.() ?? (['sign_message', {}] as const);
    return [tool, { from: account, ...args }];
  };
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, each) => all + each, 0n);

/**
 * @param raw The transaction, signed or not; undefined for typed data.
 * @throws AssertionError for what no budget of coins or USDC, for the friend alone, may let leave.
 */
export function spentBy([tool, args]: ToolCall, raw: Hex | undefined): Spent {
  if (raw !== undefined) return spentByTransaction(raw);
  expect(tool).toBe('sign_typed_data');
  return { usdc: spentByTypedData(args['typedData'] as TypedData), wei: 0n };
}

function spentByTransaction(raw: Hex): Spent {
  const {
    type,
    value = 0n,
    gas: limit = 0n,
    gasPrice: price,
    maxFeePerGas,
    data = '0x',
    to,
  } = parseTransaction(raw);
  expect(['legacy', 'eip1559']).toContain(type);
  const wei = value + limit * (maxFeePerGas ?? price ?? maxUint256);
  if (data === '0x') {
    expect(getAddress(to ?? '0x')).toBe(friend);
    return { usdc: 0n, wei };
  }
  expect(getAddress(to ?? '0x')).toBe(usdc);
  // Coins that go with a call have the contract as their receiver, and it is not the friend.
  expect(value).toBe(0n);
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
  const [receiver, amount] = functionName === 'transferFrom' ? args.slice(1) : args;
  expect(receiver).toBe(friend);
  return { usdc: BigInt(amount ?? 0), wei };
}

interface Grant {
  readonly token: string;
  readonly amount: string;
}
interface TypedData {
  readonly domain: { readonly verifyingContract: string };
  readonly primaryType: string;
  readonly message: {
    readonly to?: string;
    readonly spender?: string;
    readonly value?: string;
    readonly allowed?: boolean;
    readonly details?: Grant | readonly Grant[];
    readonly permitted?: Grant | readonly Grant[];
  };
}

function spentByTypedData({ domain: { verifyingContract }, primaryType, message }: TypedData): bigint {
  const { to, spender, value, allowed, details: granted, permitted } = message;
  expect(to ?? spender).toBe(friend);
  if (/^(Transfer|Receive)WithAuthorization$|^Permit$/.test(primaryType)) {
    expect(verifyingContract).toBe(usdc);
    return allowed === false ? 0n : BigInt(value ?? maxUint256);
  }
  expect(primaryType).toMatch(/^Permit(Single|Batch|TransferFrom|BatchTransferFrom)$/);
  expect(verifyingContract).toBe(permit2);
  const grants = [granted ?? permitted ?? []].flat();
  expect(grants.every(({ token }) => token === usdc)).toBe(true);
  return sum(grants.map(({ amount }) => BigInt(amount)));
}
