/**
 * Tron's contracts: the fields of each type, and what it does with money and rights. Fields and numbers are those of
 * `protocol/src/main/protos` in java-tron, and what a contract costs is what its actuator charges.
 */
import { Unknown } from '../../policy/language/types.ts';
import { decimal } from '../amounts.ts';
import type { Read } from '../reading.ts';
import { readProtobuf, type ProtobufMessage, type MessageOf, type Schema } from './protobuf.ts';

/** Names accounts and texts in a description. */
export interface Naming {
  readonly account: (address: string) => string;
  readonly isOurs: (address: string) => boolean;
  /** Text of strangers, or bytes in hex where they are none. */
  readonly name: (hex: string) => string;
  readonly text: (text: string) => string;
}

type Amount = bigint | Unknown;

/** Tells the deeds of a contract from its fields. */
interface Meaning<Fields> {
  readonly title: (fields: Fields, names: Naming) => string;
  readonly warnings?: (fields: Fields, names: Naming) => readonly string[];
  /** Returns the payment that is sent along to a contract. The title says it after the deed. */
  readonly pays?: (fields: Fields) => Payment;
  /** Sun that leave the account beside the fee. */
  readonly out?: (fields: Fields) => Amount;
  /** Costs beside the bandwidth. */
  readonly costs?: readonly Cost[];
  /** True where it runs code: its energy costs the fee limit at most. */
  readonly runs?: boolean;
}

interface Payment {
  /** In sun. */
  readonly coins: bigint;
  /** Of a token of the chain, by its number. */
  readonly tokens: bigint;
  readonly tokenId: bigint;
}

export interface Cost {
  readonly what: string;
  /** In sun. */
  readonly amount: bigint;
}

/** A contract that was read to its last byte. */
export interface KnownContract {
  readonly schema: Schema;
  readonly fields: ProtobufMessage;
  readonly title: (names: Naming) => string;
  /** For the title, after the deed; empty where nothing is sent along. */
  readonly paying: (names: Naming) => string;
  readonly warnings: (names: Naming) => readonly string[];
  readonly out: Amount;
  readonly costs: readonly Cost[];
  readonly runs: boolean;
}

interface ContractType {
  readonly number: number;
  readonly read: (bytes: Uint8Array, type: string) => Read<KnownContract>;
}

const typeOf = <const S extends Schema>(
  number: number,
  schema: S,
  meaning: Meaning<MessageOf<S>>,
): ContractType => ({
  number,
  read(bytes, type) {
    const read = readProtobuf(schema, bytes, type);
    if (!read.ok) return read;
    const fields = read.value;
    return {
      ok: true,
      value: {
        schema,
        fields,
        title: (names) => meaning.title(fields, names),
        paying: (names) => (meaning.pays === undefined ? '' : payingText(meaning.pays(fields), names)),
        warnings: (names) => meaning.warnings?.(fields, names) ?? [],
        out: meaning.out?.(fields) ?? 0n,
        costs: meaning.costs ?? [],
        runs: meaning.runs ?? false,
      },
    };
  },
});

const unread = (number: number): ContractType => ({
  number,
  read: (_, type) => ({ ok: false, problem: `contracts of the type ${type} are not read here` }),
});

export const trxOf = (sun: bigint): string => `${decimal(sun, 6)} TRX`;

/**
 * The network’s prices in sun, by `wallet/getchainparameters` of a node of the main network. The network votes on them.
 */
export const prices = {
  of: 'October 2026',
  /** For a byte. */
  bandwidth: 1000n,
  memo: 1_000_000n,
  /** For accounts with more than one key. */
  signatures: 1_000_000n,
};
/** `getCreateNewAccountFeeInSystemContract` and `getCreateAccountFee`. */
const newAccount: Cost = { what: 'if the receiver’s account is new', amount: 1_100_000n };
const permissionUpdate: Cost = { what: 'to change permissions', amount: 100_000_000n };
const issue: Cost = { what: 'to issue a token', amount: 1_024_000_000n };
const exchange: Cost = { what: 'to make an exchange', amount: 1_024_000_000n };
const witness: Cost = { what: 'to become a candidate', amount: 9_999_000_000n };

