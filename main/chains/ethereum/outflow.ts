/**
 * Counts the money that may leave the account by a signature: coins with fees, and tokens. A transfer, an approval and a permit count in full,
 * whenever another takes it. So one budget holds for transactions and for typed data. What cannot be read is `Unknown`.
 */
import { utf8 } from '../reading.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { ArgumentValue } from '../arguments.ts';
import type { Context } from '../chain.ts';
import type { FactOf } from '../facts.ts';
import { readPersonalMessage } from '../payloads/messages.ts';
import type { TypedData, TypedObject, TypedValue } from './eip712.ts';
import { moneyOf } from './money.ts';
import type { EthereumTransaction } from './read.ts';
import { readStandardCall } from './standard-calls.ts';

type Outflow = FactOf<'eth.outflow'>;

interface TokenOutflow {
  /** The contract, with its checksum. */
  readonly token: string;
  /** In the token's smallest units. */
  readonly amount: bigint;
  /** To whom it is sent, or who may spend it. */
  readonly receiver: string;
}

/** The contract is at the same address on each chain. */
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const everything = 2n ** 256n - 1n;

/** Of calls that move or approve tokens: at which places the arguments are. The called contract is the token, or Permit2. */
const tokenCalls: Readonly<
  Record<string, { readonly token?: number; readonly receiver: number; readonly amount: number }>
> = {
  'transfer(address,uint256)': { receiver: 0, amount: 1 },
  'transferFrom(address,address,uint256)': { receiver: 1, amount: 2 },
  'approve(address,uint256)': { receiver: 0, amount: 1 },
  'increaseAllowance(address,uint256)': { receiver: 0, amount: 1 },
  'increaseApproval(address,uint256)': { receiver: 0, amount: 1 },
  // They bring a signature, which may be one of this account that was counted nowhere.
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)': { receiver: 1, amount: 2 },
  ...Object.fromEntries(
    ['transferWithAuthorization', 'receiveWithAuthorization'].flatMap((name) =>
      ['uint8,bytes32,bytes32', 'bytes'].map((signature) => [
        `${name}(address,address,uint256,uint256,uint256,bytes32,${signature})`,
        { receiver: 1, amount: 2 },
      ]),
    ),
  ),
  'approve(address,address,uint160,uint48)': { token: 0, receiver: 1, amount: 2 },
  'transferFrom(address,address,uint160,address)': { token: 3, receiver: 1, amount: 2 },
};

export function outflowOfTransaction(transaction: EthereumTransaction, context: Context): Outflow {
  const { chainId, to, data, value } = transaction;
  const tokens = tokensOfTransaction(transaction);
  return {
    chain_id: chainId ?? new Unknown('the transaction names no chain, and holds on every one'),
    coin: moneyOf(transaction, context).outflow,
    tokens,
    // Receivers of tokens that are unknown are unknown too. A plain payment of nothing has a receiver.
    receivers:
      tokens instanceof Unknown
        ? tokens
        : [...(value > 0n || data.length === 0 ? [to] : []), ...tokens.map(({ receiver }) => receiver)],
  };
}

function tokensOfTransaction({
  to,
  data,
  authorizations,
}: EthereumTransaction): readonly TokenOutflow[] | Unknown {
  if (authorizations.length > 0) return new Unknown('it hands accounts over to code of contracts');
  if (to === '') return new Unknown('it creates a contract, whose code the vault does not read');
  if (data.length === 0) return [];
  const call = readStandardCall(data);
  const places = call && tokenCalls[call.signature];
  if (call?.args === undefined || places === undefined || (places.token !== undefined && to !== permit2)) {
    return new Unknown('the call is none that the vault reads as a transfer or an approval of a token');
  }
  const argument = (place: number): ArgumentValue => call.args[place]?.value ?? null;
  const token = places.token === undefined ? to : argument(places.token);
  return granted(token, argument(places.receiver), argument(places.amount));
}

/** EIP-712's text of a type says its members, their order and their types. */
const tokenPermissions = 'TokenPermissions(address token,uint256 amount)';
const permitDetails = 'PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)';
const transferMembers =
  'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce';

interface Permitting {
  readonly message: TypedObject;
  readonly contract: string;
}

/** By the message's type. Of a type with a witness it is how the text begins. */
const permits: Readonly<Record<string, (permitting: Permitting) => readonly TokenOutflow[] | Unknown>> = {
  // ERC-2612, and Dai's own.
  'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)': ({
    message,
    contract,
  }) => granted(contract, message['spender'], message['value']),
  'Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)': ({
    message,
    contract,
  }) => granted(contract, message['spender'], message['allowed'] === false ? 0n : everything),
  // ERC-3009.
  ...Object.fromEntries(
    ['TransferWithAuthorization', 'ReceiveWithAuthorization'].map((name) => [
      `${name}(${transferMembers})`,
      ({ message, contract }: Permitting) => granted(contract, message['to'], message['value']),
    ]),
  ),
  // Permit2.
  [`PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)${permitDetails}`]:
    ofPermit2('details'),
  [`PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)${permitDetails}`]:
    ofPermit2('details'),
  [`PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)${tokenPermissions}`]:
    ofPermit2('permitted'),
  [`PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)${tokenPermissions}`]:
    ofPermit2('permitted'),
};

function ofPermit2(member: string) {
  return ({ message, contract }: Permitting): readonly TokenOutflow[] | Unknown => {
    if (contract !== permit2) return new Unknown('the permit is for another contract than Permit2');
    const each = [message[member] ?? []].flat() as readonly TypedObject[];
    const grants = each.map(({ token, amount }) => granted(token, message['spender'], amount));
    return grants.find((grant) => grant instanceof Unknown) ?? (grants.flat() as readonly TokenOutflow[]);
  };
}

function granted(
  token: ArgumentValue | TypedValue | undefined,
  receiver: ArgumentValue | TypedValue | undefined,
  amount: ArgumentValue | TypedValue | undefined,
): readonly TokenOutflow[] | Unknown {
  return typeof token === 'string' && typeof receiver === 'string' && typeof amount === 'bigint'
    ? [{ token, receiver, amount }]
    : new Unknown('the token, its receiver or the amount is not there');
}

export function outflowOfTypedData({
  message,
  messageType,
  domain,
  isStandardDomain,
}: TypedData): Outflow | Unknown {
  const { chainId, verifyingContract } = domain;
  const permit = permits[messageType];
  if (permit === undefined || !isStandardDomain || typeof verifyingContract !== 'string') {
    return new Unknown('the typed data is none that the vault reads as a permit or a transfer of a token');
  }
  if (typeof chainId !== 'bigint')
    return new Unknown('the typed data names no chain, and may hold on every one');
  const tokens = permit({ message, contract: verifyingContract });
  if (tokens instanceof Unknown) return tokens;
  return { chain_id: chainId, coin: 0n, tokens, receivers: tokens.map(({ receiver }) => receiver) };
}

/** Contracts accept a message that is the hash of something, and bytes that are none. */
export function outflowOfMessage(bytes: Uint8Array): Outflow | Unknown {
  const { message } = readPersonalMessage(bytes);
  const text = message === undefined || message.length === 32 ? undefined : utf8(message);
  return text === undefined || /[\p{Co}\p{Cn}]|(?![\n\r\t])\p{Cc}/u.test(text)
    ? new Unknown('the bytes are no text: contracts may take them for anything')
    : { chain_id: 0n, coin: 0n, tokens: [], receivers: [] };
}
