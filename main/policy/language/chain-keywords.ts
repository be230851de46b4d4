/**
 * The keywords for transactions and signed data of chains, and what a budget over them must bound. Names and
 * types are the vendor's, from its public description of the language; a comment marks those that are ours.
 */
import { address, bool, caseless, dynamic, int, list, map, struct, text } from './types.ts';

const ethereum = address('ethereum');
const bitcoin = address('bitcoin');
const tron = address('tron');
const solana = address('solana');

const ethereumTransaction = struct('EthereumTransaction', {
  from: ethereum,
  to: ethereum,
  data: caseless,
  value: int,
  gas: int,
  gas_price: int,
  chain_id: int,
  nonce: int,
  max_fee_per_gas: int,
  max_priority_fee_per_gas: int,
  max_fee_per_blob_gas: int,
  type: text,
  function_name: text,
  function_signature: caseless,
  contract_call_args: map(dynamic),
  // Ours.
  max_fee: int,
  outflow: int,
  access_list: list(struct('AccessListEntry', { address: ethereum, storage_keys: list(caseless) })),
  blob_hashes: list(caseless),
  authorizations: list(
    struct('TransactionAuthorization', { address: ethereum, chain_id: int, nonce: int, account: ethereum }),
  ),
});

const eip712 = struct('Eip712TypedData', {
  primary_type: text,
  domain: struct('Eip712Domain', {
    name: text,
    version: text,
    chain_id: int,
    verifying_contract: ethereum,
    /** Ours. */
    salt: caseless,
  }),
  message: map(dynamic),
  /** Ours: the types of the message and of the domain, as EIP-712 writes them. */
  message_type: text,
  domain_type: text,
});

/** Ours: what may leave the account by a signature, of a transaction as of typed data. */
const ethereumOutflow = struct('EthereumOutflow', {
  chain_id: int,
  /** With the fee. */
  coin: int,
  tokens: list(struct('TokenOutflow', { token: ethereum, amount: int, receiver: ethereum })),
  /** Of coins and of tokens. */
  receivers: list(ethereum),
});

/** The vendor types the numbers and compares them with texts. */
const eip7702 = struct('Eip7702Authorization', { address: ethereum, chain_id: dynamic, nonce: dynamic });

const lookupReference = struct('AddressTableLookupReference', {
  address_table_key: solana,
  index: int,
  writable: bool,
});

const instruction = struct('Instruction', {
  program_key: solana,
  accounts: list(struct('Account', { account_key: solana, signer: bool, writable: bool })),
  instruction_data_hex: caseless,
  address_table_lookups: list(lookupReference),
  parsed_instruction_data: struct('SolanaParsedInstructionData', {
    instruction_name: text,
    discriminator: caseless,
    named_accounts: map(solana),
    named_account: map(solana),
    program_call_args: map(dynamic),
  }),
});

const solanaTransaction = struct('SolanaTransaction', {
  static_account_keys: list(solana),
  account_keys: list(solana),
  top_level_program_keys: list(solana),
  program_keys: list(solana),
  recent_blockhash: text,
  top_level_instructions: list(instruction),
  instructions: list(instruction),
  transfers: list(struct('Transfer', { from: solana, to: solana, amount: int })),
  spl_transfers: list(
    struct('SPLTransfer', {
      from: solana,
      to: solana,
      amount: int,
      owner: solana,
      signers: list(solana),
      token_mint: { ...solana, absent: '' },
    }),
  ),
  address_table_lookups: list(
    struct('AddressTableLookup', {
      address_table_key: solana,
      writable_indexes: list(int),
      readonly_indexes: list(int),
    }),
  ),
  address_table_lookup_references: list(lookupReference),
  // Ours.
  fee_payer: solana,
  signers: list(solana),
  writable_accounts: list(solana),
  max_fee: int,
  outflow: int,
});

const tronPermission = struct('TronPermission', {
  type: text,
  id: int,
  permission_name: text,
  threshold: int,
  parent_id: int,
  operations: caseless,
  keys: list(struct('TronKey', { address: tron, weight: int })),
});

const tronTransaction = struct('TronTransaction', {
  ref_block_bytes: caseless,
  ref_block_hash: caseless,
  expiration: int,
  timestamp: int,
  data: caseless,
  fee_limit: int,
  contract: list(
    struct('TronContract', {
      type: text,
      permission_id: int,
      owner_address: tron,
      to_address: tron,
      amount: int,
      contract_address: tron,
      call_value: int,
      data: caseless,
      call_token_value: int,
      token_id: int,
      resource: text,
      balance: int,
      receiver_address: tron,
      lock: bool,
      lock_period: int,
      frozen_balance: int,
      unfreeze_balance: int,
      owner: tronPermission,
      witness: tronPermission,
      actives: list(tronPermission),
      // Ours. `fields` has all that the contract holds, by Tron's own names.
      fields: map(dynamic),
      asset_name: text,
      function_signature: caseless,
      function_name: text,
      contract_call_args: map(dynamic),
    }),
  ),
  // Ours.
  max_fee: int,
  outflow: int,
});

const bitcoinTransaction = struct('BitcoinTransaction', {
  version: text,
  inputs: list(
    struct('BitcoinTxInput', {
      tx_id: caseless,
      vout: int,
      sequence: int,
      // Ours.
      value: int,
      address: bitcoin,
      ours: bool,
    }),
  ),
  outputs: list(
    struct('BitcoinTxOutput', {
      value: int,
      script_pubkey: caseless,
      address: bitcoin,
      address_type: text,
      /** Ours. */
      ours: bool,
    }),
  ),
  locktime: struct('BitcoinTxLocktime', { amount: int, type: text }),
  fee: int,
  /** Ours. */
  outflow: int,
});

