/** Facts of Solana's transactions for policies. */
import type { Address, Instruction } from '@solana/kit';
import { describe, expect, test } from 'vitest';
import {
  clock,
  context,
  instruction,
  keyOf,
  payer,
  programs,
  text,
  transaction,
  transfer,
  u32,
  u64,
} from '../../../test/one-reading/solana-messages.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { FactOf } from '../facts.ts';
import { solana } from './chain.ts';
import { readIdl, type Idl } from './idl.ts';

const { system, token, token2022, computeBudget, associatedToken, memo, stake, ed25519 } = programs;
const [a, b, c] = [keyOf(1), keyOf(2), keyOf(3)];
const key = (fill: number): number[] => Array.from({ length: 32 }, () => fill);

function told(
  instructions: readonly Instruction[],
  options: Parameters<typeof transaction>[1] = {},
  known: Parameters<typeof context>[0] = {},
): FactOf<'solana.tx'> {
  const opened = solana.open(transaction(instructions, options), context(known));
  if (!opened.ok) throw new Error(opened.problem);
  const fact = opened.value.facts['solana.tx']?.();
  if (fact === undefined || fact instanceof Unknown) throw new Error('no fact');
  return fact;
}

const limit = (units: number, ...more: readonly number[]): Instruction =>
  instruction(computeBudget, [], [2, ...u32(units), ...more]);
const price = (microLamports: bigint, ...more: readonly number[]): Instruction =>
  instruction(computeBudget, [], [3, ...u64(microLamports), ...more]);
const send = transfer(payer, a, 10n);

/** The class: for any data of the Compute Budget, the fee is what the chain charges, or unknown. */
describe('the most that the fee comes to', () => {
  const rows: readonly [string, readonly Instruction[], bigint][] = [
    ['a signature', [send], 5000n],
    ['two signatures', [send, transfer(a, b, 1n)], 10_000n],
    ['a price and a limit', [limit(200_000), price(5_000_000n), send], 1_005_000n],
    ['a byte after the price', [limit(1_400_000), price(70_000_000n, 0), send], 98_005_000n],
    ['a byte after the limit', [limit(1_400_000, 0xff), price(70_000_000n), send], 98_005_000n],
    ['a limit beyond the most that there is', [limit(2_000_000), price(1_000_000n), send], 1_405_000n],
    // 3,000 units for each builtin program: the System Program and the Compute Budget itself.
    ['no limit, and builtin programs', [price(1_000_000n), send], 5000n + 6000n],
    ['no limit, and another program', [price(1_000_000n), instruction(memo, [], [65])], 5000n + 203_000n],
    [
      'no limit, and the stake program',
      [price(1_000_000n), instruction(stake, [a, b, payer], [...u32(3), ...u64(1n)])],
      5000n + 203_000n,
    ],
    [
      'no limit, and many programs',
      [price(1_000_000n), ...Array.from({ length: 9 }, () => instruction(memo, [], [65]))],
      5000n + 1_400_000n,
    ],
    ['a part of a lamport', [limit(1), price(1n), send], 5001n],
    ['signatures that a program checks', [instruction(ed25519, [], [3, 0]), send], 20_000n],
    ['a program that checks none', [instruction(ed25519, [], []), send], 5000n],
  ];
  test.each(rows)('%s', (_, instructions, fee) => {
    expect(told(instructions).max_fee).toBe(fee);
  });

  test.each([
    ['a price that ends early', [instruction(computeBudget, [], [3, 1, 2]), send]],
    ['a limit that there is not', [instruction(computeBudget, [], [5, 0, 0, 0, 0]), send]],
    ['no data', [instruction(computeBudget, [], []), send]],
    ['two prices', [price(1n), price(2n), send]],
    ['two limits', [limit(1), limit(1), price(2n), send]],
  ])('nothing bounds it: %s', (_, instructions) => {
    const { max_fee: fee, outflow } = told(instructions);
    expect(fee).toBeInstanceOf(Unknown);
    expect(outflow).toBeInstanceOf(Unknown);
    const opened = solana.open(transaction(instructions), context());
    const shown = opened.ok ? opened.value.describe() : undefined;
    expect(shown?.title).toContain('with a fee that nothing bounds');
    expect(shown?.warnings).toContainEqual(expect.stringContaining('Nothing bounds the fee'));
  });

  test('what is there twice, the network refuses', () => {
    const opened = solana.open(transaction([price(1n), price(2n), send]), context());
    expect(opened.ok && opened.value.describe().warnings).toContain(
      'The network refuses this transaction: SetComputeUnitPrice is there twice.',
    );
  });
});

