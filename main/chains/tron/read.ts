/** Tron's transactions: `raw_data` in Protocol Buffers, as its nodes make it. */
import { concatBytes } from '../../crypto/bytes.ts';
import type { Signature } from '../../crypto/curves.ts';
import { encodeBase58Check, toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { bytesField, Fields } from './protobuf.ts';
import { attempt, unreadable, utf8, type Read } from '../reading.ts';

export interface TronTransaction {
  /** Hex without 0x. */
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  /** Milliseconds since 1970. */
  readonly expiration: bigint;
  readonly timestamp: bigint;
  /** The memo, in hex. */
  readonly data: string;
  /** In sun. */
  readonly feeLimit: bigint;
  readonly contracts: readonly TronContract[];
}

/** What a contract holds beside its type; which of them depends on that. Addresses are Base58, bytes are hex without 0x. */
export interface TronContract {
  /** `TransferContract` and others, as Tron calls them. */
  readonly type: string;
  readonly permissionId: bigint;
  readonly ownerAddress?: string;
  readonly toAddress?: string;
  readonly amount?: bigint;
  /** The name of a TRC-10 token. */
  readonly assetName?: string;
  readonly contractAddress?: string;
  readonly callValue?: bigint;
  readonly data?: string;
  readonly callTokenValue?: bigint;
  readonly tokenId?: bigint;
  readonly resource?: string;
  readonly balance?: bigint;
  readonly receiverAddress?: string;
  readonly lock?: boolean;
  readonly lockPeriod?: bigint;
  readonly frozenBalance?: bigint;
  readonly unfreezeBalance?: bigint;
  readonly owner?: TronPermission | undefined;
  readonly witness?: TronPermission | undefined;
  readonly actives?: readonly TronPermission[];
}

export interface TronPermission {
  readonly type: string;
  readonly id: bigint;
  readonly permissionName: string;
  readonly threshold: bigint;
  readonly parentId: bigint;
  /** In hex. */
  readonly operations: string;
  readonly keys: readonly { readonly address: string; readonly weight: bigint }[];
}

export interface ReadTron {
  readonly transaction: TronTransaction;
  /** What is signed, which is the transaction's id as well: 32 bytes. */
  readonly digest: Uint8Array;
  /** What was there and is not understood, by the name of the part. */
  readonly unread: readonly string[];
  /** @returns the transaction with its signature, in Protocol Buffers, as nodes take it in. */
  readonly withSignature: (signature: Signature) => Uint8Array;
}

/** @param bytes `raw_data`, which nodes show as `raw_data_hex`. */
export function readTron(bytes: Uint8Array): Read<ReadTron> {
  return attempt(() => {
    if (bytes.length === 0) unreadable('expected the raw_data of a Tron transaction, got no bytes');
    const raw = new Fields(bytes, 'raw_data');
    const unread: string[] = [];
    const note = (part: string, fields: Fields): void => {
      unread.push(...fields.unknown.map((number) => `field ${String(number)} of ${part}`));
    };
    const contracts = raw.messages(11, 'contract').map((contract) => readContract(contract, note));
    if (contracts.length === 0) {
      unreadable(
        'expected raw_data with a contract, got none: a whole transaction is not taken, only its raw_data',
      );
    }
    const transaction = {
      refBlockBytes: toHex(raw.bytes(1, 'ref_block_bytes')),
      refBlockHash: toHex(raw.bytes(4, 'ref_block_hash')),
      expiration: raw.integer(8, 'expiration'),
      timestamp: raw.integer(14, 'timestamp'),
      data: toHex(raw.bytes(10, 'data')),
      feeLimit: raw.integer(18, 'fee_limit'),
      contracts,
    };
    // The number of the block that the other two name: nodes pass over it.
    raw.integer(3, 'ref_block_num');
    note('raw_data', raw);
    return {
      transaction,
      digest: sha256(bytes),
      unread,
      withSignature: ({ r, s, v }) =>
        concatBytes(
          bytesField(1, bytes),
          // Tron's tools write the recovery id as Bitcoin's do, from 27.
          bytesField(2, Buffer.concat([Buffer.from(r + s, 'hex'), Buffer.of(27 + Number.parseInt(v, 16))])),
        ),
    };
  });
}

/** Contracts by their number in the protocol. */
const contractTypes: Readonly<Record<number, string>> = {
  0: 'AccountCreateContract',
  1: 'TransferContract',
  2: 'TransferAssetContract',
  3: 'VoteAssetContract',
  4: 'VoteWitnessContract',
  5: 'WitnessCreateContract',
  6: 'AssetIssueContract',
  8: 'WitnessUpdateContract',
  9: 'ParticipateAssetIssueContract',
  10: 'AccountUpdateContract',
  11: 'FreezeBalanceContract',
  12: 'UnfreezeBalanceContract',
  13: 'WithdrawBalanceContract',
  14: 'UnfreezeAssetContract',
  15: 'UpdateAssetContract',
  16: 'ProposalCreateContract',
  17: 'ProposalApproveContract',
  18: 'ProposalDeleteContract',
  19: 'SetAccountIdContract',
  20: 'CustomContract',
  30: 'CreateSmartContract',
  31: 'TriggerSmartContract',
  32: 'GetContract',
  33: 'UpdateSettingContract',
  41: 'ExchangeCreateContract',
  42: 'ExchangeInjectContract',
  43: 'ExchangeWithdrawContract',
  44: 'ExchangeTransactionContract',
  45: 'UpdateEnergyLimitContract',
  46: 'AccountPermissionUpdateContract',
  48: 'ClearABIContract',
  49: 'UpdateBrokerageContract',
  51: 'ShieldedTransferContract',
  52: 'MarketSellAssetContract',
  53: 'MarketCancelOrderContract',
  54: 'FreezeBalanceV2Contract',
  55: 'UnfreezeBalanceV2Contract',
  56: 'WithdrawExpireUnfreezeContract',
  57: 'DelegateResourceContract',
  58: 'UnDelegateResourceContract',
  59: 'CancelAllUnfreezeV2Contract',
};

type Note = (part: string, fields: Fields) => void;

function readContract(contract: Fields, note: Note): TronContract {
  const number = Number(contract.integer(1, 'type'));
  const type = contractTypes[number];
  if (type === undefined) {
    unreadable(`expected a contract of a type that Tron has, got number ${String(number)}`);
  }
  const permissionId = contract.integer(5, 'Permission_id');
  const parameter = contract.message(2, 'parameter') ?? unreadable(`${type} has no parameter`);
  const url = utf8(parameter.bytes(1, 'type_url')) ?? '';
  if (url !== `type.googleapis.com/protocol.${type}`) {
    unreadable(`the contract is a ${type}, and its parameter says that it is of another type`);
  }
  const value = new Fields(parameter.bytes(2, 'value'), type);
  const read = readers[type];
  const known = read === undefined ? {} : read(value, note);
  note(type, value);
  note('parameter', parameter);
  note('contract', contract);
  return { type, permissionId, ...known };
}

const resources: readonly string[] = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];

