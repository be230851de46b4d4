/** Descriptions and facts of Tron's transactions. */
import { describe, expect, test } from 'vitest';
import {
  bytesOf,
  call,
  callData,
  context,
  contractOf,
  examples,
  hexOf,
  receiver,
  sender,
  stranger,
  transaction,
  usdt,
  written,
} from '../../../test/one-reading/tron-transactions.ts';
import { holderNamed } from '../../../test/one-reading/law.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import type { Description } from '../description.ts';
import type { FactOf } from '../facts.ts';
import { tron } from './chain.ts';

function opened(raw: Uint8Array, known: Context = context()) {
  const result = tron.open(raw, known);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

const described = (raw: Uint8Array, known?: Context): Description => opened(raw, known).describe();

function told(raw: Uint8Array): FactOf<'tron.tx'> {
  const fact = opened(raw).facts['tron.tx']?.();
  if (fact === undefined || fact instanceof Unknown) throw new Error('no fact');
  return fact;
}

const valueOf = ({ lines, parts }: Description, label: string): string | undefined =>
  [...lines, ...parts.flatMap((part) => part.lines)].find((each) => each.label === label)?.value;

const send = (amount: number, more: Readonly<Record<string, unknown>> = {}): Uint8Array =>
  transaction('TransferContract', { to_address: hexOf(receiver), amount }, more);

const most = 2n ** 256n - 1n;
const transferOf = 'a9059cbb';
const approve = '095ea7b3';
const transferFrom = '23b872dd';
const increaseApproval = 'd73dd623';
const setApprovalForAll = 'a22cb465';

/** The class: any call of a token's standard, of any contract, and not only transfers. */
describe('calls', () => {
  const warned: readonly [string, string, string][] = [
    ['all that there is', callData(approve, stranger, most), `${stranger} may then spend USDT without limit`],
    ['some', callData(approve, stranger, 5_000_000n), `${stranger} may then spend up to 5 USDT`],
    ['more', callData(increaseApproval, stranger, 5_000_000n), `${stranger} may then spend up to 5 USDT`],
    [
      'of another account',
      callData(transferFrom, receiver, stranger, 1n),
      `It takes tokens out of ${receiver}`,
    ],
    ['every one', callData(setApprovalForAll, stranger, 1n), `${stranger} may then move every token`],
  ];
  test.each(warned)('are warned of: %s', (_, data, warning) => {
    const { warnings, title } = described(call(usdt, data));
    expect(warnings).toContainEqual(expect.stringContaining(warning));
    expect(title).toContain(stranger);
  });

  test('of a known token are described in its units, with the receiver in Base58', () => {
    const description = described(call(usdt, callData(transferOf, stranger, 1_250_000_000n)));
    expect(description.title).toMatch(
      new RegExp(`^Send 1,250 USDT to ${stranger}, with a fee of at most 31\\.`),
    );
    expect(valueOf(description, 'Argument to')).toBe(stranger);
    expect(valueOf(description, 'Argument amount')).toBe('1250000000 (1,250 USDT)');
  });

  test('of another contract are described in smallest units', () => {
    const { title, warnings } = described(call(receiver, callData(transferOf, stranger, 1_250_000_000n)));
    expect(title).toContain(`Send 1250000000 units of the token ${receiver} to ${stranger}`);
    expect(warnings).toContainEqual(expect.stringContaining('does not know this token'));
  });

  /** The class: what a call gives to the contract stands in the title, whatever can be read of the call. */
  test.each([
    ['a known token', usdt, callData(transferOf, stranger, 1n), /^Send 0\.000001 USDT to \w+, paying /],
    ['no standard', receiver, 'deadbeef', /^Call the contract \w+, paying /],
    ['nothing', receiver, '', /^Call the contract \w+, paying /],
  ])('that pay say so, by %s', (_, contract, data, expected) => {
    const coins = { call_value: 7_000_000 };
    const tokens = { call_token_value: 8, token_id: 1_002_000 };
    for (const [paid, text] of [
      [coins, 'paying 7 TRX, with'],
      [tokens, 'paying 8 of the token “1002000”, with'],
      [{ ...coins, ...tokens }, 'paying 7 TRX and 8 of the token “1002000”, with'],
    ] as const) {
      const { title } = described(call(contract, data, paid));
      expect(title).toMatch(expected);
      expect(title).toContain(text);
    }
  });

  test('tell policies the function by its first four bytes, and the rest of known tokens', () => {
    expect(told(call(usdt, callData(approve, stranger, most))).contract).toMatchObject([
      {
        type: 'TriggerSmartContract',
        contract_address: usdt,
        function_signature: approve,
        function_name: 'approve',
        contract_call_args: { spender: stranger, amount: most },
      },
    ]);
    expect(told(call(receiver, callData(approve, stranger, most))).contract).toMatchObject([
      {
        function_signature: approve,
        function_name: expect.any(Unknown) as Unknown,
        contract_call_args: expect.any(Unknown) as Unknown,
      },
    ]);
  });

  /** The class: calldata that contracts take, and that is not the one encoding of its arguments. */
  test.each([
    [
      'an address with its 41',
      `${approve}${'41'.padStart(24, '0')}${hexOf(stranger).slice(2)}${'f'.repeat(64)}`,
    ],
    ['a byte after the end', `${callData(approve, stranger, most)}00`],
    ['a byte too few', callData(approve, stranger, most).slice(0, -2)],
  ])('that cannot be read say so: %s', (_, data) => {
    const description = described(call(usdt, data));
    expect(valueOf(description, 'Not read')).toContain('This vault cannot read all of it');
    expect(valueOf(description, 'Data')).toBe(data);
    expect(description.warnings).toContainEqual(expect.stringContaining('cannot read all of it'));
    expect(told(call(usdt, data)).contract).toMatchObject([
      {
        function_signature: approve,
        function_name: 'approve',
        contract_call_args: expect.any(Unknown) as Unknown,
      },
    ]);
  });

  test('of functions that no standard has say so, and so do calls without a function', () => {
    const { title, warnings } = described(call(usdt, 'deadbeef'));
    expect(title).toMatch(new RegExp(`^Call the contract ${usdt}, `));
    expect(warnings).toContainEqual(expect.stringContaining('cannot read the data of the call'));
    expect(told(call(usdt, 'dead')).contract).toMatchObject([
      { function_signature: expect.any(Unknown) as Unknown, function_name: expect.any(Unknown) as Unknown },
    ]);
    const [bare] = told(call(usdt, '')).contract as readonly { readonly function_name?: unknown }[];
    expect(bare?.function_name).toBeUndefined();
  });
});

describe('titles', () => {
  const titles: Readonly<Record<string, string>> = {
    AccountCreateContract: `Create the account ${receiver}`,
    TransferContract: `Send 0.123456 TRX to ${receiver}`,
    TransferAssetContract: `Send 5 of the token “1002000” to ${receiver}`,
    VoteWitnessContract: `Vote for ${receiver} (3)`,
    WitnessCreateContract: `Make your account ${sender} a candidate for a witness`,
    AssetIssueContract: 'Issue the token “Coin”',
    WitnessUpdateContract: 'Change the candidate’s address on the web to “https://b”',
    ParticipateAssetIssueContract: `Buy the token “1002000” of ${receiver} for 0.000009 TRX`,
    AccountUpdateContract: `Give your account ${sender} the name “me”`,
    FreezeBalanceContract: `Stake 0.000009 TRX for energy of ${receiver}`,
    UnfreezeBalanceContract: `Unstake all TRX from energy of ${receiver}`,
    WithdrawBalanceContract: 'Withdraw the rewards of votes',
    ProposalApproveContract: 'Approve proposal 7 of the network',
    CreateSmartContract: 'Create the contract “Vault”, paying 0.000011 TRX and 8 of the token “1002000”',
    TriggerSmartContract: `Call the contract ${receiver}, paying 0.000007 TRX and 8 of the token “1002000”`,
    ExchangeCreateContract: 'Make an exchange with 0.000005 TRX and 6 of the token “1002000”',
    ExchangeTransactionContract: 'Sell 0.000004 TRX in exchange 3 for at least 5 of the other token',
    AccountPermissionUpdateContract: `Change who may sign for your account ${sender}: ${receiver}`,
    ClearABIContract: `Clear the interface of ${receiver}`,
    FreezeBalanceV2Contract: 'Stake 0.000009 TRX for energy',
    UnfreezeBalanceV2Contract: 'Unstake 0.00001 TRX from bandwidth',
    WithdrawExpireUnfreezeContract: 'Withdraw what was unstaked',
    DelegateResourceContract: `Lend energy of 0.000011 TRX to ${receiver}`,
    UnDelegateResourceContract: `Take back energy of 0.000013 TRX from ${receiver}`,
    CancelAllUnfreezeV2Contract: 'Stake again all that is being unstaked',
  };
  test.each(examples.filter(([type]) => type in titles))('of a %s', (type, value) => {
    expect(described(transaction(type, value)).parts[0]?.title).toBe(titles[type]);
  });

  test('say what is ours, by the vault’s own tables', () => {
    const ours = context((address) => (address === receiver ? holderNamed('Savings') : undefined));
    expect(described(send(5_000_000), ours).title).toMatch(
      new RegExp(`^Send 5 TRX to your Savings \\(${receiver}\\), `),
    );
  });
});

test('permissions are shown with the types of contract that they may sign', () => {
  const [type, value] = exampleOf('AccountPermissionUpdateContract');
  const description = described(transaction(type, value));
  expect(valueOf(description, 'Actives 1: Operations')).toMatch(
    /^AccountCreateContract, TransferContract, TransferAssetContract, .*, UpdateEnergyLimitContract \(7fff1fc0033e(00){26}\)$/,
  );
  expect(valueOf(description, 'Actives 1: Keys 1: Address')).toBe(receiver);
  expect(valueOf(description, 'Owner: Threshold')).toBe('1');
  expect(description.warnings).toEqual([
    expect.stringContaining('It replaces all permissions of the account') as string,
    expect.stringContaining('other keys get rights over the account') as string,
  ]);
  expect(valueOf(described(send(1, { Permission_id: 2 })), 'Signed by permission')).toBe('2');
});

test('a permission to change permissions is warned of, and types that there are not have their number', () => {
  const [type, value] = exampleOf('AccountPermissionUpdateContract');
  const [active] = value['actives'] as readonly Readonly<Record<string, unknown>>[];
  const all = { ...active, operations: `80${'00'.repeat(4)}40${'00'.repeat(26)}` };
  const description = described(transaction(type, { ...value, actives: [all] }));
  expect(valueOf(description, 'Actives 1: Operations')).toMatch(
    /^Number 7, AccountPermissionUpdateContract \(/,
  );
  expect(description.warnings).toContain(
    'An active permission may change the permissions themselves, and so take the account.',
  );
});

test('a foreign account causes a warning', () => {
  const other = transaction('TransferContract', {
    owner_address: hexOf(stranger),
    to_address: hexOf(receiver),
    amount: 1,
  });
  const warning = `It acts for the account ${stranger}, which is none of yours.`;
  expect(described(other).warnings).toContain(warning);
  expect(
    described(
      other,
      context((address) => (address === stranger ? holderNamed('Joint') : undefined)),
    ).warnings,
  ).toEqual([]);
  expect(described(send(1)).warnings).toEqual([]);
});

test('a memo is shown as visible text, and other bytes in hex', () => {
  const memo = (data: Uint8Array): Description =>
    described(send(1, { data: Buffer.from(data).toString('hex') }));
  const hidden = memo(Buffer.from('05$\u202e'));
  expect(valueOf(hidden, 'Memo')).toBe('“05$⟨U+202E⟩”');
  expect(hidden.warnings).toContainEqual(expect.stringContaining('characters that are not visible'));
  expect(valueOf(memo(Uint8Array.of(0xff)), 'Memo')).toBe('0xff');
});

/** The class: all that the network takes beside the amount, so that no fee is understated. */
describe('what leaves the account', () => {
  /** The size of a transaction with five signatures and its result, at 1,000 sun a byte, and the fee for several keys. */
  const always = (raw: Uint8Array): bigint => {
    const length = raw.length < 128 ? 2 : 3;
    return BigInt(raw.length + length + 5 * 67 + 64) * 1000n + 1_000_000n;
  };
  const rows: readonly [string, Uint8Array, bigint, bigint][] = [
    ['a transfer, to an account that may be new', send(5_000_000), 1_100_000n, 5_000_000n],
    ['a memo', send(1, { data: '6d' }), 2_100_000n, 1n],
    ['a limit for energy that nothing uses', send(1, { fee_limit: 9_000_000 }), 1_100_000n, 1n],
    ['a call', call(usdt, callData(transferOf, stranger, 1n), { call_value: 7 }), 30_000_000n, 7n],
    ['a vote', transaction(...exampleOf('VoteWitnessContract')), 0n, 0n],
    ['a stake', transaction(...exampleOf('FreezeBalanceV2Contract')), 0n, 0n],
    ['a candidate', transaction(...exampleOf('WitnessCreateContract')), 9_999_000_000n, 0n],
    ['a token', transaction(...exampleOf('AssetIssueContract')), 1_024_000_000n, 0n],
    ['a purchase of tokens', transaction(...exampleOf('ParticipateAssetIssueContract')), 0n, 9n],
    ['an exchange', transaction(...exampleOf('ExchangeCreateContract')), 1_024_000_000n, 5n],
    ['a sale', transaction(...exampleOf('ExchangeTransactionContract')), 0n, 4n],
    [
      'an offer',
      contractOf(
        52,
        'MarketSellAssetContract',
        written((value) => {
          value.writeStringField(2, '_');
          value.writeVarintField(3, 4);
        }),
      ),
      0n,
      4n,
    ],
    [
      'a new contract',
      transaction('CreateSmartContract', exampleOf('CreateSmartContract')[1], { fee_limit: 3 }),
      3n,
      11n,
    ],
  ];
  test.each(rows)('%s', (_, raw, fee, amount) => {
    expect(told(raw)).toMatchObject({ max_fee: always(raw) + fee, outflow: always(raw) + fee + amount });
  });

  test('is shown with the fee’s parts, and the date of the prices', () => {
    const description = described(send(5_000_000, { data: '6d' }));
    expect(valueOf(description, 'Fee at most')).toMatch(
      /^3\.\d+ TRX \(\d+ sun\), by the network’s prices of October 2026: 0\.\d+ TRX for bandwidth, 1 TRX for the memo, 1 TRX if several keys sign, 1\.1 TRX if the receiver’s account is new$/,
    );
    expect(valueOf(description, 'Leaves the account at most')).toMatch(/^8\.\d+ TRX \(\d+ sun\)$/);
  });

  test.each(['AccountPermissionUpdateContract', 'ExchangeInjectContract'])(
    'nothing bounds it: %s',
    (type) => {
      const raw = transaction(...exampleOf(type));
      expect(told(raw).outflow).toBeInstanceOf(Unknown);
      expect(described(raw).warnings).toContainEqual(
        expect.stringContaining('Nothing bounds what leaves the account'),
      );
    },
  );

  test('of a permission update, the fee is known', () => {
    const raw = transaction(...exampleOf('AccountPermissionUpdateContract'));
    expect(told(raw).max_fee).toBe(always(raw) + 100_000_000n);
  });
});

function exampleOf(type: string): [string, Readonly<Record<string, unknown>>] {
  const [, value = {}] = examples.find(([name]) => name === type) ?? [];
  return [type, value];
}

describe('facts', () => {
  test.each(examples)('of a %s have all of its fields', (type, value, fields) => {
    expect(told(transaction(type, value)).contract).toMatchObject([
      { type, permission_id: 0n, owner_address: sender, fields: { owner_address: sender, ...fields } },
    ]);
  });

  test('have the vendor’s names', () => {
    const [type, value] = exampleOf('AccountPermissionUpdateContract');
    expect(told(transaction(type, value)).contract).toMatchObject([
      {
        owner: {
          type: 'Owner',
          permission_name: 'owner',
          threshold: 1n,
          keys: [{ address: receiver, weight: 1n }],
        },
        witness: { type: 'Witness' },
        actives: [{ type: 'Active', id: 2n }],
      },
    ]);
    expect(told(transaction(...exampleOf('TransferAssetContract'))).contract).toMatchObject([
      { asset_name: '1002000', amount: 5n, to_address: receiver },
    ]);
    expect(told(transaction(...exampleOf('DelegateResourceContract'))).contract).toMatchObject([
      { resource: 'ENERGY', balance: 11n, receiver_address: receiver, lock: true, lock_period: 12n },
    ]);
  });
});

test('several contracts are shown, and the network refuses them', () => {
  const both = Buffer.concat([
    contractOf(1, 'TransferContract', bytesOf('1801')),
    contractOf(1, 'TransferContract', bytesOf('1802')),
  ]);
  const { title, parts, warnings } = described(both);
  expect(parts).toHaveLength(2);
  expect(title).toMatch(/^Send 0.000001 TRX to no account; Send 0.000002 TRX to no account/);
  expect(warnings).toContain('The network refuses this transaction: it has several contracts.');
});