/** As the exchanges of the chain name TRX among tokens. */
const trx = '_';
const tokenText = (id: string, amount: bigint, { text }: Naming): string =>
  id === trx ? trxOf(amount) : `${String(amount)} of the token ${text(id)}`;
const inTrx = (id: string, amount: bigint): bigint => (id === trx ? amount : 0n);

function payingText({ coins, tokens, tokenId }: Payment, names: Naming): string {
  const paid = [
    ...(coins === 0n ? [] : [trxOf(coins)]),
    ...(tokens === 0n ? [] : [tokenText(String(tokenId), tokens, names)]),
  ];
  return paid.length === 0 ? '' : `, paying ${paid.join(' and ')}`;
}

const resources = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];

const permission = {
  type: [1, ['Owner', 'Witness', 'Active']],
  id: [2, 'whole32'],
  permission_name: [3, 'text'],
  threshold: [4, 'whole'],
  parent_id: [5, 'whole32'],
  operations: [6, 'operations'],
  keys: [7, { address: [1, 'address'], weight: [2, 'whole'] }, 'many'],
} as const satisfies Schema;

const owner = { owner_address: [1, 'address'] } as const;
const ofContract = { ...owner, contract_address: [2, 'address'] } as const;
const delegation = {
  ...owner,
  resource: [2, resources],
  balance: [3, 'sun'],
  receiver_address: [4, 'address'],
} as const;
const exchangeOf = {
  ...owner,
  exchange_id: [2, 'whole'],
  token_id: [3, 'text'],
  quant: [4, 'whole'],
} as const;

/** More than a title names. */
const most = 10;

const few = <T>(listed: readonly T[], write: (each: T) => string): string =>
  listed.length === 0
    ? 'no one'
    : listed.length > most
      ? `${String(listed.length)} accounts`
      : listed.map(write).join(', ');

const permissionType = 'AccountPermissionUpdateContract';

const resource = (name: string): string => name.toLowerCase().replace('_', ' ');

