/** Descriptions of Solana's transactions, instruction by instruction. */
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
import { holderNamed } from '../../../test/one-reading/law.ts';
import type { Description } from '../description.ts';
import { tokenRows } from '../tokens.ts';
import { solana } from './chain.ts';
import { readIdl, type Idl } from './idl.ts';

const { system, token, token2022, computeBudget, associatedToken, memo, stake, vote } = programs;

function described(
  instructions: readonly Instruction[],
  options: Parameters<typeof transaction>[1] = {},
  known: Parameters<typeof context>[0] = {},
): Description {
  const opened = solana.open(transaction(instructions, options), context(known));
  if (!opened.ok) throw new Error(opened.problem);
  return opened.value.describe();
}

const valueOf = ({ lines, parts }: Pick<Description, 'lines' | 'parts'>, label: string): string | undefined =>
  [...lines, ...parts.flatMap((part) => part.lines)].find((each) => each.label === label)?.value;

const key = (fill: number): number[] => Array.from({ length: 32 }, () => fill);
const most = 2n ** 64n - 1n;
const [a, b, c] = [keyOf(1), keyOf(2), keyOf(3)];

/** The class: every instruction of the programs that every wallet meets, and not only its transfers. */
describe('one instruction', () => {
  const rows: readonly [string, Address, readonly Address[], readonly number[]][] = [
    [
      `Create the account ${a} of the program ${c} with 0.000000009 SOL`,
      system,
      [payer, a],
      [...u32(0), ...u64(9n), ...u64(1n), ...key(3)],
    ],
    [`Give the account your account ${payer} to the program ${c}`, system, [payer], [...u32(1), ...key(3)]],
    [`Send 0.000000009 SOL to ${a}`, system, [payer, a], [...u32(2), ...u64(9n)]],
    [
      `Create the account ${a} of the program ${c} with 0.000000009 SOL`,
      system,
      [payer, a],
      [...u32(3), ...key(9), ...text('seed'), ...u64(9n), ...u64(1n), ...key(3)],
    ],
    [`Advance the nonce of ${a}`, system, [a, b, payer], u32(4)],
    [
      `Withdraw 0.000000009 SOL from the nonce account ${a} to ${b}`,
      system,
      [a, b, keyOf(10), keyOf(11), payer],
      [...u32(5), ...u64(9n)],
    ],
    [
      `Let ${c} control the new nonce account ${a}`,
      system,
      [a, keyOf(10), keyOf(11)],
      [...u32(6), ...key(3)],
    ],
    [`Let ${c} control the nonce account ${a}`, system, [a, payer], [...u32(7), ...key(3)]],
    [`Give the account your account ${payer} 5 bytes of data`, system, [payer], [...u32(8), ...u64(5n)]],
    [
      `Give the account ${a} to the program ${c}`,
      system,
      [a, payer],
      [...u32(9), ...key(9), ...text('seed'), ...u64(1n), ...key(3)],
    ],
    [
      `Give the account ${a} to the program ${c}`,
      system,
      [a, payer],
      [...u32(10), ...key(9), ...text('seed'), ...key(3)],
    ],
    [
      `Send 0.000000009 SOL to ${b}`,
      system,
      [a, payer, b],
      [...u32(11), ...u64(9n), ...text('seed'), ...key(3)],
    ],
    [`Upgrade the nonce account ${a}`, system, [a], u32(12)],
    [
      `Create the account ${a} of the program ${c} with 0.000000009 SOL`,
      system,
      [a, payer],
      [...u32(13), ...u64(9n), ...u64(1n), ...key(3)],
    ],
    [
      `Send 70 smallest units of a token that is not named from ${a} to the token account ${b}`,
      token,
      [a, b, payer],
      [3, ...u64(70n)],
    ],
    [
      `Let ${b} spend up to 9 smallest units of a token that is not named of the token account ${a}`,
      token,
      [a, b, payer],
      [4, ...u64(9n)],
    ],
    [`Let ${b} spend all tokens of the token account ${a}`, token, [a, b, payer], [4, ...u64(most)]],
    [`Let no delegate spend from the token account ${a}`, token, [a, payer], [5]],
    [`Give ${c} the authority AccountOwner over ${a}`, token, [a, payer], [6, 2, 1, ...key(3)]],
    [`Take away the authority MintTokens over ${a} for good`, token, [a, payer], [6, 0, 0]],
    [`Give ${c} the authority PermanentDelegate over ${a}`, token2022, [a, payer], [6, 8, 1, ...key(3)]],
    [`Make 9 smallest units of the token ${a} and put them into ${b}`, token, [a, b, payer], [7, ...u64(9n)]],
    [`Burn 9 smallest units of the token ${b} of ${a}`, token, [a, b, payer], [8, ...u64(9n)]],
    [`Close the token account ${a} and send its SOL to ${b}`, token, [a, b, payer], [9]],
    [`Freeze the token account ${a}`, token, [a, b, payer], [10]],
    [`Thaw the token account ${a}`, token, [a, b, payer], [11]],
    [
      `Send 0.00007 of the token ${b} to the token account ${c}`,
      token,
      [a, b, c, payer],
      [12, ...u64(70n), 6],
    ],
    [
      `Let ${c} spend up to 0.00007 of the token ${b} of the token account ${a}`,
      token,
      [a, b, c, payer],
      [13, ...u64(70n), 6],
    ],
    [`Bring the token account ${a} up to its SOL`, token, [a], [17]],
    [`Set up the token account ${a} of ${c}`, token, [a, b], [18, ...key(3)]],
    [`Unwrap SOL of ${a} and send 0.000000009 SOL to ${b}`, token, [a, b, payer], [45, 1, ...u64(9n)]],
    [
      `Send 0.00007 of the token ${b} to the token account ${c}`,
      token2022,
      [a, b, c, payer],
      [26, 1, ...u64(70n), 6, ...u64(1n)],
    ],
    [`Create the token account ${a} of ${b}`, associatedToken, [payer, a, b, c, system, token], []],
    [`Create the token account ${a} of ${b}`, associatedToken, [payer, a, b, c, system, token], [0]],
    [
      `Create the token account ${a} of ${b} if there is none`,
      associatedToken,
      [payer, a, b, c, system, token],
      [1],
    ],
    [
      `Move all tokens of the nested token account ${a} to the token account ${c} and its SOL to your account ${payer}`,
      associatedToken,
      [a, b, c, keyOf(10), keyOf(11), payer, token],
      [2],
    ],
    [
      `Make ${c} the withdrawer of the stake ${a}`,
      stake,
      [a, clock, payer],
      [...u32(1), ...key(3), ...u32(1)],
    ],
    [`Make ${b} the staker of the stake ${a}`, stake, [a, payer, b], [...u32(10), ...u32(0)]],
    [
      `Split 0.000000009 SOL of the stake ${a} into the stake ${b}`,
      stake,
      [a, b, payer],
      [...u32(3), ...u64(9n)],
    ],
    [
      `Withdraw 0.000000009 SOL from the stake ${a} to ${b}`,
      stake,
      [a, b, clock, c, payer],
      [...u32(4), ...u64(9n)],
    ],
    [`Withdraw 0.000000009 SOL from the stake ${a} to ${b}`, stake, [a, b, payer], [...u32(4), ...u64(9n)]],
    [`Deactivate the stake ${a}`, stake, [a, clock, payer], u32(5)],
    ['Memo', memo, [], [...Buffer.from('rent für Mai')]],
  ];
  test.each(rows)('%s', (title, program, accounts, data) => {
    const { parts, title: whole, warnings } = described([instruction(program, accounts, data)]);
    expect(parts[0]?.title).toBe(title);
    expect(whole).toMatch(/, with a fee of at most 0\.000005 SOL$/);
    expect(whole.startsWith(title)).toBe(true);
    expect(warnings).not.toContainEqual(expect.stringContaining('cannot read'));
  });
});

