/** Tron's transactions for tests, made by tronweb. */
import { PbfWriter } from 'pbf';
import { TronWeb, utils } from 'tronweb';
import type { Context } from '../../main/chains/chain.ts';
import { curves } from '../../main/crypto/keys/curves.ts';

export const privateKey = '01'.repeat(32);
const address = TronWeb.address.fromPrivateKey(privateKey);
if (typeof address !== 'string') throw new Error('tronweb has no address for the key');
export const sender = address;
export const receiver = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
export const stranger = TronWeb.address.fromHex(`41${'35'.repeat(20)}`);
export const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export const hexOf = (base58: string): string => TronWeb.address.toHex(base58);
export const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const textOf = (text: string): string => Buffer.from(text).toString('hex');

const owner_address = hexOf(sender);
const receiver_address = hexOf(receiver);

/** @param more Of `raw_data`: the memo `data` in hex, and `fee_limit`. */
export function transaction(
  type: string,
  value: Readonly<Record<string, unknown>> = {},
  { Permission_id = 0, ...more }: Readonly<Record<string, unknown>> = {},
): Uint8Array {
  const made: unknown = utils.transaction.txJsonToPb({
    raw_data: {
      contract: [
        {
          parameter: { value: { owner_address, ...value }, type_url: `type.googleapis.com/protocol.${type}` },
          type,
          Permission_id,
        },
      ],
      ref_block_bytes: '5e4b',
      ref_block_hash: '47c9dc89341b300d',
      expiration: 1_591_089_627_000,
      timestamp: 1_591_089_567_635,
      ...more,
    },
  });
  return bytesOf(utils.transaction.txPbToRawDataHex(made));
}

export const call = (
  contract: string,
  data: string,
  more: Readonly<Record<string, unknown>> = {},
): Uint8Array =>
  transaction(
    'TriggerSmartContract',
    { contract_address: hexOf(contract), call_value: 0, data, ...more },
    { fee_limit: 30_000_000 },
  );

/** A selector and words: addresses in Base58, and numbers. */
export const callData = (selector: string, ...words: readonly (string | bigint)[]): string =>
  selector +
  words
    .map((word) => (typeof word === 'string' ? hexOf(word).slice(2) : word.toString(16)).padStart(64, '0'))
    .join('');

export const written = (write: (pbf: PbfWriter) => void): Uint8Array => {
  const pbf = new PbfWriter();
  write(pbf);
  return new Uint8Array(pbf.finish());
};

/** `raw_data` of a contract whose value is any bytes. */
export const contractOf = (type: number, name: string, value: Uint8Array, permission?: number): Uint8Array =>
  written((raw) => {
    raw.writeBytesField(
      11,
      written((contract) => {
        if (type !== 0) contract.writeVarintField(1, type);
        contract.writeBytesField(
          2,
          written((any) => {
            any.writeStringField(1, `type.googleapis.com/protocol.${name}`);
            if (value.length > 0) any.writeBytesField(2, value);
          }),
        );
        if (permission !== undefined) contract.writeVarintField(5, permission);
      }),
    );
  });

const operations = '7fff1fc0033e0000000000000000000000000000000000000000000000000000';
const permission = (type: number, id: number, permission_name: string): Record<string, unknown> => ({
  type,
  id,
  permission_name,
  threshold: 1,
  keys: [{ address: receiver_address, weight: 1 }],
});

