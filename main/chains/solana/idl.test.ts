import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { readIdl, readCalled, type CalledInstruction, type Idl } from './idl.ts';
import type { SolanaInstruction } from './read.ts';

const idlOf = (value: unknown): Idl => {
  const result = readIdl(value);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
};

const older = {
  instructions: [
    {
      name: 'routeAll',
      accounts: [
        { name: 'authority', isMut: false, isSigner: true },
        { name: 'pool', accounts: [{ name: 'vault' }, { name: 'authority' }] },
      ],
      args: [
        { name: 'inAmount', type: 'u64' },
        { name: 'low', type: 'i16' },
        { name: 'ok', type: 'bool' },
        { name: 'note', type: 'string' },
        { name: 'data', type: 'bytes' },
        { name: 'to', type: 'publicKey' },
        { name: 'maybe', type: { option: 'u8' } },
        { name: 'pair', type: { array: ['u8', 2] } },
        { name: 'steps', type: { vec: { defined: 'Step' } } },
        { name: 'swap', type: { defined: 'Swap' } },
        { name: 'price', type: 'f64' },
        { name: 'id', type: { defined: 'Id' } },
      ],
    },
  ],
  types: [
    { name: 'Step', type: { kind: 'struct', fields: [{ name: 'percent', type: 'u8' }] } },
    {
      name: 'Swap',
      type: {
        kind: 'enum',
        variants: [{ name: 'Plain' }, { name: 'Priced', fields: [{ name: 'at', type: 'u16' }] }],
      },
    },
    { name: 'Id', type: { kind: 'alias', value: 'u16' } },
  ],
};

const account = (key: string, at: number) => ({ at, key, signer: false, writable: false });
const instruction = (data: Uint8Array, names = ['A', 'V', 'B']): SolanaInstruction => ({
  program: account('P', 9),
  accounts: names.map(account),
  data,
});
const argumentsOf = (called: CalledInstruction | undefined): unknown =>
  called?.args.ok === true
    ? Object.fromEntries(called.args.value.map(({ name, value }) => [name, value]))
    : undefined;
const problemOf = (called: CalledInstruction | undefined): string =>
  called === undefined ? 'no such instruction' : called.args.ok ? 'read' : called.args.problem;
const discriminator = sha256(Buffer.from('global:route_all')).subarray(0, 8);
const data = Buffer.concat([
  discriminator,
  Buffer.from('e803000000000000', 'hex'),
  Buffer.from('feff', 'hex'),
  Buffer.of(1),
  Buffer.from('02000000', 'hex'),
  Buffer.from('hi'),
  Buffer.from('01000000ff', 'hex'),
  new Uint8Array(32).fill(1),
  Buffer.of(0),
  Buffer.of(3, 4),
  Buffer.from('020000000a5a', 'hex'),
  Buffer.from('010700', 'hex'),
  Buffer.from('000000000000f83f', 'hex'),
  Buffer.from('0900', 'hex'),
]);

test('every type, in the older form', () => {
  const called = readCalled(idlOf(older), instruction(data));
  expect(called?.name).toBe('routeAll');
  expect(called?.discriminator).toBe(toHex(discriminator));
  expect(called?.accounts.map(({ name, account: { key } = {} }) => [name, key])).toEqual([
    ['authority', 'A'],
    ['vault', 'V'],
    ['pool.authority', 'B'],
  ]);
  expect(argumentsOf(called)).toEqual({
    inAmount: 1000n,
    low: -2n,
    ok: true,
    note: 'hi',
    data: 'ff',
    to: '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi',
    maybe: null,
    pair: [3n, 4n],
    steps: [{ percent: 10n }, { percent: 90n }],
    swap: { Priced: { at: 7n } },
    price: '1.5',
    id: 9n,
  });
});

test('the newer form: discriminators, pubkey, types by object', () => {
  const idl = idlOf({
    instructions: [
      {
        name: 'initialize',
        discriminator: [9, 9],
        accounts: [{ name: 'payer', writable: true, signer: true }],
        args: [
          { name: 'who', type: 'pubkey' },
          { name: 'kind', type: { defined: { name: 'Kind' } } },
        ],
      },
    ],
    types: [{ name: 'Kind', type: { kind: 'enum', variants: [{ name: 'One' }] } }],
  });
  const called = readCalled(
    idl,
    instruction(Buffer.concat([Buffer.of(9, 9), new Uint8Array(32), Buffer.of(0)])),
  );
  expect(argumentsOf(called)).toEqual({ who: '1'.repeat(32), kind: 'One' });
});

