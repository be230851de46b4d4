/** What policies may read of a transaction. */
import { encodeAddress } from '../crypto/addresses.ts';
import { toHex } from '../crypto/encodings.ts';
import type { ConditionFacts } from '../policy/schema.ts';
import { readCall } from '../transactions/abi.ts';
import { byName } from '../transactions/arguments.ts';
import type { BitcoinTransaction } from '../transactions/bitcoin.ts';
import type { EthereumTransaction } from '../transactions/ethereum.ts';
import { readInstructionBy, type Idl } from '../transactions/idl.ts';
import { tokenTransfersOf, transfersOf } from '../transactions/solana-programs.ts';
import {
  lookupReferences,
  type LookupReference,
  type SolanaInstruction,
  type SolanaTransaction,
} from '../transactions/solana.ts';
import type { TronContract, TronPermission, TronTransaction } from '../transactions/tron.ts';
import type { Interfaces } from './contract-interfaces.ts';

type FactOf<Keyword extends keyof ConditionFacts> = NonNullable<
  ReturnType<NonNullable<ConditionFacts[Keyword]>>
>;

/**
 * What a call says is there where an interface of its contract is kept and reads it.
 * @param publicKey The signer's, compressed: whoever signs is the sender.
 */
export function ethereumFact(
  { type, to, data, value, gas, chainId, nonce, ...fees }: EthereumTransaction,
  publicKey: Uint8Array,
  interfaces: Interfaces,
): FactOf<'eth.tx'> {
  const abi = to === '' ? undefined : interfaces.abi(to);
  const read = abi && readCall(abi, data);
  const call = read?.ok ? read.value : undefined;
  return {
    type,
    from: encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', publicKey),
    to,
    data: `0x${toHex(data)}`,
    value,
    gas,
    // Of a transaction with a fee market it is the most that a unit of gas may cost.
    gas_price: fees.gasPrice ?? fees.maxFeePerGas,
    chain_id: chainId,
    nonce,
    max_fee_per_gas: fees.maxFeePerGas,
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
    max_fee_per_blob_gas: fees.maxFeePerBlobGas,
    function_name: call?.name,
    function_signature: call?.selector,
    contract_call_args: call && byName(call.args),
  };
}

/**
 * An instruction's `accounts` are those that stand in the message; what it looks up is beside them. A program is named
 * once, in the order of the accounts.
 */
export function solanaFact(transaction: SolanaTransaction, interfaces: Interfaces): FactOf<'solana.tx'> {
  const keys = transaction.accounts.map(({ key }) => key);
  const called = new Set(transaction.instructions.map(({ program }) => program));
  const programs = keys.filter((key) => called.has(key));
  const instructions = transaction.instructions.map((instruction) => {
    const { program, accounts, data } = instruction;
    return {
      program_key: program,
      accounts: accounts
        .filter(({ lookup }) => lookup === undefined)
        .map(({ key, signer, writable }) => ({ account_key: key, signer, writable })),
      instruction_data_hex: toHex(data),
      address_table_lookups: accounts.flatMap(({ lookup }) =>
        lookup === undefined ? [] : [lookupFact(lookup)],
      ),
      parsed_instruction_data: parsedFact(instruction, interfaces.idl(program)),
    };
  });
  return {
    static_account_keys: keys,
    account_keys: keys,
    top_level_program_keys: programs,
    program_keys: programs,
    recent_blockhash: transaction.recentBlockhash,
    top_level_instructions: instructions,
    instructions,
    transfers: transfersOf(transaction),
    spl_transfers: tokenTransfersOf(transaction).map(({ from, to, amount, owner, signers, mint }) => ({
      from,
      to,
      amount,
      owner,
      signers,
      token_mint: mint,
    })),
    address_table_lookups: transaction.lookups.map(({ table, writable, readonly }) => ({
      address_table_key: table,
      writable_indexes: writable,
      readonly_indexes: readonly,
    })),
    address_table_lookup_references: lookupReferences(transaction.lookups).map(lookupFact),
  };
}

function parsedFact(instruction: SolanaInstruction, idl: Idl | undefined) {
  const read = idl && readInstructionBy(idl, instruction);
  if (!read?.ok) return undefined;
  const { name, discriminator, accounts, args } = read.value;
  return {
    instruction_name: name,
    discriminator,
    named_accounts: accounts,
    // As the vendor's table calls it, unlike its text.
    named_account: accounts,
    program_call_args: byName(args),
  };
}

const lookupFact = ({ table, index, writable }: LookupReference) => ({
  address_table_key: table,
  index,
  writable,
});

export const tronFact = (transaction: TronTransaction): FactOf<'tron.tx'> => ({
  ref_block_bytes: transaction.refBlockBytes,
  ref_block_hash: transaction.refBlockHash,
  expiration: transaction.expiration,
  timestamp: transaction.timestamp,
  data: transaction.data,
  fee_limit: transaction.feeLimit,
  contract: transaction.contracts.map(contractFact),
});

const contractFact = (contract: TronContract): NonNullable<FactOf<'tron.tx'>['contract']>[number] => ({
  type: contract.type,
  permission_id: contract.permissionId,
  owner_address: contract.ownerAddress,
  to_address: contract.toAddress,
  amount: contract.amount,
  contract_address: contract.contractAddress,
  call_value: contract.callValue,
  data: contract.data,
  call_token_value: contract.callTokenValue,
  token_id: contract.tokenId,
  resource: contract.resource,
  balance: contract.balance,
  receiver_address: contract.receiverAddress,
  lock: contract.lock,
  lock_period: contract.lockPeriod,
  frozen_balance: contract.frozenBalance,
  unfreeze_balance: contract.unfreezeBalance,
  owner: contract.owner && permissionFact(contract.owner),
  witness: contract.witness && permissionFact(contract.witness),
  actives: contract.actives?.map(permissionFact),
});

const permissionFact = ({ permissionName, parentId, ...permission }: TronPermission) => ({
  ...permission,
  permission_name: permissionName,
  parent_id: parentId,
});

/** From here on a lock time is a time and no height. */
const firstTime = 500_000_000;

export const bitcoinFact = (transaction: BitcoinTransaction): FactOf<'bitcoin.tx'> => ({
  version: String(transaction.version),
  inputs: transaction.inputs.map(({ txId, vout, sequence }) => ({ tx_id: txId, vout, sequence })),
  outputs: transaction.outputs.map(({ value, script, address, addressType }) => ({
    value,
    script_pubkey: script,
    address,
    address_type: addressType,
  })),
  locktime: {
    amount: transaction.lockTime,
    type: transaction.lockTime < firstTime ? 'Blocks' : 'Seconds',
  },
  fee: transaction.fee,
});
