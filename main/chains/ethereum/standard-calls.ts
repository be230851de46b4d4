/** Calls that any wallet meets: what they do with money and rights. What a contract makes of them is its own affair. */
import { once } from '../../lib/once.ts';
import { written, type ArgumentValue } from '../arguments.ts';
import { readAbi, readCall, type Abi, type AddressForm, type Call, type ReadCall } from './abi.ts';

/** A chain's descriptions of accounts and tokens. Addresses are as in the call's arguments. */
export interface Words {
  /** @returns the account, by its owner's name for it where it is one of ours. */
  readonly account: (address: string) => string;
  /** @returns an amount of a token: `1,250 USDC`, or smallest units of an address. */
  readonly amount: (units: bigint, token: string) => string;
  readonly token: (token: string) => string;
  /**
   * True if `tokens.ts` lists the token: then a number is an amount, and never one of several unique tokens.
   */
  readonly knows: (token: string) => boolean;
  /** The contract that is called. */
  readonly contract: string;
  /** The account that signs, where it is known. */
  readonly sender: string | undefined;
}

/** A call's arguments, described in words. */
interface Described {
  readonly account: (name: string) => string;
  /** @param token The parameter that names the token; without it, the called contract is the token. */
  readonly amount: (name: string, token?: string) => string;
  /** As `amount`, for what another may spend. */
  readonly limit: (name: string, token?: string) => string;
  readonly token: (name?: string) => string;
  readonly whole: (name: string) => bigint;
  readonly yes: (name: string) => boolean;
  readonly count: (name: string) => number;
  readonly isSender: (name: string) => boolean;
  readonly knowsToken: boolean;
}

type Sentence = (told: Described) => string | undefined;

interface StandardCall {
  readonly name: string;
  /** Types and names, as Solidity writes them. */
  readonly inputs: string;
  readonly title?: Sentence;
  readonly warnings?: readonly Sentence[];
}

/** So much that it can only mean all there is: some tokens count in 96 bits. */
const practicallyAll = (1n << 96n) - 1n;
export const isUnlimited = (units: bigint): boolean => units >= practicallyAll;

const spends: Sentence = (told) =>
  told.whole('amount') === 0n
    ? undefined
    : `${told.account('spender')} may then spend ${told.limit('amount')}, without any further consent.`;
const takes: Sentence = (told) =>
  told.isSender('from')
    ? undefined
    : `It takes tokens out of ${told.account('from')}, which is not the account that signs.`;
/** Of standards whose number is an amount to one contract, and one of several unique tokens to another. */
const isNumber: Sentence = (told) =>
  told.knowsToken
    ? undefined
    : 'This vault does not know this token. The number may be an amount in its smallest units, or name one unique token.';
const moreCalls: Sentence = () => 'It carries further calls inside. This vault does not read those.';
const handsOver: Sentence = () => 'It changes who is in control of the contract.';
const replacesCode: Sentence = () => 'It replaces the code of the contract.';
const sends: Sentence = (told) => `Send ${told.amount('amount')} to ${told.account('to')}`;
const moves: Sentence = (told) =>
  `Move ${told.amount('amount')} from ${told.account('from')} to ${told.account('to')}`;
const lets: Sentence = (told) => `Let ${told.account('spender')} spend ${told.limit('amount')}`;
const letsOf: Sentence = (told) =>
  `Let ${told.account('spender')} spend ${told.limit('amount')} of ${told.account('owner')}`;
const movesOne: Sentence = (told) =>
  `Move number ${String(told.whole('tokenId'))} of ${told.token()} from ${told.account('from')} to ${told.account('to')}`;