describe('warnings', () => {
  const rows: readonly [string, Address, readonly Address[], readonly number[]][] = [
    [`${b} may spend all of these tokens without asking again.`, token, [a, b, payer], [4, ...u64(most)]],
    [`${b} may spend these tokens without asking again.`, token, [a, b, payer], [4, ...u64(9n)]],
    [`${c} gets control that may take all that the account has.`, token, [a, payer], [6, 2, 1, ...key(3)]],
    [
      'An account that is given to a program is no longer yours to spend from.',
      system,
      [payer],
      [...u32(1), ...key(3)],
    ],
    [`${c} can take all that is in the nonce account.`, system, [a, payer], [...u32(7), ...key(3)]],
    [
      `${c} can take all that is in the stake account.`,
      stake,
      [a, clock, payer],
      [...u32(1), ...key(3), ...u32(1)],
    ],
    ['Tokens that are burned are gone.', token, [a, b, payer], [8, ...u64(9n)]],
  ];
  test.each(rows)('%s', (warning, program, accounts, data) => {
    expect(described([instruction(program, accounts, data)]).warnings).toContain(warning);
  });

  test('a durable nonce never expires', () => {
    const nonce = instruction(system, [a, b, payer], [...u32(4), 0xff]);
    const never = expect.stringMatching(/^It never expires/) as string;
    expect(described([nonce, transfer(payer, b, 1n)]).warnings).toContainEqual(never);
    expect(described([transfer(payer, b, 1n), nonce]).warnings).not.toContainEqual(never);
  });

  test('others must sign, and accounts are looked up', () => {
    const { warnings } = described([transfer(a, b, 1n), transfer(payer, keyOf(40), 1n)], {
      table: [keyOf(40)],
    });
    expect(warnings).toContain('1 other key must sign it as well.');
    expect(warnings).toContainEqual(expect.stringContaining('looked up in tables on the chain'));
  });
});

