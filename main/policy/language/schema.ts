/**
 * What each field of a policy may speak of. Names and types are the vendor's, from its public description of the language;
 * `submitter` and `signing_key` are ours, and so are the fields that a comment says so of.
 */
import {
  bool,
  caseless,
  dynamic,
  int,
  list,
  map,
  optionalText,
  struct,
  text,
  timestamp,
  versioned,
  type Fact,
  type Type,
  type Unknown,
} from './types.ts';

/** The fields of a policy that hold an expression. */
export type PolicyField = 'condition' | 'consensus' | 'time';

const user = struct('User', { id: text, tags: list(text), email: optionalText, alias: optionalText });

const credential = struct('Credential', {
  id: text,
  user_id: text,
  type: text,
  credential_id: optionalText,
  public_key: optionalText,
});

/** Each is there for some types of activity alone. */
const params = struct('ActivityParams', {
  hash_function: text,
  encoding: text,
  type: text,
  user_ids: list(text),
  user_id: text,
  /** Ours: the tags that new users are given. */
  user_tags: list(text),
  api_key_ids: list(text),
  target_public_key: text,
  wallet_id: text,
  otp_length: int,
  session_profile_id: text,
  endpoint_id: text,
  sign_with: text,
  signatures: dynamic,
  transfer: dynamic,
  claim: dynamic,
  lightning_receive: dynamic,
});

const activity = struct('Activity', {
  /** The newest of its operation's types, and the same as any of them. */
  type: versioned,
  kind: text,
  resource: text,
  action: text,
  params,
  /** Ours: how many signatures it gives; of activities that sign alone. */
  signatures: int,
});

/** The key that signs, whichever of its names or addresses the request calls it by. */
const signingKey = struct('SigningKey', { public_key: caseless, curve: text });

const wallet = struct('Wallet', { id: text, imported: bool, exported: bool, label: optionalText });

const privateKey = struct('PrivateKey', {
  id: text,
  tags: list(text),
  imported: bool,
  exported: bool,
  label: optionalText,
});

/** Its address is compared exactly, unlike those of a transaction: for most formats case carries meaning. */
const walletAccount = struct('WalletAccount', {
  address: text,
  path_indexes: list(int),
  path_hardened: list(bool),
});

const ethereumTransaction = struct('EthereumTransaction', {
  from: caseless,
  to: caseless,
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
  access_list: list(struct('AccessListEntry', { address: caseless, storage_keys: list(caseless) })),
  blob_hashes: list(caseless),
  authorizations: list(
    struct('TransactionAuthorization', { address: caseless, chain_id: int, nonce: int, account: caseless }),
  ),
});

const eip712 = struct('Eip712TypedData', {
  primary_type: text,
  domain: struct('Eip712Domain', {
    name: text,
    version: text,
    chain_id: int,
    verifying_contract: caseless,
    /** Ours. */
    salt: caseless,
  }),
  message: map(dynamic),
  /** Ours: the types of the message and of the domain, as EIP-712 writes them. */
  message_type: text,
  domain_type: text,
});

/** The vendor types the numbers and compares them with texts. */
const eip7702 = struct('Eip7702Authorization', { address: caseless, chain_id: dynamic, nonce: dynamic });

const lookupReference = struct('AddressTableLookupReference', {
  address_table_key: text,
  index: int,
  writable: bool,
});

const instruction = struct('Instruction', {
  program_key: text,
  accounts: list(struct('Account', { account_key: text, signer: bool, writable: bool })),
  instruction_data_hex: text,
  address_table_lookups: list(lookupReference),
  parsed_instruction_data: struct('SolanaParsedInstructionData', {
    instruction_name: text,
    discriminator: text,
    named_accounts: map(text),
    named_account: map(text),
    program_call_args: map(dynamic),
  }),
});

const solanaTransaction = struct('SolanaTransaction', {
  static_account_keys: list(text),
  account_keys: list(text),
  top_level_program_keys: list(text),
  program_keys: list(text),
  recent_blockhash: text,
  top_level_instructions: list(instruction),
  instructions: list(instruction),
  transfers: list(struct('Transfer', { from: text, to: text, amount: int })),
  spl_transfers: list(
    struct('SPLTransfer', {
      from: text,
      to: text,
      amount: int,
      owner: text,
      signers: list(text),
      token_mint: optionalText,
    }),
  ),
  address_table_lookups: list(
    struct('AddressTableLookup', {
      address_table_key: text,
      writable_indexes: list(int),
      readonly_indexes: list(int),
    }),
  ),
  address_table_lookup_references: list(lookupReference),
  // Ours.
  fee_payer: text,
  signers: list(text),
  writable_accounts: list(text),
  max_fee: int,
  outflow: int,
});

const tronPermission = struct('TronPermission', {
  type: text,
  id: int,
  permission_name: text,
  threshold: int,
  parent_id: int,
  operations: text,
  keys: list(struct('TronKey', { address: text, weight: int })),
});

const tronTransaction = struct('TronTransaction', {
  ref_block_bytes: text,
  ref_block_hash: text,
  expiration: int,
  timestamp: int,
  data: text,
  fee_limit: int,
  contract: list(
    struct('TronContract', {
      type: text,
      permission_id: int,
      owner_address: text,
      to_address: text,
      amount: int,
      contract_address: text,
      call_value: int,
      data: text,
      call_token_value: int,
      token_id: int,
      resource: text,
      balance: int,
      receiver_address: text,
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
      function_signature: text,
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
      tx_id: text,
      vout: int,
      sequence: int,
      // Ours.
      value: int,
      address: text,
      ours: bool,
    }),
  ),
  outputs: list(
    struct('BitcoinTxOutput', {
      value: int,
      script_pubkey: text,
      address: text,
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
  from: caseless,
  nonce: int,
  gas_limit: int,
  max_fee_per_gas: int,
  max_priority_fee_per_gas: int,
  fee_token: caseless,
  valid_before: int,
  valid_after: int,
  calls: list(struct('TempoCall', { to: caseless, input: caseless, function_signature: caseless })),
});

const condition = {
  activity,
  wallet,
  wallets: list(wallet),
  private_key: privateKey,
  wallet_account: walletAccount,
  signing_key: signingKey,
  submitter: user,
  'eth.tx': ethereumTransaction,
  'eth.eip_712': eip712,
  'eth.eip_7702_authorization': eip7702,
  'solana.tx': solanaTransaction,
  'tron.tx': tronTransaction,
  'bitcoin.tx': bitcoinTransaction,
  'tempo.tx': tempoTransaction,
  'secret.static_properties': map(text),
} as const;

const consensus = { approvers: list(user), credentials: list(credential) } as const;

const time = { 'time.now': timestamp } as const;

/** By field of a policy, the keywords and what each is. A keyword with a dot is one name: `eth` alone is nothing. */
export const keywords: Readonly<Record<PolicyField, Readonly<Record<string, Type>>>> = {
  condition,
  consensus,
  time,
};

/**
 * What an activity shows to conditions: by keyword, a function that answers the fact, or nothing where the activity has no
 * such thing. It is called when a policy first asks, once a decision, and what it throws goes through.
 *
 * Numbers are exact: a bigint where a number might not be. Where a transaction has no receiver, `to` is ''. Ethereum's
 * hexadecimal has its `0x`.
 */
export type ConditionFacts = {
  readonly [Keyword in Exclude<keyof typeof condition, 'submitter'>]?: () =>
    Fact<(typeof condition)[Keyword]> | Unknown | undefined;
};

export type UserFact = Fact<typeof user>;
export type CredentialFact = Fact<typeof credential>;
