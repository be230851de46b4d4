import fc from 'fast-check';
import {
  encodeFunctionData,
  parseAbi,
  toFunctionSelector,
  type Abi as ViemAbi,
  type AbiFunction,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { readAbi, readCall, type Abi, type Call } from './abi.ts';
import { byName, written } from '../arguments.ts';

const abiOf = (value: unknown): Abi => {
  const result = readAbi(value);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
};
const problem = (value: unknown): string => {
  const result = readAbi(value);
  return result.ok ? 'read' : result.problem;
};
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replace('0x', ''), 'hex'));

function call(abi: ViemAbi, name: string, args: readonly unknown[]): Call {
  const result = readCall(abiOf(abi), bytes(encodeFunctionData({ abi, functionName: name, args })));
  if (!result?.ok) throw new Error(result?.problem ?? 'no such function');
  return result.value;
}

const address = '0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7';
const abi = parseAbi([
  'function transfer(address dst, uint256 wad)',
  'function executeBatch((address target, uint256 value, bytes data)[] calls)',
  'function all(bool a, int8 b, bytes4 c, string d, uint[2][] e, (uint8, string) f, address)',
  'function nothing()',
]);

describe('calls that viem encodes', () => {
  test('transfer', () => {
    const { name, signature, selector, args } = call(abi, 'transfer', [address, 7n]);
    expect({ name, signature, selector }).toEqual({
      name: 'transfer',
      signature: 'transfer(address,uint256)',
      selector: '0xa9059cbb',
    });
    expect(byName(args)).toEqual({ dst: address, wad: 7n });
  });

  test('a list of tuples, whose parts go by place', () => {
    const { args } = call(abi, 'executeBatch', [
      [
        { target: address, value: 1n, data: '0x01' },
        { target: address, value: 2n, data: '0x' },
      ],
    ]);
    expect(byName(args)['calls']).toEqual([
      [address, 1n, '0x01'],
      [address, 2n, '0x'],
    ]);
    expect(args[0]?.type).toBe('(address,uint256,bytes)[]');
  });

  test('every type', () => {
    const values = [true, -5, '0x01020304', 'grüße', [[1n, 2n]], [9, 'x'], address];
    const { args } = call(abi, 'all', values);
    expect(args.map(({ value }) => value)).toEqual([
      true,
      -5n,
      '0x01020304',
      'grüße',
      [[1n, 2n]],
      [9n, 'x'],
      address,
    ]);
    expect(args.at(-1)?.name).toBe('6');
    expect(written(args.at(4)?.value ?? null)).toBe('[[1, 2]]');
  });

  test('one without arguments', () => {
    expect(call(abi, 'nothing', []).args).toEqual([]);
  });
});

test('selectors are viem’s', () => {
  expect([...abiOf(abi).keys()]).toEqual(
    (abi as readonly AbiFunction[]).map((entry) => toFunctionSelector(entry)),
  );
});

describe('data that is not what the interface says', () => {
  const read = (hex: string): string => {
    const result = readCall(abiOf(abi), bytes(hex));
    if (result === undefined) return 'no such function';
    return result.ok ? 'read' : result.problem;
  };
  const transfer = encodeFunctionData({ abi, functionName: 'transfer', args: [address, 7n] });
  test.each([
    ['0x', 'no such function'],
    ['0x12345678', 'no such function'],
    [transfer.slice(0, -2), 'ends too early'],
    [`0xa9059cbb01${transfer.slice(12)}`, 'does not fit address'],
    // What contracts pass over as well.
    [`${transfer}abcd`, 'read'],
    // A list that says it has 2^255 elements, and one that stands past the end.
    [
      `${toFunctionSelector('executeBatch((address,uint256,bytes)[])')}${'20'.padStart(64, '0')}8${'0'.repeat(63)}`,
      'points past its end',
    ],
    [
      `${toFunctionSelector('executeBatch((address,uint256,bytes)[])')}${'ff'.repeat(32)}`,
      'points past its end',
    ],
  ])('%#', (hex, expected) => {
    expect(read(hex)).toContain(expected);
  });

  test('lists that refer to themselves end', () => {
    const nested = abiOf(parseAbi(['function f(uint256[][][][][][] a)']));
    const [selector] = nested.keys();
    const self = `${selector ?? ''}${'20'.padStart(64, '0')}${'80'.padStart(64, '0').repeat(300)}`;
    const result = readCall(nested, bytes(self));
    expect(result?.ok).toBe(false);
  });
});

describe('what is no ABI', () => {
  test.each([
    [{}, 'expected an ABI as a JSON array'],
    [[1], 'expected entry 0 of the ABI as an object'],
    [[{ type: 'function' }], "function’s name|function's name"],
    [
      [{ type: 'function', name: 'f', inputs: [{ name: 'a', type: 'uint7' }] }],
      'expected a type of Solidity in input 0 of f, got uint7',
    ],
    [[{ type: 'function', name: 'f', inputs: [{ name: 'a', type: 'tuple' }] }], 'components of the tuple'],
    [
      [
        {
          type: 'function',
          name: 'f',
          inputs: [
            { name: 'a', type: 'bool' },
            { name: 'a', type: 'bool' },
          ],
        },
      ],
      'two inputs of the name a',
    ],
  ])('%j', (value, expected) => {
    expect(problem(value)).toMatch(new RegExp(expected));
  });

  test('events, errors and the constructor are passed over', () => {
    expect(
      problem([{ type: 'event', name: 'Transfer', inputs: [{ type: 'nonsense' }] }, { type: 'constructor' }]),
    ).toBe('read');
  });
});

test('mutations of calls never throw', () => {
  const read = abiOf(abi);
  const originals = [
    encodeFunctionData({ abi, functionName: 'transfer', args: [address, 7n] }),
    encodeFunctionData({
      abi,
      functionName: 'executeBatch',
      args: [[{ target: address, value: 1n, data: '0x0102' }]],
    }),
    encodeFunctionData({
      abi,
      functionName: 'all',
      args: [true, -5, '0x01020304', 'x', [[1n, 2n]], [9, 'x'], address],
    }),
  ].map(bytes);
  fc.assert(
    fc.property(
      fc.constantFrom(...originals),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (original, changes) => {
        const mutated = original.slice();
        for (const [at, value] of changes) mutated[4 + (at % (mutated.length - 4))] = value;
        readCall(read, mutated);
      },
    ),
    { numRuns: 5000 },
  );
});