/** The class: an instruction that is not read to its last byte and its last account is never half described. */
describe('what cannot be read is said to be', () => {
  const kept = readIdl({
    instructions: [
      {
        name: 'withdraw',
        discriminator: [1, 2],
        accounts: [{ name: 'vault' }],
        args: [
          { name: 'amount', type: 'u64' },
          { name: 'note', type: { option: 'string' } },
        ],
      },
    ],
    types: [],
  });
  const idl = (program: string): Idl | undefined =>
    program === keyOf(50) && kept.ok ? kept.value : undefined;
  const call = (accounts: readonly Address[], data: readonly number[]): Description =>
    described([instruction(keyOf(50), accounts, data)], {}, { idl });

  test.each([
    ['a program without an interface', keyOf(51), [a], [1]],
    ['an interface without the instruction', keyOf(50), [a], [9, 9]],
    ['a byte after an instruction of an interface', keyOf(50), [a], [1, 2, ...u64(5n), 0, 7]],
    ['too few accounts', keyOf(50), [], [1, 2, ...u64(5n), 0]],
    ['an option of 2', keyOf(50), [a], [1, 2, ...u64(5n), 2]],
    ['an instruction that there is not', system, [payer, a], [...u32(14), ...u64(5n)]],
    ['a transfer that ends early', system, [payer, a], [...u32(2), 5]],
    ['a transfer with one account', system, [payer], [...u32(2), ...u64(5n)]],
    ['a batch of the Token Program', token, [a, b, payer], [255, 3, 9, 3, ...u64(5n)]],
    ['an extension of Token-2022', token2022, [a, payer], [36, 0]],
    ['an authority that the Token Program has not', token, [a, payer], [6, 8, 0]],
    [
      'a byte after the creation of a token account',
      associatedToken,
      [payer, a, b, c, system, token],
      [0, 0],
    ],
    ['a memo that is no text', memo, [], [0xff]],
    ['a vote', vote, [a, payer], [1]],
    ['a stake whose sysvar is looked up', stake, [a, keyOf(40), payer], [...u32(1), ...key(3), ...u32(1)]],
  ] as const)('%s', (_, program, accounts, data) => {
    const { title, parts, lines, warnings } = described(
      [instruction(program, accounts, data)],
      { table: [keyOf(40)] },
      { idl },
    );
    expect(title).toContain('with an instruction that this vault cannot read');
    expect(warnings).toContainEqual(expect.stringContaining('cannot read all of it'));
    expect(valueOf({ lines: [], parts }, 'Not read')).toContain('This vault cannot read all of it');
    expect(valueOf({ lines: [], parts }, 'Data')).toBe(
      data.length === 0 ? 'None' : Buffer.from(data).toString('hex'),
    );
    expect(valueOf({ lines, parts: [] }, 'Leaves your account at most')).toContain('Not bounded');
  });

  test('what an interface reads is shown by its names, and accounts beyond them by their numbers', () => {
    const { parts, title } = call([a, b], [1, 2, ...u64(2n ** 60n), 0]);
    expect(title).toContain(`Call “withdraw” of ${keyOf(50)}`);
    expect(parts[0]?.lines).toEqual([
      { label: 'Program', value: keyOf(50) },
      { label: 'Instruction by the interface', value: 'withdraw' },
      { label: 'Argument amount', value: '1152921504606846976' },
      { label: 'Argument note', value: 'null' },
      { label: 'Account 1 (vault)', value: a },
      { label: 'Account 2', value: b },
    ]);
  });

  test('no option and a text that says so are not shown alike', () => {
    const note = (value: string): readonly number[] => [
      1,
      2,
      ...u64(5n),
      1,
      ...u32(value.length),
      ...Buffer.from(value),
    ];
    const shown = [[1, 2, ...u64(5n), 0], note('null'), note('"null"')].map((data) =>
      valueOf(call([a], data), 'Argument note'),
    );
    expect(new Set(shown).size).toBe(3);
  });
});

test('a program that gets the key as a signer may spend all', () => {
  const kept = readIdl({
    instructions: [{ name: 'go', discriminator: [1], accounts: [], args: [] }],
    types: [],
  });
  const idl = (): Idl | undefined => (kept.ok ? kept.value : undefined);
  const leaves = (accounts: readonly Address[]): string | undefined =>
    valueOf(described([instruction(keyOf(50), accounts, [1])], {}, { idl }), 'Leaves your account at most');
  expect(leaves([payer])).toContain('Not bounded: a program gets the key as a signer');
  expect(leaves([a])).toBe('0.000005 SOL (5000 lamports)');
});

