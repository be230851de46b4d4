/** Facts of Ethereum's transactions for policies. */
import { Unknown } from '../../policy/language/types.ts';
import { byName } from '../arguments.ts';
import type { Context } from '../chain.ts';
import { mostParts } from '../description.ts';
import type { FactOf } from '../facts.ts';
import { tokenAt } from '../tokens.ts';
import type { Call } from './abi.ts';
import { callOf, keptCallOf } from './calls.ts';
import { hexOf } from './hex.ts';
import { countLeaves } from './listed.ts';
import { moneyOf } from './money.ts';
import { tokenChainOf } from './networks.ts';
import type { EthereumTransaction } from './read.ts';
import { senderOf } from './words.ts';

/** The account that signs is the sender. */
export function ethereumFact(transaction: EthereumTransaction, context: Context): FactOf<'eth.tx'> {
  const { type, to, data, value, gas, chainId, nonce, gasPrice, maxFeePerGas } = transaction;
  const { maxFee, outflow } = moneyOf(transaction, context);
  return {
    type,
    from: senderOf(context),
    to,
    data: hexOf(data),
    value,
    gas,
    // Of a transaction with a fee market it is the most that a unit of gas may cost.
    gas_price: gasPrice ?? maxFeePerGas,
    chain_id: chainId ?? new Unknown('the transaction names no chain, and holds on every one'),
    nonce,
    max_fee_per_gas: maxFeePerGas,
    max_priority_fee_per_gas: transaction.maxPriorityFeePerGas,
    max_fee_per_blob_gas: transaction.maxFeePerBlobGas,
    ...callFact(transaction, context),
    max_fee: maxFee,
    outflow,
    access_list: bounded(
      transaction.accessList.map(({ address, storageKeys }) => ({ address, storage_keys: storageKeys })),
      transaction.accessList.reduce((count, { storageKeys }) => count + 1 + storageKeys.length, 0),
    ),
    blob_hashes: bounded(transaction.blobHashes),
    // The list is empty if no account signed.
    authorizations: transaction.authorizations.map((each) => ({
      address: each.address,
      chain_id: each.chainId,
      nonce: each.nonce,
      account: each.account,
    })),
  };
}

/**
 * Answers Unknown for a list that is longer than a description shows: a policy must not decide on hidden
 * parts.
 */
const bounded = <T>(listed: readonly T[], count = listed.length): readonly T[] | Unknown =>
  count > mostParts
    ? new Unknown(`a list has ${String(count)} elements, more than ${String(mostParts)}`)
    : listed;

type CallFact = Pick<FactOf<'eth.tx'>, 'function_name' | 'function_signature' | 'contract_call_args'>;

function callFact(transaction: EthereumTransaction, context: Context): CallFact {
  const { to, data, chainId } = transaction;
  // The code of a new contract is not a call.
  if (to === '' || data.length === 0) return {};
  // Of a token that is known, the standard's functions are its own.
  const isToken = tokenAt(tokenChainOf(chainId), to) !== undefined;
  const call = (isToken ? callOf : keptCallOf)(transaction, context.interfaces);
  return {
    function_name: call?.name ?? unreadCall,
    function_signature:
      data.length < 4
        ? new Unknown('the data of the call is shorter than a function’s signature')
        : hexOf(data.subarray(0, 4)),
    contract_call_args: argumentsFact(call),
  };
}

const unreadCall = new Unknown('the call cannot be read: no interface of the contract is kept that has it');

function argumentsFact(call: Call | undefined): CallFact['contract_call_args'] {
  if (call === undefined) return unreadCall;
  if (call.args === undefined) return new Unknown(`the call cannot be read: ${call.problem}`);
  return countLeaves(call.args.map(({ value }) => value)) > mostParts
    ? new Unknown(`the call has more than ${String(mostParts)} values`)
    : byName(call.args);
}