/** The class: whatever takes lamports of the key that signs, or of what it controls. */
describe('what leaves the key that signs', () => {
  const rows: readonly [string, Address, readonly Address[], readonly number[], bigint][] = [
    ['a transfer', system, [payer, a], [...u32(2), ...u64(10n)], 10n],
    ['a transfer with bytes after its end', system, [payer, a], [...u32(2), ...u64(10n), 1, 2, 3], 10n],
    ['a transfer to itself', system, [payer, payer], [...u32(2), ...u64(10n)], 0n],
    ['a new account', system, [payer, a], [...u32(0), ...u64(10n), ...u64(1n), ...key(3)], 10n],
    [
      'a new account by a seed',
      system,
      [payer, a],
      [...u32(3), ...key(9), ...text('s'), ...u64(10n), ...u64(1n), ...key(3)],
      10n,
    ],
    [
      'a new account that has some',
      system,
      [a, payer],
      [...u32(13), ...u64(10n), ...u64(1n), ...key(3)],
      10n,
    ],
    ['a transfer by a seed', system, [a, payer, b], [...u32(11), ...u64(10n), ...text('s'), ...key(3)], 10n],
    ['a withdrawal of a nonce account', system, [a, b, c, keyOf(4), payer], [...u32(5), ...u64(10n)], 10n],
    ['a withdrawal of a stake', stake, [a, b, clock, c, payer], [...u32(4), ...u64(10n)], 10n],
    ['a withdrawal to the key', stake, [a, payer, clock, c, payer], [...u32(4), ...u64(10n)], 0n],
    ['a split of a stake', stake, [a, b, payer], [...u32(3), ...u64(10n)], 0n],
    ['a split of the key’s own account', stake, [payer, b], [...u32(3), ...u64(10n)], 10n],
    ['the rent of a token account', associatedToken, [payer, a, b, c, system, token], [1], 2_039_280n],
    ['tokens', token, [a, b, payer], [3, ...u64(10n)], 0n],
    ['a memo', memo, [payer], [65], 0n],
  ];
  test.each(rows)('%s', (_, program, accounts, data, amount) => {
    expect(told([instruction(program, accounts, data)]).outflow).toBe(amount + 5000n);
  });

  test.each([
    ['an account that is given away', system, [payer], [...u32(1), ...key(3)]],
    ['an account that gets data', system, [payer], [...u32(8), ...u64(1n)]],
    ['a nonce account’s authority', system, [a, payer], [...u32(7), ...key(3)]],
    ['a stake’s withdrawer', stake, [a, clock, payer], [...u32(1), ...key(3), ...u32(1)]],
    ['a token account that is closed', token, [a, b, payer], [9]],
    ['a token account’s owner', token, [a, payer], [6, 2, 1, ...key(3)]],
    ['the rent of an account of Token-2022', associatedToken, [payer, a, b, c, system, token2022], [1]],
    ['a program that nothing reads', keyOf(50), [payer], [1]],
  ] as const)('nothing bounds it: %s', (_, program, accounts, data) => {
    expect(told([instruction(program, accounts, data)]).outflow).toBeInstanceOf(Unknown);
  });

  test('a transfer of another account is none of the key', () => {
    expect(told([transfer(a, b, 10n)]).outflow).toBe(10_000n);
    expect(told([transfer(a, b, 10n)], { feePayer: a }).outflow).toBe(0n);
  });
});

/** The class: what a table on the chain holds is unknown in its place, and moves nothing else. */
describe('accounts that are looked up', () => {
  const looked = expect.any(Unknown) as Unknown;
  const table = [keyOf(39), keyOf(40)];

  test('keep their places', () => {
    const fact = told([instruction(keyOf(50), [keyOf(40), payer, a], [1])], { table });
    expect(fact.instructions).toMatchObject([
      {
        accounts: [
          { account_key: looked, signer: false, writable: true },
          { account_key: payer, signer: true, writable: true },
          { account_key: a, signer: false, writable: true },
        ],
        address_table_lookups: [{ address_table_key: keyOf(200), index: 1, writable: true }],
      },
    ]);
    expect(fact.account_keys).toEqual([payer, a, keyOf(50), looked]);
    expect(fact.static_account_keys).toEqual([payer, a, keyOf(50)]);
    expect(fact.writable_accounts).toEqual([payer, a, looked]);
    expect(fact).toMatchObject({ fee_payer: payer, signers: [payer] });
  });

  test('are unknown in transfers', () => {
    const fact = told(
      [transfer(payer, keyOf(40), 5n), instruction(token, [a, keyOf(39), payer], [3, ...u64(7n)])],
      { table },
    );
    expect(fact.transfers).toEqual([{ from: payer, to: looked, amount: 5n }]);
    expect(fact.spl_transfers).toMatchObject([
      { from: a, to: looked, amount: 7n, owner: payer, signers: [] },
    ]);
  });
});

