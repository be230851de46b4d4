/** Ethereum's transactions in plain language. */
import { concatBytes } from '../../crypto/bytes.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { integerBytes } from './integers.ts';
import { Unknown } from '../../policy/language/types.ts';
import { decimal } from '../amounts.ts';
import type { Context } from '../chain.ts';
import { line, Writer, type Description, type Line, type Part } from '../description.ts';
import type { Call } from './abi.ts';
import { hexOf } from './hex.ts';
import { firstOf, leavesOf } from './listed.ts';
import { moneyOf, takesCode, type Money } from './money.ts';
import { coinsOf, networkName, networkOf } from './networks.ts';
import type { EthereumTransaction, EthereumType, SignedAuthorization } from './read.ts';
import {
  isTokenAmount,
  readStandardCall,
  titleOfCall,
  warningsOfCall,
  type Words,
} from './standard-calls.ts';
import { callOf } from './calls.ts';
import { isOurs, wordsOf } from './words.ts';

/** ERC-8213: the hash of the data's length, as 32 bytes, and the data. */
const calldataDigest = (data: Uint8Array): Uint8Array =>
  keccak256(concatBytes(integerBytes(BigInt(data.length), 32), data));

const types: Readonly<Record<EthereumType, string>> = {
  LEGACY: 'Legacy',
  TYPE_1: 'Type 1, with an access list',
  TYPE_2: 'Type 2, with a fee market',
  TYPE_3: 'Type 3, with blobs',
  TYPE_4: 'Type 4, with code for accounts',
};

export function describeEthereum(transaction: EthereumTransaction, context: Context): Description {
  const { to, data, chainId } = transaction;
  const writer = new Writer();
  const words = wordsOf(context, chainId, to, writer);
  const call = to === '' ? undefined : callOf(transaction, context.interfaces);
  const money = moneyOf(transaction, context);
  warnOf(transaction, call, words, context, writer);
  const parts = [
    ...(call === undefined ? [] : [callPart(call, transaction, words, context, writer)]),
    ...authorizationParts(transaction, words, context, writer),
    ...accessListParts(transaction, writer),
    ...blobParts(transaction, writer),
  ];
  return {
    title: titleOf(transaction, call, words, money),
    lines: [...linesOf(transaction, words, money), ...dataLines(data, writer)],
    parts,
    warnings: writer.warnings,
    digests: data.length > 0 ? [line('Calldata digest', hexOf(calldataDigest(data)))] : [],
  };
}

function titleOf(
  transaction: EthereumTransaction,
  call: Call | undefined,
  words: Words,
  { gasFee, maxFee }: Money,
): string {
  const { value, data, chainId, authorizations } = transaction;
  const network = networkOf(chainId);
  const sends = transaction.to !== '' && data.length === 0;
  const paying = value > 0n && !sends ? `, paying ${coinsOf(network, value)}` : '';
  const delegating = authorizations.length > 0 ? `, and ${delegationTitle(authorizations, words)}` : '';
  return `${actionOf(transaction, call, words)}${paying}${delegating}, ${feeTitle(chainId, coinsOf(network, gasFee), maxFee)}`;
}

function feeTitle(chainId: bigint | undefined, gasFee: string, maxFee: Money['maxFee']): string {
  if (chainId === undefined) return `on every chain, with a fee of at most ${gasFee} on each`;
  return `with a fee of at most ${gasFee}${maxFee instanceof Unknown ? ' for gas, and more for the data' : ''}`;
}

function actionOf(
  { to, data, value, chainId }: EthereumTransaction,
  call: Call | undefined,
  words: Words,
): string {
  if (to === '') return `Create a contract with ${String(data.length)} bytes of code`;
  if (data.length === 0) return `Send ${coinsOf(networkOf(chainId), value)} to ${words.account(to)}`;
  const contract = words.knows(to) ? `${words.token(to)} (${to})` : words.account(to);
  if (call === undefined) return `Call the contract ${contract}`;
  return titleOfCall(call, words) ?? `Call ${call.name} of ${contract}`;
}

function delegationTitle(authorizations: readonly SignedAuthorization[], words: Words): string {
  const [first] = authorizations;
  return authorizations.length === 1 && first !== undefined
    ? authorizationTitle(first, words).replace(/^[A-Z]/, (letter) => letter.toLowerCase())
    : `change the code of accounts by ${String(authorizations.length)} authorizations`;
}

function authorizationTitle(authorization: SignedAuthorization, words: Words): string {
  const { account, address } = authorization;
  if (account === undefined) return `Pass over an authorization of ${address}, which no account signed`;
  return takesCode(authorization)
    ? `Let ${words.account(account)} run the code of ${address}`
    : `Take away the code of ${words.account(account)}`;
}