/** What is read of a contract, by its type; of others no more than that is known. */
const readers: Readonly<
  Record<string, (value: Fields, note: Note) => Omit<TronContract, 'type' | 'permissionId'>>
> = {
  TransferContract: (value) => ({
    ownerAddress: addressAt(value, 1, 'owner_address'),
    toAddress: addressAt(value, 2, 'to_address'),
    amount: value.integer(3, 'amount'),
  }),
  TransferAssetContract: (value) => ({
    assetName: utf8(value.bytes(1, 'asset_name')) ?? unreadable('expected asset_name as text'),
    ownerAddress: addressAt(value, 2, 'owner_address'),
    toAddress: addressAt(value, 3, 'to_address'),
    amount: value.integer(4, 'amount'),
  }),
  TriggerSmartContract: (value) => ({
    ownerAddress: addressAt(value, 1, 'owner_address'),
    contractAddress: addressAt(value, 2, 'contract_address'),
    callValue: value.integer(3, 'call_value'),
    data: toHex(value.bytes(4, 'data')),
    callTokenValue: value.integer(5, 'call_token_value'),
    tokenId: value.integer(6, 'token_id'),
  }),
  FreezeBalanceV2Contract: (value) => ({
    ownerAddress: addressAt(value, 1, 'owner_address'),
    frozenBalance: value.integer(2, 'frozen_balance'),
    resource: resourceAt(value, 3),
  }),
  UnfreezeBalanceV2Contract: (value) => ({
    ownerAddress: addressAt(value, 1, 'owner_address'),
    unfreezeBalance: value.integer(2, 'unfreeze_balance'),
    resource: resourceAt(value, 3),
  }),
  DelegateResourceContract: (value) => ({
    ...readDelegation(value),
    lock: value.integer(5, 'lock') !== 0n,
    lockPeriod: value.integer(6, 'lock_period'),
  }),
  UnDelegateResourceContract: readDelegation,
  AccountPermissionUpdateContract(value, note) {
    const owner = value.message(2, 'owner');
    const witness = value.message(3, 'witness');
    return {
      ownerAddress: addressAt(value, 1, 'owner_address'),
      owner: owner && readPermission(owner, note),
      witness: witness && readPermission(witness, note),
      actives: value.messages(4, 'actives').map((active) => readPermission(active, note)),
    };
  },
};

function readDelegation(value: Fields): Omit<TronContract, 'type' | 'permissionId'> {
  return {
    ownerAddress: addressAt(value, 1, 'owner_address'),
    resource: resourceAt(value, 2),
    balance: value.integer(3, 'balance'),
    receiverAddress: addressAt(value, 4, 'receiver_address'),
  };
}

function readPermission(value: Fields, note: Note): TronPermission {
  const type = Number(value.integer(1, 'type of a permission'));
  const permission = {
    type:
      ['Owner', 'Witness', 'Active'][type] ??
      unreadable(`expected a permission of type 0, 1 or 2, got ${String(type)}`),
    id: value.integer(2, 'id'),
    permissionName: utf8(value.bytes(3, 'permission_name')) ?? unreadable('expected permission_name as text'),
    threshold: value.integer(4, 'threshold'),
    parentId: value.integer(5, 'parent_id'),
    operations: toHex(value.bytes(6, 'operations')),
    keys: value.messages(7, 'keys').map((key) => {
      const read = { address: addressAt(key, 1, 'address'), weight: key.integer(2, 'weight') };
      note('a key', key);
      return read;
    }),
  };
  note('a permission', value);
  return permission;
}

function resourceAt(value: Fields, number: number): string {
  const resource = Number(value.integer(number, 'resource'));
  return resources[resource] ?? unreadable(`expected resource 0, 1 or 2, got ${String(resource)}`);
}

/** Base58Check of 21 bytes that begin with 0x41; empty where there is none. */
function addressAt(value: Fields, number: number, name: string): string {
  const bytes = value.bytes(number, name);
  if (bytes.length === 0) return '';
  if (bytes.length !== 21 || bytes[0] !== 0x41) {
    unreadable(
      `expected ${name} as 21 bytes that begin with 41, got ${String(bytes.length)} bytes${bytes[0] === undefined ? '' : ` that begin with ${toHex(bytes.subarray(0, 1))}`}`,
    );
  }
  return encodeBase58Check(bytes);
}