const standardCalls: readonly StandardCall[] = [
  // ERC-20, and ERC-721 where the names are the same.
  { name: 'transfer', inputs: 'address to,uint256 amount', title: sends, warnings: [isNumber] },
  {
    name: 'transferFrom',
    inputs: 'address from,address to,uint256 amount',
    title: moves,
    warnings: [takes, isNumber],
  },
  {
    name: 'approve',
    inputs: 'address spender,uint256 amount',
    title: (told) =>
      told.whole('amount') === 0n && told.knowsToken
        ? `Let ${told.account('spender')} spend no more ${told.token()}`
        : lets(told),
    warnings: [spends, isNumber],
  },
  ...['increaseAllowance', 'increaseApproval'].map((name) => ({
    name,
    inputs: 'address spender,uint256 amount',
    title: (told: Described) => `Let ${told.account('spender')} spend more: ${told.limit('amount')}`,
    warnings: [spends],
  })),
  ...['decreaseAllowance', 'decreaseApproval'].map((name) => ({
    name,
    inputs: 'address spender,uint256 amount',
    title: (told: Described) => `Let ${told.account('spender')} spend less, by ${told.amount('amount')}`,
  })),
  { name: 'burn', inputs: 'uint256 amount', title: (told) => `Destroy ${told.amount('amount')}` },
  {
    name: 'burnFrom',
    inputs: 'address from,uint256 amount',
    title: (told) => `Destroy ${told.amount('amount')} of ${told.account('from')}`,
  },
  // Wrapped coins.
  { name: 'deposit', inputs: '' },
  { name: 'withdraw', inputs: 'uint256 amount' },
  // Consents that another has signed: ERC-2612, Dai, ERC-3009.
  {
    name: 'permit',
    inputs: 'address owner,address spender,uint256 amount,uint256 deadline,uint8 v,bytes32 r,bytes32 s',
    title: letsOf,
    warnings: [spends],
  },
  {
    name: 'permit',
    inputs:
      'address holder,address spender,uint256 nonce,uint256 expiry,bool allowed,uint8 v,bytes32 r,bytes32 s',
    title: (told) =>
      told.yes('allowed')
        ? `Let ${told.account('spender')} spend ${told.token()} of ${told.account('holder')} without limit`
        : `Let ${told.account('spender')} spend no more ${told.token()} of ${told.account('holder')}`,
    warnings: [
      (told) =>
        told.yes('allowed')
          ? `${told.account('spender')} may then spend ${told.token()} without limit, without any further consent.`
          : undefined,
    ],
  },
  ...['transferWithAuthorization', 'receiveWithAuthorization'].flatMap((name) =>
    ['uint8 v,bytes32 r,bytes32 s', 'bytes signature'].map((signature) => ({
      name,
      inputs: `address from,address to,uint256 amount,uint256 validAfter,uint256 validBefore,bytes32 nonce,${signature}`,
      title: moves,
      warnings: [takes],
    })),
  ),
  // ERC-721 and ERC-1155.
  {
    name: 'setApprovalForAll',
    inputs: 'address operator,bool approved',
    title: (told) =>
      told.yes('approved')
        ? `Let ${told.account('operator')} move all that you own of ${told.token()}`
        : `Let ${told.account('operator')} no longer move what you own of ${told.token()}`,
    warnings: [
      (told) =>
        told.yes('approved')
          ? `${told.account('operator')} may then move every token of this contract that you own, now and later.`
          : undefined,
    ],
  },
  {
    name: 'safeTransferFrom',
    inputs: 'address from,address to,uint256 tokenId',
    title: movesOne,
    warnings: [takes],
  },
  {
    name: 'safeTransferFrom',
    inputs: 'address from,address to,uint256 tokenId,bytes data',
    title: movesOne,
    warnings: [takes],
  },
  {
    name: 'safeTransferFrom',
    inputs: 'address from,address to,uint256 id,uint256 amount,bytes data',
    title: (told) =>
      `Move ${String(told.whole('amount'))} of number ${String(told.whole('id'))} of ${told.token()} from ${told.account('from')} to ${told.account('to')}`,
    warnings: [takes],
  },
  {
    name: 'safeBatchTransferFrom',
    inputs: 'address from,address to,uint256[] ids,uint256[] amounts,bytes data',
    title: (told) =>
      `Move ${String(told.count('ids'))} kinds of ${told.token()} from ${told.account('from')} to ${told.account('to')}`,
    warnings: [takes],
  },
  // ERC-777, ERC-1363 and ERC-677: a transfer or a consent, and a call of its receiver.
  {
    name: 'send',
    inputs: 'address to,uint256 amount,bytes data',
    title: sends,
    warnings: [isNumber, moreCalls],
  },
  {
    name: 'authorizeOperator',
    inputs: 'address operator',
    title: (told) => `Let ${told.account('operator')} move all that you own of ${told.token()}`,
    warnings: [(told) => `${told.account('operator')} may then move all of these tokens that you own.`],
  },
  ...['', ',bytes data'].flatMap((more) => [
    {
      name: 'transferAndCall',
      inputs: `address to,uint256 amount${more}`,
      title: sends,
      warnings: [isNumber, moreCalls],
    },
    {
      name: 'transferFromAndCall',
      inputs: `address from,address to,uint256 amount${more}`,
      title: moves,
      warnings: [takes, isNumber, moreCalls],
    },
    {
      name: 'approveAndCall',
      inputs: `address spender,uint256 amount${more}`,
      title: lets,
      warnings: [spends, isNumber, moreCalls],
    },
  ]),
  // ERC-6909.
  {
    name: 'setOperator',
    inputs: 'address operator,bool approved',
    warnings: [
      (told) =>
        told.yes('approved')
          ? `${told.account('operator')} may then move every token of this contract that you own, now and later.`
          : undefined,
    ],
  },
  {
    name: 'approve',
    inputs: 'address spender,uint256 id,uint256 amount',
    warnings: [
      (told) =>
        `${told.account('spender')} may then spend tokens of number ${String(told.whole('id'))}, without any further consent.`,
    ],
  },
  { name: 'transfer', inputs: 'address to,uint256 id,uint256 amount' },
  // Lending: another may borrow, or act, on the account.
  {
    name: 'approveDelegation',
    inputs: 'address delegatee,uint256 amount',
    warnings: [(told) => `${told.account('delegatee')} may then borrow, and you owe what it borrows.`],
  },
  {
    name: 'allow',
    inputs: 'address manager,bool isAllowed',
    warnings: [
      (told) =>
        told.yes('isAllowed')
          ? `${told.account('manager')} may then do with your balance there as it likes.`
          : undefined,
    ],
  },
  // Permit2.
  {
    name: 'approve',
    inputs: 'address token,address spender,uint160 units,uint48 expiration',
    title: (told) => `Let ${told.account('spender')} spend ${told.limit('units', 'token')}`,
    warnings: [
      (told) =>
        told.whole('units') === 0n
          ? undefined
          : `${told.account('spender')} may then spend ${told.limit('units', 'token')}, without any further consent.`,
    ],
  },
  {
    name: 'transferFrom',
    inputs: 'address from,address to,uint160 units,address token',
    title: (told) =>
      `Move ${told.amount('units', 'token')} from ${told.account('from')} to ${told.account('to')}`,
    warnings: [takes],
  },
  // Calls that contain other calls.
  ...[
    ['multicall', 'bytes[] data'],
    ['multicall', 'uint256 deadline,bytes[] data'],
    ['multicall', 'bytes32 previousBlockhash,bytes[] data'],
    ['execute', 'address target,uint256 value,bytes data'],
    ['execute', 'bytes commands,bytes[] inputs,uint256 deadline'],
    ['execute', 'bytes commands,bytes[] inputs'],
    ['execute', 'bytes32 mode,bytes executionData'],
    ['executeBatch', 'address[] targets,bytes[] data'],
    ['executeBatch', 'address[] targets,uint256[] values,bytes[] data'],
    [
      'execTransaction',
      'address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,bytes signatures',
    ],
  ].map(([name = '', inputs = '']) => ({ name, inputs, warnings: [moreCalls] })),
  // Control of a contract.
  ...[
    ['transferOwnership', 'address newOwner'],
    ['renounceOwnership', ''],
    ['setOwner', 'address owner'],
    ['changeAdmin', 'address admin'],
    ['grantRole', 'bytes32 role,address account'],
    ['addOwnerWithThreshold', 'address owner,uint256 threshold'],
    ['swapOwner', 'address previous,address oldOwner,address newOwner'],
    ['enableModule', 'address module'],
  ].map(([name = '', inputs = '']) => ({ name, inputs, warnings: [handsOver] })),
  ...[
    ['upgradeTo', 'address implementation'],
    ['upgradeToAndCall', 'address implementation,bytes data'],
    ['upgrade', 'address proxy,address implementation'],
  ].map(([name = '', inputs = '']) => ({ name, inputs, warnings: [replacesCode] })),
];