function linesOf(transaction: EthereumTransaction, words: Words, money: Money): readonly Line[] {
  const { to, value, chainId, data, gas, gasPrice, nonce, type } = transaction;
  const network = networkOf(chainId);
  const coins = (wei: bigint): string =>
    `${coinsOf(network, wei)} (${String(wei)} wei)${to !== '' && data.length > 0 ? ', besides tokens' : ''}`;
  const priceLine = (label: string, price: bigint | undefined): readonly Line[] =>
    price === undefined ? [] : [line(label, `${decimal(price, 9)} gwei`)];
  const { gasFee, maxFee, outflow } = money;
  return [
    line('Network', network.name),
    line(
      to === '' ? 'Receiver' : data.length > 0 ? 'Contract' : 'To',
      to === ''
        ? 'None: a contract is created'
        : words.knows(to)
          ? `${words.token(to)} (${to})`
          : words.account(to),
    ),
    line('Amount', coinsOf(network, value)),
    line(
      'Fee at most',
      maxFee instanceof Unknown
        ? `${coinsOf(network, gasFee)}, and more: ${maxFee.reason}`
        : coinsOf(network, maxFee),
    ),
    line(
      'Leaves your account at most',
      outflow instanceof Unknown ? `Not bounded: ${outflow.reason}` : coins(outflow),
    ),
    line('Nonce', nonce),
    line('Transaction type', types[type]),
    line('Gas at most', gas),
    ...priceLine('Price of gas', gasPrice),
    ...priceLine('Price of gas at most', transaction.maxFeePerGas),
    ...priceLine('Tip for gas at most', transaction.maxPriorityFeePerGas),
    ...priceLine('Price of blob gas at most', transaction.maxFeePerBlobGas),
  ];
}

const dataLines = (data: Uint8Array, writer: Writer): readonly Line[] =>
  data.length === 0
    ? []
    : [line('Size of the data', `${String(data.length)} bytes`), line('Data', writer.bytes(data, '0x'))];

function callPart(
  call: Call,
  { to, chainId }: EthereumTransaction,
  words: Words,
  context: Context,
  writer: Writer,
): Part {
  const kept = context.interfaces.abi(to)?.has(call.selector) === true;
  const title = `${call.signature}${kept ? '' : ', as standards have it'}`;
  if (call.args === undefined) return { title, lines: [line('Not read', call.problem)] };
  const lines = call.args.flatMap(({ name, value }, index) =>
    typeof value === 'bigint' && chainId !== undefined && words.knows(to) && isTokenAmount(call, index)
      ? [line(writer.text(name), `${String(value)} (${words.amount(value, to)})`)]
      : leavesOf(value, writer.text(name), writer),
  );
  const { shown, rest } = firstOf(lines, 'values', writer);
  return { title, lines: [...shown, ...rest] };
}

function authorizationParts(
  { authorizations }: EthereumTransaction,
  words: Words,
  context: Context,
  writer: Writer,
): readonly Part[] {
  const parts = authorizations.map((authorization) => ({
    title: authorizationTitle(authorization, words),
    lines: [
      line('Account', authorization.account ?? 'None: the signature is of no account'),
      line('Code', authorization.address),
      line('Network', networkName(authorization.chainId)),
      line('Nonce', authorization.nonce),
    ],
  }));
  for (const { account, ...rest } of authorizations) {
    if (account === undefined || !takesCode({ account, ...rest })) continue;
    writer.warn(
      isOurs(account, context)
        ? 'An account of yours takes a contract’s code as its own. The code can spend all that the account has.'
        : 'An account of somebody else takes a contract’s code as its own.',
    );
  }
  return parts;
}

function accessListParts({ accessList }: EthereumTransaction, writer: Writer): readonly Part[] {
  if (accessList.length === 0) return [];
  const lines = accessList.flatMap(({ address, storageKeys }) => [
    line('Address', address),
    ...storageKeys.map((key) => line('Storage key', key)),
  ]);
  const { shown, rest } = firstOf(lines, 'lines of the access list', writer);
  return [{ title: 'Access list', lines: [...shown, ...rest] }];
}

function blobParts({ blobHashes }: EthereumTransaction, writer: Writer): readonly Part[] {
  if (blobHashes.length === 0) return [];
  const { shown, rest } = firstOf(
    blobHashes.map((hash) => line('Hash', hash)),
    'blobs',
    writer,
  );
  return [{ title: 'Blobs', lines: [...shown, ...rest] }];
}

function warnOf(
  { to, data, chainId }: EthereumTransaction,
  call: Call | undefined,
  words: Words,
  context: Context,
  writer: Writer,
): void {
  if (chainId === undefined) {
    writer.warn('It names no chain. Anyone who has it can send it on every chain.');
  }
  if (to === '') {
    writer.warn('It creates a contract. This vault does not know what the contract’s code does.');
    return;
  }
  if (data.length === 0) return;
  if (isOurs(to, context)) {
    writer.warn('It calls an account of yours. Where the account has code, the code can spend all it has.');
  }
  if (call === undefined) {
    writer.warn('This vault cannot read the data of the call. It does not know what the call does.');
  } else if (call.args === undefined) {
    writer.warn(
      `This vault cannot read all of it: ${call.problem}. It does not know what the contract makes of the call.`,
    );
  }
  // An interface that is kept may call a function otherwise: the selector alone is what a token goes by.
  for (const each of [call, readStandardCall(data)]) {
    if (each !== undefined) writer.warn(...warningsOfCall(each, words));
  }
}