const tempoTransaction = struct('TempoTransaction', {
  chain_id: int,
  from: ethereum,
  nonce: int,
  gas_limit: int,
  max_fee_per_gas: int,
  max_priority_fee_per_gas: int,
  fee_token: ethereum,
  valid_before: int,
  valid_after: int,
  calls: list(struct('TempoCall', { to: ethereum, input: caseless, function_signature: caseless })),
});

/** Ours: what a key signs for SSH. `host` is a claim of the door that the request came by; the signed bytes do not say it. */
const sshSignature = struct('SshSignature', {
  /** LOGIN or SIGNATURE. */
  purpose: text,
  /** Of a signature. */
  namespace: text,
  // Of a login.
  user: text,
  service: text,
  host_key: text,
  host: text,
  // Of both. `via` has the keys of the servers that a forwarded request came through.
  forwarded: bool,
  via: list(text),
});

/** Ours: what a key signs for git. `repository` and `branch` are claims of the door. */
const gitObject = struct('GitObject', {
  /** commit or tag. */
  kind: text,
  subject: text,
  author: text,
  repository: text,
  branch: text,
});

/** One activity has at most one of these, but for `ssh` with `git`, and `eth.outflow` with others of Ethereum. A keyword that ends in `.tx` is that of a transaction. */
export const chainKeywords = {
  'eth.tx': ethereumTransaction,
  'eth.eip_712': eip712,
  'eth.eip_7702_authorization': eip7702,
  'eth.outflow': ethereumOutflow,
  'solana.tx': solanaTransaction,
  'tron.tx': tronTransaction,
  'bitcoin.tx': bitcoinTransaction,
  'tempo.tx': tempoTransaction,
  ssh: sshSignature,
  git: gitObject,
} as const;

export type ChainKeyword = keyof typeof chainKeywords;
export const chainKeywordNames = Object.keys(chainKeywords) as readonly ChainKeyword[];
export const isChainKeyword = (keyword: string): keyword is ChainKeyword =>
  Object.hasOwn(chainKeywords, keyword);
/** True for what a transaction of some chain has. Money leaves by transactions and by raw payloads. */
export const isOfTransactions = (keyword: ChainKeyword): boolean =>
  keyword.endsWith('.tx') || keyword === 'eth.outflow';

interface Spending {
  /** Prefixes of facts that are a part of a transaction's spending, and the fact that is all of it. */
  readonly amounts: readonly string[];
  readonly whole: string;
  /**
   * Facts that must be bounded too: one of each list must be in the condition; `open` says what is unbounded
   * without it.
   */
  readonly needs: readonly { readonly facts: readonly string[]; readonly open: string }[];
  /** A condition that leaves nothing open. */
  readonly safe: string;
}

const day = "'24h', signing_key.public_key";

export const spendings: readonly Spending[] = [
  {
    amounts: ['eth.tx.value'],
    whole: 'eth.tx.outflow',
    needs: [
      { facts: ['eth.tx.outflow', 'eth.tx.max_fee'], open: 'fees' },
      { facts: ['eth.tx.data', 'eth.tx.function_signature'], open: 'tokens and approvals' },
      { facts: ['eth.tx.to'], open: 'the creation of contracts' },
      { facts: ['eth.tx.type', 'eth.tx.authorizations'], open: 'authorizations of other code' },
      { facts: ['eth.tx.chain_id'], open: 'other chains' },
    ],
    safe: `eth.tx.chain_id == 1 && eth.tx.to != '' && eth.tx.data == '0x' && eth.tx.type in ['LEGACY', 'TYPE_1', 'TYPE_2'] && RollingSum(eth.tx.outflow, ${day}) <= 1000000000000000000`,
  },
  {
    amounts: ['eth.outflow.tokens'],
    whole: 'eth.outflow.coin',
    needs: [
      { facts: ['eth.outflow.coin'], open: 'coins and fees' },
      { facts: ['eth.outflow.tokens'], open: 'tokens and approvals' },
      { facts: ['eth.outflow.chain_id'], open: 'other chains' },
    ],
    safe: `eth.outflow.chain_id == 1 && eth.outflow.tokens.count() == 0 && RollingSum(eth.outflow.coin, ${day}) <= 1000000000000000000`,
  },
  {
    amounts: ['solana.tx.transfers'],
    whole: 'solana.tx.outflow',
    needs: [
      { facts: ['solana.tx.outflow', 'solana.tx.max_fee'], open: 'fees' },
      {
        facts: ['solana.tx.program_keys', 'solana.tx.instructions', 'solana.tx.top_level_instructions'],
        open: 'other programs, tokens among them',
      },
    ],
    safe: `solana.tx.program_keys.all(key, key in ['11111111111111111111111111111111', 'ComputeBudget111111111111111111111111111111']) && RollingSum(solana.tx.outflow, ${day}) <= 1000000000`,
  },
  {
    amounts: ['tron.tx.contract'],
    whole: 'tron.tx.outflow',
    needs: [
      { facts: ['tron.tx.outflow', 'tron.tx.max_fee', 'tron.tx.fee_limit'], open: 'fees' },
      { facts: ['.type', 'tron.tx.max_fee'], open: 'calls and permissions' },
    ],
    safe: `tron.tx.contract.all(contract, contract.type == 'TransferContract') && RollingSum(tron.tx.outflow, ${day}) <= 1000000`,
  },
  {
    amounts: ['bitcoin.tx.outputs', 'bitcoin.tx.fee'],
    whole: 'bitcoin.tx.outflow',
    needs: [{ facts: ['bitcoin.tx.outflow'], open: 'fees, or what is sent' }],
    safe: `RollingSum(bitcoin.tx.outflow, ${day}) <= 1000000`,
  },
];