/** Each type of contract that tronweb makes, with its fields by Tron's own names as they are read. */
export const examples: readonly (readonly [
  type: string,
  value: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
])[] = [
  [
    'AccountCreateContract',
    { account_address: receiver_address, type: 'Normal' },
    { account_address: receiver, type: 'Normal' },
  ],
  [
    'TransferContract',
    { to_address: receiver_address, amount: 123_456 },
    { to_address: receiver, amount: 123_456n },
  ],
  [
    'TransferAssetContract',
    { to_address: receiver_address, amount: 5, asset_name: textOf('1002000') },
    { asset_name: '1002000', to_address: receiver, amount: 5n },
  ],
  [
    'VoteWitnessContract',
    { votes: [{ vote_address: receiver_address, vote_count: 3 }] },
    { votes: [{ vote_address: receiver, vote_count: 3n }], support: false },
  ],
  ['WitnessCreateContract', { url: textOf('https://a') }, { url: textOf('https://a') }],
  [
    'AssetIssueContract',
    {
      name: textOf('Coin'),
      abbr: textOf('C'),
      total_supply: 1000,
      trx_num: 1,
      num: 2,
      start_time: 1_591_089_627_000,
      end_time: 1_691_089_627_000,
      frozen_supply: [{ frozen_amount: 7, frozen_days: 8 }],
      precision: 6,
    },
    {
      name: textOf('Coin'),
      total_supply: 1000n,
      frozen_supply: [{ frozen_amount: 7n, frozen_days: 8n }],
      precision: 6n,
    },
  ],
  ['WitnessUpdateContract', { update_url: textOf('https://b') }, { update_url: textOf('https://b') }],
  [
    'ParticipateAssetIssueContract',
    { to_address: receiver_address, asset_name: textOf('1002000'), amount: 9 },
    { to_address: receiver, asset_name: '1002000', amount: 9n },
  ],
  ['AccountUpdateContract', { account_name: textOf('me') }, { account_name: textOf('me') }],
  [
    'FreezeBalanceContract',
    { frozen_balance: 9, frozen_duration: 3, resource: 'ENERGY', receiver_address },
    { frozen_balance: 9n, frozen_duration: 3n, resource: 'ENERGY', receiver_address: receiver },
  ],
  [
    'UnfreezeBalanceContract',
    { resource: 'ENERGY', receiver_address },
    { resource: 'ENERGY', receiver_address: receiver },
  ],
  ['WithdrawBalanceContract', {}, {}],
  [
    'UpdateAssetContract',
    { description: textOf('d'), url: textOf('u'), new_limit: 3, new_public_limit: 4 },
    { description: textOf('d'), url: textOf('u'), new_limit: 3n, new_public_limit: 4n },
  ],
  [
    'ProposalApproveContract',
    { proposal_id: 7, is_add_approval: true },
    { proposal_id: 7n, is_add_approval: true },
  ],
  ['ProposalDeleteContract', { proposal_id: 7 }, { proposal_id: 7n }],
  ['SetAccountIdContract', { account_id: textOf('myaccount') }, { account_id: textOf('myaccount') }],
  [
    'CreateSmartContract',
    {
      new_contract: {
        origin_address: owner_address,
        bytecode: '6080',
        call_value: 11,
        consume_user_resource_percent: 100,
        name: 'Vault',
        origin_energy_limit: 1000,
        abi: { entrys: [{ type: 'Function', name: 'go', inputs: [{ name: 'a', type: 'uint256' }] }] },
      },
      call_token_value: 8,
      token_id: 1_002_000,
    },
    { call_token_value: 8n, token_id: 1_002_000n },
  ],
  [
    'TriggerSmartContract',
    {
      contract_address: receiver_address,
      call_value: 7,
      data: 'a9059cbb00',
      call_token_value: 8,
      token_id: 1_002_000,
    },
    {
      contract_address: receiver,
      call_value: 7n,
      data: 'a9059cbb00',
      call_token_value: 8n,
      token_id: 1_002_000n,
    },
  ],
  [
    'UpdateSettingContract',
    { contract_address: receiver_address, consume_user_resource_percent: 50 },
    { contract_address: receiver, consume_user_resource_percent: 50n },
  ],
  [
    'ExchangeCreateContract',
    {
      first_token_id: textOf('_'),
      first_token_balance: 5,
      second_token_id: textOf('1002000'),
      second_token_balance: 6,
    },
    { first_token_id: '_', first_token_balance: 5n, second_token_id: '1002000', second_token_balance: 6n },
  ],
  [
    'ExchangeInjectContract',
    { exchange_id: 3, token_id: textOf('_'), quant: 4 },
    { exchange_id: 3n, token_id: '_', quant: 4n },
  ],
  [
    'ExchangeWithdrawContract',
    { exchange_id: 3, token_id: textOf('_'), quant: 4 },
    { exchange_id: 3n, token_id: '_', quant: 4n },
  ],
  [
    'ExchangeTransactionContract',
    { exchange_id: 3, token_id: textOf('_'), quant: 4, expected: 5 },
    { exchange_id: 3n, token_id: '_', quant: 4n, expected: 5n },
  ],
  [
    'UpdateEnergyLimitContract',
    { contract_address: receiver_address, origin_energy_limit: 50 },
    { contract_address: receiver, origin_energy_limit: 50n },
  ],
  [
    'AccountPermissionUpdateContract',
    {
      owner: permission(0, 0, 'owner'),
      witness: permission(1, 1, 'witness'),
      actives: [{ ...permission(2, 2, 'pay'), operations }],
    },
    {
      owner: {
        type: 'Owner',
        id: 0n,
        permission_name: 'owner',
        threshold: 1n,
        parent_id: 0n,
        operations: '',
        keys: [{ address: receiver, weight: 1n }],
      },
      actives: [{ type: 'Active', id: 2n, permission_name: 'pay', operations }],
    },
  ],
  ['ClearABIContract', { contract_address: receiver_address }, { contract_address: receiver }],
  ['UpdateBrokerageContract', { brokerage: 20 }, { brokerage: 20n }],
  [
    'FreezeBalanceV2Contract',
    { frozen_balance: 9, resource: 'ENERGY' },
    { frozen_balance: 9n, resource: 'ENERGY' },
  ],
  [
    'UnfreezeBalanceV2Contract',
    { unfreeze_balance: 10, resource: 'BANDWIDTH' },
    { unfreeze_balance: 10n, resource: 'BANDWIDTH' },
  ],
  ['WithdrawExpireUnfreezeContract', {}, {}],
  [
    'DelegateResourceContract',
    { receiver_address, balance: 11, resource: 'ENERGY', lock: true, lock_period: 12 },
    { receiver_address: receiver, balance: 11n, resource: 'ENERGY', lock: true, lock_period: 12n },
  ],
  [
    'UnDelegateResourceContract',
    { receiver_address, balance: 13, resource: 'ENERGY' },
    { receiver_address: receiver, balance: 13n },
  ],
  ['CancelAllUnfreezeV2Contract', {}, {}],
];

/** Of the key that made the transactions. */
export const context = (ours: Context['ours'] = () => undefined): Context => ({
  key: {
    curve: 'CURVE_SECP256K1',
    publicKey: curves.CURVE_SECP256K1.publicKey(bytesOf(privateKey)),
    format: 'ADDRESS_FORMAT_TRON',
  },
  interfaces: { abi: () => undefined, idl: () => undefined },
  ours,
});