describe('titles', () => {
  test('name every receiver', () => {
    const { title } = described([
      instruction(computeBudget, [], [3, ...u64(1_000_000n)]),
      transfer(payer, a, 1_000_000_000n),
      transfer(payer, b, 2_000_000_000n),
      instruction(memo, [], [...Buffer.from('rent')]),
    ]);
    expect(title).toBe(`Send 1 SOL to ${a}; send 2 SOL to ${b}, with a fee of at most 0.000214 SOL`);
  });

  test('with more receivers than are read, say how many and how much', () => {
    const { title } = described(
      Array.from({ length: 11 }, (_, index) => transfer(payer, keyOf(index + 1), 1_000_000_000n)),
    );
    expect(title).toBe('Do 11 things; move 11 SOL in all to 11 accounts, with a fee of at most 0.000005 SOL');
  });

  test('with more tokens than are read, say how many and how much', () => {
    const { title } = described(
      Array.from({ length: 11 }, (_, index) =>
        instruction(token, [a, c, keyOf(index + 20), payer], [12, ...u64(1_000_000n), index === 0 ? 3 : 6]),
      ),
    );
    expect(title).toBe(
      `Do 11 things; send 1000 of the token ${c} in all to 1 account; send 10 of the token ${c} in all to 10 accounts, with a fee of at most 0.000005 SOL`,
    );
  });

  /** The class: a deed that many small ones hide, because a title sums up what it does not name. */
  test.each([
    ['a delegate', instruction(token, [a, b, payer], [4, ...u64(most)]), `let ${b} spend all tokens of`],
    [
      'an account that is given away',
      instruction(system, [payer], [...u32(1), ...key(3)]),
      'give the account',
    ],
    [
      'an owner',
      instruction(token, [a, payer], [6, 2, 1, ...key(3)]),
      `give ${c} the authority AccountOwner`,
    ],
    [
      'a withdrawer',
      instruction(stake, [a, clock, payer], [...u32(1), ...key(3), ...u32(1)]),
      'the withdrawer',
    ],
    ['tokens that are burned', instruction(token, [a, b, payer], [8, ...u64(7n)]), 'burn 7 smallest units'],
    ['an account that is closed', instruction(token, [a, b, payer], [9]), 'close the token account'],
  ] as const)('name among many: %s', (_, deed, named) => {
    const small = Array.from({ length: 11 }, (__, index) => transfer(payer, keyOf(index + 30), 1n));
    expect(described([...small, deed]).title).toContain(named);
  });

  test('name first the deeds with a warning, and count the rest', () => {
    const quiet = Array.from({ length: 12 }, (_, index) => instruction(token, [keyOf(index + 30)], [17]));
    const { title } = described([...quiet, instruction(token, [a, b, payer], [4, ...u64(most)])]);
    expect(title).toContain(`Do 13 things; let ${b} spend all tokens of the token account ${a}; bring the`);
    expect(title).toContain('; 3 more, with a fee of at most');
  });

  test('say which receivers are ours, by the vault’s own tables', () => {
    const { title } = described(
      [transfer(payer, a, 1n)],
      {},
      { ours: (address) => (address === a ? holderNamed('Savings\u202e') : undefined) },
    );
    expect(title).toContain(`to your Savings⟨U+202E⟩ (${a})`);
  });

  test('tell known tokens in their units, by mint and never by what a transaction says', () => {
    const [, mint = ''] =
      tokenRows.find(([chain, , symbol]) => chain === 'solana' && symbol === 'USDC') ?? [];
    const send = (decimals: number, amount = 1_250_000_000n): string =>
      described([instruction(token, [a, mint as Address, b, payer], [12, ...u64(amount), decimals])]).title;
    expect(send(6)).toContain(`Send 1,250 USDC to the token account ${b}`);
    expect(send(9)).toContain(`Send 1.25 of the token ${mint} to the token account ${b}`);
    expect(described([instruction(token, [a, keyOf(6), b, payer], [12, ...u64(1n), 6])]).title).not.toContain(
      'USDC',
    );
  });

  test('of a fee that another pays, say nothing', () => {
    const { title, lines } = described([transfer(payer, b, 5n)], { feePayer: a });
    expect(title).toBe(`Send 0.000000005 SOL to ${b}`);
    expect(valueOf({ lines, parts: [] }, 'Leaves your account at most')).toBe('0.000000005 SOL (5 lamports)');
  });
});

test('foreign text is made visible', () => {
  const { parts, warnings } = described([instruction(memo, [], [...Buffer.from('05$\u202e')])]);
  expect(valueOf({ lines: [], parts }, 'Text')).toBe('05$⟨U+202E⟩');
  expect(warnings).toContainEqual(expect.stringContaining('characters that are not visible'));
});
