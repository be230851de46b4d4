import fc from 'fast-check';
import {
  decodeFunctionData,
  encodeFunctionData,
  parseAbi,
  toFunctionSelector,
  type Abi as ViemAbi,
  type AbiFunction,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { readAbi, readCall, type Abi, type Call, type ReadCall } from './abi.ts';
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

const hex = (data: Uint8Array): `0x${string}` => `0x${Buffer.from(data).toString('hex')}`;

function call(abi: ViemAbi, name: string, args: readonly unknown[]): ReadCall {
  const result = readCall(abiOf(abi), bytes(encodeFunctionData({ abi, functionName: name, args })));
  return read(result);
}

function read(result: Call | undefined): ReadCall {
  if (result?.args === undefined) throw new Error(result?.problem ?? 'no such function');
  return result;
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

/**
 * Contracts differ in what they make of such data: some refuse it, some cut it, some read it. A denial that asks for the
 * arguments must hold for all of it, so none of it is read. The name follows from the selector alone.
 */
describe('data in another encoding than the one that its arguments have', () => {
  const problem = (data: string): string => {
    const result = readCall(abiOf(abi), bytes(data));
    if (result === undefined) return 'no such function';
    return result.args === undefined ? `${result.name}: ${result.problem}` : 'read';
  };
  const word = (number: number): string => number.toString(16).padStart(64, '0');
  const transfer = encodeFunctionData({ abi, functionName: 'transfer', args: [address, 7n] });
  const batch = toFunctionSelector('executeBatch((address,uint256,bytes)[])');
  const note = parseAbi(['function note(bytes a, string b)']);
  const noted = encodeFunctionData({ abi: note, functionName: 'note', args: ['0x01', 'x'] });

  test.each([
    ['no data', '0x', 'no such function'],
    ['a selector that the interface lacks', '0x12345678', 'no such function'],
    ['a selector alone', '0xa9059cbb', 'transfer: .*ends too early'],
    ['data that is cut', transfer.slice(0, -2), 'transfer: .*ends too early'],
    [
      'a dirty bit before an address',
      `0xa9059cbb01${transfer.slice(12)}`,
      'transfer: .*does not fit address',
    ],
    ['a byte after the end', `${transfer}00`, 'transfer: .*not in the one encoding'],
    ['a word after the end', `${transfer}${word(0)}`, 'transfer: .*not in the one encoding'],
    [
      'a list of 2^255 elements',
      `${batch}${word(32)}8${'0'.repeat(63)}`,
      'executeBatch: .*points past its end',
    ],
    ['a list that stands past the end', `${batch}${'ff'.repeat(32)}`, 'executeBatch: .*points past its end'],
    ['a list at an odd place', `${batch}${word(33)}00${word(0)}`, 'executeBatch: .*not in the one encoding'],
    [
      'a list after a gap',
      `${batch}${word(64)}${word(0)}${word(0)}`,
      'executeBatch: .*not in the one encoding',
    ],
  ])('%s', (_, data, expected) => {
    expect(problem(data)).toMatch(new RegExp(expected));
  });

  test('bytes and texts whose last word is filled up with anything but zeros', () => {
    const reading = (data: string): boolean => readCall(abiOf(note), bytes(data))?.args !== undefined;
    expect(reading(noted)).toBe(true);
    expect(reading(`${noted.slice(0, -2)}01`)).toBe(false);
    const padding = noted.indexOf(`01${'0'.repeat(62)}`) + 2;
    expect(reading(`${noted.slice(0, padding)}01${noted.slice(padding + 2)}`)).toBe(false);
  });

  test('two values in one place', () => {
    const [selector] = abiOf(note).keys();
    const shared = `${selector ?? ''}${word(64)}${word(64)}${word(1)}78${'0'.repeat(62)}`;
    expect(readCall(abiOf(note), bytes(shared))).toMatchObject({
      name: 'note',
      problem: expect.stringContaining('overlap') as string,
    });
  });

  test('lists that refer to themselves end', () => {
    const nested = abiOf(parseAbi(['function f(uint256[][][][][][] a)']));
    const [selector] = nested.keys();
    const self = `${selector ?? ''}${word(32)}${word(128).repeat(300)}`;
    expect(readCall(nested, bytes(self))?.args).toBeUndefined();
  });
});

test('another chain writes addresses its own way, and they are encoded again', () => {
  const form = {
    write: (given: Uint8Array): string => `T${Buffer.from(given).toString('hex')}`,
    read: (text: string): Uint8Array => bytes(text.slice(1)),
  };
  const data = bytes(encodeFunctionData({ abi, functionName: 'transfer', args: [address, 7n] }));
  expect(byName(read(readCall(abiOf(abi), data, form)).args)['dst']).toBe(
    `T${address.slice(2).toLowerCase()}`,
  );
});

describe('an invalid ABI', () => {
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
      [{ type: 'function', name: 'f', inputs: [{ name: 'Not read', type: 'bool' }] }],
      'the name of letters, digits, _ and \\$',
    ],
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

test('what is read of mutations is what viem decodes, and viem encodes it to the same data', () => {
  const kept = abiOf(abi);
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
  let readings = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...originals),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2, 32, 255)), { minLength: 1, maxLength: 2 }),
      (original, changes) => {
        const mutated = original.slice();
        for (const [at, value] of changes) mutated[4 + (at % (mutated.length - 4))] = value;
        if (readCall(kept, mutated)?.args === undefined) return;
        readings += 1;
        const { functionName, args } = decodeFunctionData({ abi, data: hex(mutated) });
        expect(encodeFunctionData({ abi, functionName, args })).toBe(hex(mutated));
      },
    ),
    { numRuns: 5000 },
  );
  expect(readings).toBeGreaterThan(1000);
});
