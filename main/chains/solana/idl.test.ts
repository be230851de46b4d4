import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { byName } from '../arguments.ts';
import { readIdl, readInstructionBy, type Idl } from './idl.ts';
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

const key = (name: string) => ({ key: name, signer: false, writable: false });
const instruction = (data: Uint8Array, names = ['A', 'V', 'B']): SolanaInstruction => ({
  program: 'P',
  accounts: names.map(key),
  data,
});
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
  const result = readInstructionBy(idlOf(older), instruction(data));
  if (!result?.ok) throw new Error(result?.problem ?? 'no such instruction');
  const { name, accounts, args } = result.value;
  expect(name).toBe('routeAll');
  expect(result.value.discriminator).toBe(toHex(discriminator));
  expect(accounts).toEqual({ authority: 'A', vault: 'V', 'pool.authority': 'B' });
  expect(byName(args)).toEqual({
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
  const result = readInstructionBy(
    idl,
    instruction(Buffer.concat([Buffer.of(9, 9), new Uint8Array(32), Buffer.of(0)])),
  );
  expect(result?.ok && byName(result.value.args)).toEqual({ who: '1'.repeat(32), kind: 'One' });
});

describe('data that is not what the interface says', () => {
  const idl = idlOf(older);
  test.each([
    ['another instruction', Buffer.alloc(8), 'no such instruction'],
    ['an end that is cut off', data.subarray(0, -1), 'ends too early'],
    ['bytes after the end', Buffer.concat([data, Buffer.of(0)]), 'after its end'],
  ])('%s', (_, bytes, expected) => {
    const result = readInstructionBy(idl, instruction(bytes));
    expect(result === undefined ? 'no such instruction' : result.ok ? 'read' : result.problem).toContain(
      expected,
    );
  });

  test('too few accounts', () => {
    const result = readInstructionBy(idl, instruction(data, ['A']));
    expect(result?.ok === false && result.problem).toContain('takes 3 accounts, got 1');
  });

  test('a type that holds itself ends', () => {
    const endless = idlOf({
      instructions: [{ name: 'go', accounts: [], args: [{ name: 'a', type: { defined: 'Loop' } }] }],
      types: [
        { name: 'Loop', type: { kind: 'struct', fields: [{ name: 'again', type: { defined: 'Loop' } }] } },
      ],
    });
    const start = sha256(Buffer.from('global:go')).subarray(0, 8);
    expect(readInstructionBy(endless, instruction(start))?.ok).toBe(false);
  });

  test('a list of nothing, four billion long', () => {
    const empty = idlOf({
      instructions: [{ name: 'go', accounts: [], args: [{ name: 'a', type: { vec: { defined: 'Unit' } } }] }],
      types: [{ name: 'Unit', type: { kind: 'struct', fields: [] } }],
    });
    const start = sha256(Buffer.from('global:go')).subarray(0, 8);
    const result = readInstructionBy(
      empty,
      instruction(Buffer.concat([start, Buffer.from('ffffffff', 'hex')])),
    );
    expect(result?.ok === false && result.problem).toContain('more values');
  });

  test('mutations never throw', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const mutated = Uint8Array.from(data);
        for (const [at, value] of changes) mutated[8 + (at % (mutated.length - 8))] = value;
        readInstructionBy(idl, instruction(mutated));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('what is no IDL', () => {
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
  ])('%j', (value, expected) => {
    const result = readIdl(value);
    expect(result.ok ? 'read' : result.problem).toContain(expected);
  });
});