describe('transfers', () => {
  const accounts = { plain: [a, b, payer], checked: [a, c, b, payer] };
  test.each([
    ['Transfer', token, accounts.plain, [3, ...u64(70n)], undefined],
    ['Transfer with bytes after its end', token, accounts.plain, [3, ...u64(70n), 9], undefined],
    ['TransferChecked', token, accounts.checked, [12, ...u64(70n), 6], c],
    ['TransferChecked of Token-2022', token2022, accounts.checked, [12, ...u64(70n), 6], c],
    ['TransferCheckedWithFee', token2022, accounts.checked, [26, 1, ...u64(70n), 6, ...u64(1n)], c],
  ])('%s', (_, program, named, data, mint) => {
    expect(told([instruction(program, named, data)]).spl_transfers).toEqual([
      { from: a, to: b, amount: 70n, owner: payer, signers: [], token_mint: mint },
    ]);
  });

  test('a multisig names its signers', () => {
    expect(told([instruction(token, [a, b, c, payer], [3, ...u64(1n)])]).spl_transfers).toMatchObject([
      { owner: c, signers: [payer] },
    ]);
  });

  /** The class: an account that a transfer only names counts as one that signs it. */
  test.each([
    ['Transfer', token, accounts.plain, [3, ...u64(70n)]],
    ['TransferChecked', token2022, accounts.checked, [12, ...u64(70n), 6]],
    ['TransferCheckedWithFee', token2022, accounts.checked, [26, 1, ...u64(70n), 6, ...u64(1n)]],
  ] as const)('%s: an account that is only named is not among the signers', (_, program, named, data) => {
    const others = [keyOf(4), payer, keyOf(40)];
    expect(
      told([instruction(program, [...named, ...others], data)], { table: [keyOf(40)] }).spl_transfers,
    ).toMatchObject([{ owner: payer, signers: [payer] }]);
  });

  test('of lamports, by a seed as well', () => {
    const bySeed = instruction(system, [a, payer, b], [...u32(11), ...u64(7n), ...text('s'), ...key(3)]);
    expect(told([send, bySeed]).transfers).toEqual([
      { from: payer, to: a, amount: 10n },
      { from: a, to: b, amount: 7n },
    ]);
  });

  /** The class: an instruction of the same program that may hold a transfer, and is not read. */
  test('are unknown where an instruction of their program cannot be read', () => {
    const batch = told([instruction(token, accounts.plain, [255, 3, 9, 3, ...u64(1n)]), send]);
    expect(batch.spl_transfers).toBeInstanceOf(Unknown);
    expect(batch.transfers).toHaveLength(1);
    expect(told([instruction(system, [payer, a], u32(99))]).transfers).toBeInstanceOf(Unknown);
  });
});

/** The class: an instruction that is there is never missing to a policy, whatever its data is. */
describe('parsed instructions', () => {
  const kept = readIdl({
    instructions: [
      {
        name: 'withdraw',
        discriminator: [1, 2],
        accounts: [{ name: 'vault' }],
        args: [{ name: 'amount', type: 'u64' }],
      },
    ],
    types: [],
  });
  const idl = (program: string): Idl | undefined =>
    kept.ok && (program === keyOf(50) || program === system) ? kept.value : undefined;
  const parsed = (
    program: Address,
    accounts: readonly Address[],
    data: readonly number[],
    table: readonly Address[] = [],
  ) => {
    const { instructions } = told([instruction(program, accounts, data)], { table }, { idl });
    const first = Array.isArray(instructions) ? (instructions as readonly unknown[])[0] : undefined;
    return (first as { readonly parsed_instruction_data: unknown }).parsed_instruction_data;
  };
  const unknown = expect.any(Unknown) as Unknown;

  test('by an interface', () => {
    expect(parsed(keyOf(50), [a, b], [1, 2, ...u64(5n)])).toEqual({
      instruction_name: 'withdraw',
      discriminator: '0102',
      named_accounts: { vault: a },
      named_account: { vault: a },
      program_call_args: { amount: 5n },
    });
  });

  test.each([
    ['a byte after the end', [a], [1, 2, ...u64(5n), 0], a],
    ['a byte too few', [a], [1, 2, 5], a],
    ['too few accounts', [], [1, 2, ...u64(5n)], unknown],
  ] as const)('have their name, and no arguments: %s', (_, accounts, data, vault) => {
    expect(parsed(keyOf(50), accounts, data)).toMatchObject({
      instruction_name: 'withdraw',
      discriminator: '0102',
      named_accounts: { vault },
      program_call_args: unknown,
    });
  });

  test('with an account that is looked up', () => {
    expect(parsed(keyOf(50), [keyOf(40)], [1, 2, ...u64(5n)], [keyOf(40)])).toMatchObject({
      named_accounts: { vault: unknown },
    });
  });

  test.each([
    ['a program without an interface', keyOf(51), [1, 2]],
    ['an instruction that the interface has not', keyOf(50), [9]],
    ['no data', keyOf(51), []],
    ['a batch of the Token Program', token, [255]],
  ] as const)('are unknown: %s', (_, program, data) => {
    expect(parsed(program, [a], data)).toBeInstanceOf(Unknown);
  });

  test('of programs that the vault knows, by its own names', () => {
    expect(parsed(token, [a, b, payer], [3, ...u64(5n)])).toEqual({
      instruction_name: 'Transfer',
      discriminator: '03',
      named_accounts: { source: a, destination: b, owner: payer },
      named_account: { source: a, destination: b, owner: payer },
      program_call_args: { amount: 5n },
    });
  });

  test('an interface that is kept goes before the vault’s own names', () => {
    expect(parsed(system, [payer, a], [1, 2, ...u64(5n)])).toMatchObject({ instruction_name: 'withdraw' });
  });
});
