/** Facts of Tron's transactions for policies. */
import { toHex } from '../../crypto/encodings.ts';
import { Unknown } from '../../policy/language/types.ts';
import { byName } from '../arguments.ts';
import type { FactOf } from '../facts.ts';
import { tokenAt } from '../tokens.ts';
import { moneyOf } from './money.ts';
import type { ProtobufMessage } from './protobuf.ts';
import type { ReadTron, TronContract } from './read.ts';
import { callOf } from './words.ts';

/** Numbers, addresses and names are as the fields of the contracts have them; bytes are hex without 0x. */
export function tronFact(read: ReadTron): FactOf<'tron.tx'> | Unknown {
  const { transaction } = read;
  if (!transaction.ok) return new Unknown(`the transaction cannot be read: ${transaction.problem}`);
  const { raw, contracts } = transaction.value;
  const { maxFee, outflow } = moneyOf(read);
  return {
    ref_block_bytes: raw.ref_block_bytes,
    ref_block_hash: raw.ref_block_hash,
    expiration: raw.expiration,
    timestamp: raw.timestamp,
    data: raw.data,
    fee_limit: raw.fee_limit,
    contract: contracts.map(contractFact),
    max_fee: maxFee,
    outflow,
  };
}

type ContractFact = Extract<
  Exclude<FactOf<'tron.tx'>['contract'], Unknown | undefined>[number],
  { readonly type?: unknown }
>;

/** The fields that policies read of a contract, by the names that Tron gives them as well. */
const fieldNames = [
  'owner_address',
  'to_address',
  'amount',
  'contract_address',
  'call_value',
  'data',
  'call_token_value',
  'token_id',
  'resource',
  'balance',
  'receiver_address',
  'lock',
  'lock_period',
  'frozen_balance',
  'unfreeze_balance',
  'owner',
  'witness',
  'actives',
  'asset_name',
] as const;

function contractFact(contract: TronContract): ContractFact {
  const { type, permissionId, known } = contract;
  const fields: ProtobufMessage = known.ok ? known.value.fields : {};
  const unread = known.ok ? undefined : new Unknown(`the contract cannot be read: ${known.problem}`);
  return {
    ...Object.fromEntries(fieldNames.map((name) => [name, unread ?? fields[name]])),
    type,
    permission_id: permissionId,
    fields: unread ?? fields,
    ...(unread === undefined
      ? callFact(contract)
      : { function_signature: unread, function_name: unread, contract_call_args: unread }),
  };
}

function callFact(
  contract: TronContract,
): Pick<ContractFact, 'function_signature' | 'function_name' | 'contract_call_args'> {
  const called = callOf(contract);
  if (called === undefined) return {};
  const { data } = called;
  // Of a token that is known, the standard's functions are its own.
  const call = tokenAt('tron', called.contract) === undefined ? undefined : called.call;
  const unread = new Unknown(
    'the data of the call cannot be read: the contract is no token that is known here',
  );
  return {
    function_signature:
      data.length < 4
        ? new Unknown('the data of the call is shorter than a function’s signature')
        : toHex(data.subarray(0, 4)),
    function_name: call?.name ?? unread,
    contract_call_args:
      call === undefined
        ? unread
        : call.args === undefined
          ? new Unknown(`the call cannot be read: ${call.problem}`)
          : byName(call.args),
  };
}
