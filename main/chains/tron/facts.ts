/** What policies may read of Tron's transactions. */
import type { FactOf } from '../facts.ts';
import type { TronContract, TronPermission, TronTransaction } from './read.ts';

export const tronFact = (transaction: TronTransaction): FactOf<'tron.tx'> => ({
  ref_block_bytes: transaction.refBlockBytes,
  ref_block_hash: transaction.refBlockHash,
  expiration: transaction.expiration,
  timestamp: transaction.timestamp,
  data: transaction.data,
  fee_limit: transaction.feeLimit,
  contract: transaction.contracts.map(contractFact),
});

const contractFact = (contract: TronContract) => ({
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
