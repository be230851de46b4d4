/** What policies may read of a transaction. */
import { encodeAddress } from '../crypto/addresses.ts';
import { toHex } from '../crypto/encodings.ts';
import type { ConditionFacts } from '../policy/schema.ts';
import type { BitcoinTransaction } from '../transactions/bitcoin.ts';
import type { EthereumTransaction } from '../transactions/ethereum.ts';
import { tokenTransfersOf, transfersOf } from '../transactions/solana-programs.ts';
import { lookupReferences, type LookupReference, type SolanaTransaction } from '../transactions/solana.ts';
import type { TronContract, TronPermission, TronTransaction } from '../transactions/tron.ts';

type FactOf<Keyword extends keyof ConditionFacts> = NonNullable<
  ReturnType<NonNullable<ConditionFacts[Keyword]>>
>;

/** @param publicKey The signer's, compressed: whoever signs is the sender. */
export function ethereumFact(
  { type, to, data, value, gas, chainId, nonce, ...fees }: EthereumTransaction,
  publicKey: Uint8Array,
): FactOf<'eth.tx'> {
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
  };
}

/**
 * An instruction's `accounts` are those that stand in the message; what it looks up is beside them. A program is named
 * once, in the order of the accounts.
 */
export function solanaFact(transaction: SolanaTransaction): FactOf<'solana.tx'> {
  const keys = transaction.accounts.map(({ key }) => key);
  const called = new Set(transaction.instructions.map(({ program }) => program));
  const programs = keys.filter((key) => called.has(key));
  const instructions = transaction.instructions.map(({ program, accounts, data }) => ({
    program_key: program,
    accounts: accounts
      .filter(({ lookup }) => lookup === undefined)
      .map(({ key, signer, writable }) => ({ account_key: key, signer, writable })),
    instruction_data_hex: toHex(data),
    address_table_lookups: accounts.flatMap(({ lookup }) =>
      lookup === undefined ? [] : [lookupFact(lookup)],
    ),
  }));
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