const namesAndTypes = (inputs: string): readonly { readonly type: string; readonly name: string }[] =>
  inputs === ''
    ? []
    : inputs.split(',').map((input) => {
        const [type = '', name = ''] = input.split(' ');
        return { type, name };
      });

/** Read when it is first asked for: its selectors are hashes, and most commands meet no call. */
const standardAbi = once((): Abi => {
  const abi = readAbi(
    standardCalls.map(({ name, inputs }) => ({ type: 'function', name, inputs: namesAndTypes(inputs) })),
  );
  if (!abi.ok) throw new Error(abi.problem);
  return abi.value;
});

const bySignature: ReadonlyMap<string, StandardCall> = new Map(
  standardCalls.map((call) => [
    `${call.name}(${namesAndTypes(call.inputs)
      .map(({ type }) => type)
      .join(',')})`,
    call,
  ]),
);

/**
 * Reads a call of a standard's function, whichever contract it is for.
 * @returns undefined where no standard has a function of that selector.
 */
export const readStandardCall = (data: Uint8Array, addresses?: AddressForm): Call | undefined =>
  readCall(standardAbi(), data, addresses);

/** @returns what the call does, in a sentence without its end; undefined where no standard says. */
export function titleOfCall(call: Call, words: Words): string | undefined {
  if (call.args === undefined) return undefined;
  return bySignature.get(call.signature)?.title?.(describedOf(call, words));
}