describe('data that is not what the interface says', () => {
  const idl = idlOf(older);
  test.each([
    ['another instruction', Buffer.alloc(8), 'no such instruction'],
    ['an end that is cut off', data.subarray(0, -1), 'ends too early'],
    ['bytes after the end', Buffer.concat([data, Buffer.of(0)]), 'after its end'],
  ])('%s', (_, bytes, expected) => {
    expect(problemOf(readCalled(idl, instruction(bytes)))).toContain(expected);
  });

  test('too few accounts', () => {
    const called = readCalled(idl, instruction(data, ['A']));
    expect(problemOf(called)).toContain('takes 3 accounts, got 1');
    expect(called?.name).toBe('routeAll');
  });

  /** The class of faults: several encodings that are read as one value. */
  test.each([
    ['another NaN', 'f64', Buffer.from('010000000000f87f', 'hex')],
    ['a bool of 2', 'bool', Buffer.of(2)],
    ['an option of 2', { option: 'u8' }, Buffer.of(2, 7)],
    ['a text with a lone continuation', 'string', Buffer.of(1, 0, 0, 0, 0x80)],
    ['a variant that there is not', { defined: 'Swap' }, Buffer.of(2)],
  ])('%s', (_, type, value) => {
    const one = idlOf({
      ...older,
      instructions: [{ name: 'go', accounts: [], args: [{ name: 'a', type }] }],
    });
    const start = sha256(Buffer.from('global:go')).subarray(0, 8);
    const called = readCalled(one, instruction(Buffer.concat([start, value])));
    expect(called?.name).toBe('go');
    expect(called?.args.ok).toBe(false);
  });

  test('a zero below zero is not zero', () => {
    const one = idlOf({
      ...older,
      instructions: [{ name: 'go', accounts: [], args: [{ name: 'a', type: 'f32' }] }],
    });
    const start = sha256(Buffer.from('global:go')).subarray(0, 8);
    const called = readCalled(one, instruction(Buffer.concat([start, Buffer.of(0, 0, 0, 0x80)])));
    expect(argumentsOf(called)).toEqual({ a: '-0' });
  });

  test('a type that holds itself ends', () => {
    const endless = idlOf({
      instructions: [{ name: 'go', accounts: [], args: [{ name: 'a', type: { defined: 'Loop' } }] }],
      types: [
        { name: 'Loop', type: { kind: 'struct', fields: [{ name: 'again', type: { defined: 'Loop' } }] } },
      ],
    });
    const start = sha256(Buffer.from('global:go')).subarray(0, 8);
    expect(readCalled(endless, instruction(start))?.args.ok).toBe(false);
  });

  test('a list of nothing, four billion long', () => {
    const empty = idlOf({
      instructions: [{ name: 'go', accounts: [], args: [{ name: 'a', type: { vec: { defined: 'Unit' } } }] }],
      types: [{ name: 'Unit', type: { kind: 'struct', fields: [] } }],
    });
    const start = sha256(Buffer.from('global:go')).subarray(0, 8);
    const called = readCalled(empty, instruction(Buffer.concat([start, Buffer.from('ffffffff', 'hex')])));
    expect(problemOf(called)).toContain('more values');
  });

  test('mutations never throw, and two of them never read as the same', () => {
    const read = new Map<string, string>();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const mutated = Uint8Array.from(data);
        for (const [at, value] of changes) mutated[8 + (at % (mutated.length - 8))] = value;
        const args = argumentsOf(readCalled(idl, instruction(mutated)));
        if (args === undefined) return;
        const key = JSON.stringify(args, (__, value: unknown) =>
          typeof value === 'bigint' ? `${String(value)}n` : value,
        );
        expect(read.get(key) ?? toHex(mutated)).toBe(toHex(mutated));
        read.set(key, toHex(mutated));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('an invalid IDL', () => {
  test.each([
    [[], 'expected an IDL as a JSON object'],
    [{ instructions: [] }, 'expected types of the IDL as an array'],
    [{ instructions: [{ name: 'a', accounts: [], args: [{ name: 'x', type: 'u7' }] }], types: [] }, 'got u7'],
    [
      {
        instructions: [{ name: 'a', accounts: [], args: [{ name: 'x', type: { defined: 'No' } }] }],
        types: [],
      },
      'no type No',
    ],
    [
      { instructions: [{ name: 'a', accounts: [], args: [], discriminator: [300] }], types: [] },
      '1 to 32 bytes',
    ],
    [
      {
        instructions: [
          {
            name: 'a',
            accounts: [],
            args: [
              { name: 'x', type: 'u8' },
              { name: 'x', type: 'u8' },
            ],
          },
        ],
        types: [],
      },
      'two arguments of a',
    ],
    [
      { instructions: [{ name: 'a', accounts: [{ name: 'x' }, { name: 'x' }], args: [] }], types: [] },
      'two accounts of a',
    ],
    [
      {
        instructions: [
          { name: 'a', accounts: [], args: [], discriminator: [1] },
          { name: 'b', accounts: [], args: [], discriminator: [1] },
        ],
        types: [],
      },
      'two instructions',
    ],
    [
      {
        instructions: [
          { name: 'a', accounts: [], args: [], discriminator: [1] },
          { name: 'b', accounts: [], args: [], discriminator: [1, 2] },
        ],
        types: [],
      },
      'begins with another',
    ],
    [
      {
        instructions: [],
        types: [
          {
            name: 'A',
            type: {
              kind: 'struct',
              fields: [
                { name: 'x', type: 'u8' },
                { name: 'x', type: 'u8' },
              ],
            },
          },
        ],
      },
      'two fields of A',
    ],
  ])('%j', (value, expected) => {
    const result = readIdl(value);
    expect(result.ok ? 'read' : result.problem).toContain(expected);
  });

  /** Of JSON, a whole number that a double would round comes as a bigint. */
  test.each([
    { array: ['u8', 9_007_199_254_740_993n] },
    9_007_199_254_740_993n,
    { vec: [9_007_199_254_740_993n] },
  ])('a number beyond what a double holds is refused, and throws nothing', (type) => {
    const value = {
      instructions: [{ name: 'a', accounts: [], args: [{ name: 'x', type }] }],
      types: [],
    };
    const result = readIdl(value);
    expect(result.ok ? 'read' : result.problem).toContain('9007199254740993');
  });

  test('a type that nests deeper than the stack is refused, and throws nothing', () => {
    const type: unknown = JSON.parse(`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`);
    const value = { instructions: [{ name: 'a', accounts: [], args: [{ name: 'x', type }] }], types: [] };
    const result = readIdl(value);
    expect(result.ok ? 'read' : result.problem).toContain('expected a type of an IDL');
  });
});