export const contractTypes: Readonly<Record<string, ContractType>> = {
  AccountCreateContract: typeOf(
    0,
    { ...owner, account_address: [2, 'address'], type: [3, ['Normal', 'AssetIssue', 'Contract']] },
    {
      title: ({ account_address }, { account }) => `Create the account ${account(account_address)}`,
      costs: [newAccount],
    },
  ),
  TransferContract: typeOf(
    1,
    { ...owner, to_address: [2, 'address'], amount: [3, 'sun'] },
    {
      title: ({ amount, to_address }, { account }) => `Send ${trxOf(amount)} to ${account(to_address)}`,
      out: ({ amount }) => amount,
      costs: [newAccount],
    },
  ),
  TransferAssetContract: typeOf(
    2,
    {
      asset_name: [1, 'text'],
      owner_address: [2, 'address'],
      to_address: [3, 'address'],
      amount: [4, 'whole'],
    },
    {
      title: ({ amount, asset_name, to_address }, names) =>
        `Send ${String(amount)} of the token ${names.text(asset_name)} to ${names.account(to_address)}`,
      costs: [newAccount],
    },
  ),
  VoteAssetContract: unread(3),
  VoteWitnessContract: typeOf(
    4,
    {
      ...owner,
      votes: [2, { vote_address: [1, 'address'], vote_count: [2, 'whole'] }, 'many'],
      support: [3, 'bool'],
    },
    {
      title: ({ votes }, { account }) =>
        `Vote for ${few(votes, (vote) => `${account(vote.vote_address)} (${String(vote.vote_count)})`)}`,
      warnings: () => ['It replaces all votes that the account has given.'],
    },
  ),
  WitnessCreateContract: typeOf(
    5,
    { ...owner, url: [2, 'name'] },
    {
      title: ({ owner_address }, { account }) => `Make ${account(owner_address)} a candidate for a witness`,
      costs: [witness],
    },
  ),
  AssetIssueContract: typeOf(
    6,
    {
      ...owner,
      name: [2, 'name'],
      abbr: [3, 'name'],
      total_supply: [4, 'whole'],
      frozen_supply: [5, { frozen_amount: [1, 'whole'], frozen_days: [2, 'whole'] }, 'many'],
      trx_num: [6, 'whole32'],
      precision: [7, 'whole32'],
      num: [8, 'whole32'],
      start_time: [9, 'time'],
      end_time: [10, 'time'],
      order: [11, 'whole'],
      vote_score: [16, 'whole32'],
      description: [20, 'name'],
      url: [21, 'name'],
      free_asset_net_limit: [22, 'whole'],
      public_free_asset_net_limit: [23, 'whole'],
      public_free_asset_net_usage: [24, 'whole'],
      public_latest_free_net_time: [25, 'whole'],
      id: [41, 'text'],
    },
    { title: ({ name: called }, { name }) => `Issue the token ${name(called)}`, costs: [issue] },
  ),
  WitnessUpdateContract: typeOf(
    8,
    { ...owner, update_url: [12, 'name'] },
    {
      title: ({ update_url }, { name }) => `Change the candidate’s address on the web to ${name(update_url)}`,
    },
  ),
  ParticipateAssetIssueContract: typeOf(
    9,
    { ...owner, to_address: [2, 'address'], asset_name: [3, 'text'], amount: [4, 'sun'] },
    {
      title: ({ amount, asset_name, to_address }, names) =>
        `Buy the token ${names.text(asset_name)} of ${names.account(to_address)} for ${trxOf(amount)}`,
      out: ({ amount }) => amount,
    },
  ),
  AccountUpdateContract: typeOf(
    10,
    { account_name: [1, 'name'], owner_address: [2, 'address'] },
    {
      title: ({ account_name, owner_address }, { account, name }) =>
        `Give ${account(owner_address)} the name ${name(account_name)}`,
    },
  ),
  FreezeBalanceContract: typeOf(
    11,
    {
      ...owner,
      frozen_balance: [2, 'sun'],
      frozen_duration: [3, 'whole'],
      resource: [10, resources],
      receiver_address: [15, 'address'],
    },
    {
      title: (fields, { account }) =>
        `Stake ${trxOf(fields.frozen_balance)} for ${resource(fields.resource)}${fields.receiver_address === '' ? '' : ` of ${account(fields.receiver_address)}`}`,
    },
  ),
  UnfreezeBalanceContract: typeOf(
    12,
    { ...owner, resource: [10, resources], receiver_address: [15, 'address'] },
    {
      title: (fields, { account }) =>
        `Unstake all TRX from ${resource(fields.resource)}${fields.receiver_address === '' ? '' : ` of ${account(fields.receiver_address)}`}`,
    },
  ),
  WithdrawBalanceContract: typeOf(13, owner, { title: () => 'Withdraw the rewards of votes' }),
  UnfreezeAssetContract: typeOf(14, owner, { title: () => 'Unfreeze the tokens that the account issued' }),
  UpdateAssetContract: typeOf(
    15,
    {
      ...owner,
      description: [2, 'name'],
      url: [3, 'name'],
      new_limit: [4, 'whole'],
      new_public_limit: [5, 'whole'],
    },
    { title: () => 'Change what is said of the token that the account issued' },
  ),
  ProposalCreateContract: unread(16),
  ProposalApproveContract: typeOf(
    17,
    { ...owner, proposal_id: [2, 'whole'], is_add_approval: [3, 'bool'] },
    {
      title: ({ proposal_id, is_add_approval }) =>
        `${is_add_approval ? 'Approve' : 'Take back the approval of'} proposal ${String(proposal_id)} of the network`,
    },
  ),
  ProposalDeleteContract: typeOf(
    18,
    { ...owner, proposal_id: [2, 'whole'] },
    { title: ({ proposal_id }) => `Delete proposal ${String(proposal_id)} of the network` },
  ),
  SetAccountIdContract: typeOf(
    19,
    { account_id: [1, 'name'], owner_address: [2, 'address'] },
    { title: ({ account_id }, { name }) => `Set the account’s id to ${name(account_id)}` },
  ),
  CustomContract: unread(20),
  CreateSmartContract: typeOf(
    30,
    {
      ...owner,
      new_contract: [
        2,
        {
          origin_address: [1, 'address'],
          contract_address: [2, 'address'],
          abi: [3, 'bytes'],
          bytecode: [4, 'bytes'],
          call_value: [5, 'sun'],
          consume_user_resource_percent: [6, 'whole'],
          name: [7, 'text'],
          origin_energy_limit: [8, 'whole'],
          code_hash: [9, 'bytes'],
          trx_hash: [10, 'bytes'],
          version: [11, 'whole32'],
        },
      ],
      call_token_value: [3, 'whole'],
      token_id: [4, 'whole'],
    },
    {
      title: ({ new_contract: made }, { text }) => `Create the contract ${text(made?.name ?? '')}`,
      pays: ({ new_contract: made, call_token_value: tokens, token_id: tokenId }) => ({
        coins: made?.call_value ?? 0n,
        tokens,
        tokenId,
      }),
      warnings: () => ['It creates a contract. This vault does not know what the contract’s code does.'],
      out: ({ new_contract: made }) => made?.call_value ?? 0n,
      runs: true,
    },
  ),
  TriggerSmartContract: typeOf(
    31,
    {
      ...ofContract,
      call_value: [3, 'sun'],
      data: [4, 'bytes'],
      call_token_value: [5, 'whole'],
      token_id: [6, 'whole'],
    },
    {
      title: ({ contract_address }, { account }) => `Call the contract ${account(contract_address)}`,
      pays: ({ call_value: coins, call_token_value: tokens, token_id: tokenId }) => ({
        coins,
        tokens,
        tokenId,
      }),
      out: ({ call_value }) => call_value,
      runs: true,
    },
  ),
  GetContract: unread(32),
  UpdateSettingContract: typeOf(
    33,
    { ...ofContract, consume_user_resource_percent: [3, 'whole'] },
    {
      title: (fields, { account }) =>
        `Let callers of ${account(fields.contract_address)} pay ${String(fields.consume_user_resource_percent)}% of the energy`,
    },
  ),
  ExchangeCreateContract: typeOf(
    41,
    {
      ...owner,
      first_token_id: [2, 'text'],
      first_token_balance: [3, 'whole'],
      second_token_id: [4, 'text'],
      second_token_balance: [5, 'whole'],
    },
    {
      title: (fields, names) =>
        `Make an exchange with ${tokenText(fields.first_token_id, fields.first_token_balance, names)} and ${tokenText(fields.second_token_id, fields.second_token_balance, names)}`,
      out: (fields) =>
        inTrx(fields.first_token_id, fields.first_token_balance) +
        inTrx(fields.second_token_id, fields.second_token_balance),
      costs: [exchange],
    },
  ),
  ExchangeInjectContract: typeOf(42, exchangeOf, {
    title: ({ exchange_id, token_id, quant }, names) =>
      `Put ${tokenText(token_id, quant, names)}, and a share of the other token, into exchange ${String(exchange_id)}`,
    out: () => new Unknown('how much of the other token the exchange takes is not known here'),
  }),
  ExchangeWithdrawContract: typeOf(43, exchangeOf, {
    title: ({ exchange_id, token_id, quant }, names) =>
      `Take ${tokenText(token_id, quant, names)}, and a share of the other token, out of exchange ${String(exchange_id)}`,
  }),
  ExchangeTransactionContract: typeOf(
    44,
    { ...exchangeOf, expected: [5, 'whole'] },
    {
      title: ({ exchange_id, token_id, quant, expected }, names) =>
        `Sell ${tokenText(token_id, quant, names)} in exchange ${String(exchange_id)} for at least ${String(expected)} of the other token`,
      out: ({ token_id, quant }) => inTrx(token_id, quant),
    },
  ),
  UpdateEnergyLimitContract: typeOf(
    45,
    { ...ofContract, origin_energy_limit: [3, 'whole'] },
    {
      title: (fields, { account }) =>
        `Give calls of ${account(fields.contract_address)} at most ${String(fields.origin_energy_limit)} of its maker’s energy`,
    },
  ),
  AccountPermissionUpdateContract: typeOf(
    46,
    {
      ...owner,
      owner: [2, permission],
      witness: [3, permission],
      actives: [4, permission, 'many'],
    },
    {
      title: (fields, { account }) => {
        const permissions = [fields.owner, fields.witness, ...fields.actives];
        const keys = permissions.flatMap((each) => each?.keys.map(({ address }) => address) ?? []);
        return `Change who may sign for ${account(fields.owner_address)}: ${few([...new Set(keys)], account)}`;
      },
      warnings: ({ actives }) => [
        'It replaces all permissions of the account. A key that is not named can no longer sign for it.',
        ...(actives.some(({ operations }) => operationNames(operations).includes(permissionType))
          ? ['An active permission may change the permissions themselves, and so take the account.']
          : []),
      ],
      out: () => new Unknown('other keys get rights over the account, and may take all it has'),
      costs: [permissionUpdate],
    },
  ),
  ClearABIContract: typeOf(48, ofContract, {
    title: ({ contract_address }, { account }) => `Clear the interface of ${account(contract_address)}`,
  }),
  UpdateBrokerageContract: typeOf(
    49,
    { ...owner, brokerage: [2, 'whole32'] },
    {
      title: ({ brokerage }) => `Keep ${String(brokerage)}% of the rewards of those who vote for the account`,
    },
  ),
  ShieldedTransferContract: unread(51),
  MarketSellAssetContract: typeOf(
    52,
    {
      ...owner,
      sell_token_id: [2, 'text'],
      sell_token_quantity: [3, 'whole'],
      buy_token_id: [4, 'text'],
      buy_token_quantity: [5, 'whole'],
    },
    {
      title: (fields, names) =>
        `Offer ${tokenText(fields.sell_token_id, fields.sell_token_quantity, names)} for ${tokenText(fields.buy_token_id, fields.buy_token_quantity, names)}`,
      out: (fields) => inTrx(fields.sell_token_id, fields.sell_token_quantity),
    },
  ),
  MarketCancelOrderContract: typeOf(
    53,
    { ...owner, order_id: [2, 'bytes'] },
    { title: ({ order_id }) => `Take back the offer ${order_id}` },
  ),
  FreezeBalanceV2Contract: typeOf(
    54,
    { ...owner, frozen_balance: [2, 'sun'], resource: [3, resources] },
    { title: (fields) => `Stake ${trxOf(fields.frozen_balance)} for ${resource(fields.resource)}` },
  ),
  UnfreezeBalanceV2Contract: typeOf(
    55,
    { ...owner, unfreeze_balance: [2, 'sun'], resource: [3, resources] },
    { title: (fields) => `Unstake ${trxOf(fields.unfreeze_balance)} from ${resource(fields.resource)}` },
  ),
  WithdrawExpireUnfreezeContract: typeOf(56, owner, { title: () => 'Withdraw what was unstaked' }),
  DelegateResourceContract: typeOf(
    57,
    { ...delegation, lock: [5, 'bool'], lock_period: [6, 'whole'] },
    {
      title: (fields, { account }) =>
        `Lend ${resource(fields.resource)} of ${trxOf(fields.balance)} to ${account(fields.receiver_address)}`,
      warnings: ({ lock }) => (lock ? ['It cannot be taken back before the lock ends.'] : []),
    },
  ),
  UnDelegateResourceContract: typeOf(58, delegation, {
    title: (fields, { account }) =>
      `Take back ${resource(fields.resource)} of ${trxOf(fields.balance)} from ${account(fields.receiver_address)}`,
  }),
  CancelAllUnfreezeV2Contract: typeOf(59, owner, { title: () => 'Stake again all that is being unstaked' }),
};

const typesByNumber: ReadonlyMap<number, string> = new Map(
  Object.entries(contractTypes).map(([name, { number }]) => [number, name]),
);

export const contractTypeOf = (number: number): string | undefined => typesByNumber.get(number);

/** The types of contract that bits of `operations` stand for, the lowest bit of the first byte being number 0. */
export const operationNames = (operations: string): readonly string[] =>
  [...Buffer.from(operations, 'hex')].flatMap((byte, byteIndex) =>
    Array.from({ length: 8 }, (_, bit) => bit)
      .filter((bit) => (byte & (1 << bit)) !== 0)
      .map((bit) => contractTypeOf(byteIndex * 8 + bit) ?? `Number ${String(byteIndex * 8 + bit)}`),
  );