/** Warnings about money and rights that the call gives away, for any contract. */
export function warningsOfCall(call: Call, words: Words): readonly string[] {
  const standard = bySignature.get(call.signature);
  if (call.args === undefined) {
    return standard === undefined
      ? []
      : [`Calls of ${call.name} can give away tokens or rights. This one cannot be read.`];
  }
  const told = describedOf(call, words);
  return (standard?.warnings ?? []).flatMap((warning) => warning(told) ?? []);
}

/** @returns whether a parameter of the call is an amount of the called token. */
export const isTokenAmount = ({ signature }: Call, index: number): boolean =>
  namesAndTypes(bySignature.get(signature)?.inputs ?? '')[index]?.name === 'amount';

/** Arguments go by their place: an interface that is kept may name them otherwise. */
function describedOf({ signature, args }: ReadCall, words: Words): Described {
  const names = namesAndTypes(bySignature.get(signature)?.inputs ?? '').map(({ name }) => name);
  const value = (name: string): ArgumentValue => args[names.indexOf(name)]?.value ?? null;
  const text = (name: string): string => written(value(name));
  const whole = (name: string): bigint => BigInt(text(name));
  const tokenOf = (name?: string): string => (name === undefined ? words.contract : text(name));
  const amount = (name: string, token?: string): string => words.amount(whole(name), tokenOf(token));
  return {
    account: (name) => words.account(text(name)),
    amount,
    limit: (name, token) =>
      isUnlimited(whole(name))
        ? `${words.token(tokenOf(token))} without limit`
        : `up to ${amount(name, token)}`,
    token: (name) => words.token(tokenOf(name)),
    whole,
    yes: (name) => value(name) === true,
    count: (name) => (value(name) as readonly ArgumentValue[]).length,
    isSender: (name) => words.sender !== undefined && text(name) === words.sender,
    knowsToken: words.knows(words.contract),
  };
}
