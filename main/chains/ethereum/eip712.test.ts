import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { describe, expect, test } from 'vitest';
import { atLength } from '../../../test/campaigns/length.ts';
import eip712 from '../../../test/vectors/eip712.json' with { type: 'json' };
import { KeyhearthError } from '../../lib/errors.ts';
import { toHex } from '../../crypto/encodings.ts';
import { typedDataDigest } from './eip712.ts';

const digest = (data: unknown): string => `0x${toHex(typedDataDigest('payload', JSON.stringify(data)))}`;
const ofViem = (data: unknown): string => hashTypedData(data as Parameters<typeof hashTypedData>[0]);

describe('published digests', () => {
  test('all are there', () => {
    expect(eip712.vectors).toHaveLength(2);
  });
  test.each(eip712.vectors)('$source', ({ typedData, digest: expected }) => {
    expect(digest(typedData)).toBe(expected);
    expect(ofViem(typedData)).toBe(expected);
  });
});

const [mail] = eip712.vectors.map(({ typedData }) => typedData);

describe('what real data has', () => {
  const hyperliquid = {
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      'HyperliquidTransaction:UsdSend': [
        { name: 'hyperliquidChain', type: 'string' },
        { name: 'destination', type: 'string' },
        { name: 'amount', type: 'string' },
        { name: 'time', type: 'uint64' },
      ],
    },
    primaryType: 'HyperliquidTransaction:UsdSend',
    domain: {
      name: 'HyperliquidSignTransaction',
      version: '1',
      chainId: 42161,
      verifyingContract: '0x0000000000000000000000000000000000000000',
    },
    message: { hyperliquidChain: 'Mainnet', destination: '0xabc', amount: '1', time: 1690393044548 },
  };

  test.each<[string, unknown]>([
    ['names with colons', hyperliquid],
    ['a domain without its type', { ...mail, types: { Person: mail?.types.Person, Mail: mail?.types.Mail } }],
    ['a domain alone', { ...mail, primaryType: 'EIP712Domain' }],
    ['an empty domain', { types: { EIP712Domain: [], A: [] }, primaryType: 'A', domain: {}, message: {} }],
    [
      'members that no type names',
      { ...mail, message: { ...mail?.message, more: 1 }, domain: { ...mail?.domain, more: 1 } },
    ],
    [
      'structs that hold themselves',
      {
        types: {
          Node: [
            { name: 'to', type: 'Node[]' },
            { name: 'id', type: 'int8' },
          ],
        },
        primaryType: 'Node',
        domain: {},
        message: { id: -128, to: [{ id: 127, to: [] }] },
      },
    ],
    [
      'every kind of number',
      {
        types: {
          N: [
            { name: 'a', type: 'uint256' },
            { name: 'b', type: 'int256' },
            { name: 'c', type: 'uint8[2][]' },
            { name: 'd', type: 'bytes4' },
            { name: 'e', type: 'bool' },
            { name: 'f', type: 'bytes' },
          ],
        },
        primaryType: 'N',
        domain: { salt: `0x${'ab'.repeat(32)}`, chainId: '0x1' },
        message: {
          a: String((1n << 256n) - 1n),
          b: String(-(1n << 255n)),
          c: [
            [0, 255],
            [1, '2'],
          ],
          d: '0xDEADbeef',
          e: true,
          f: '0x',
        },
      },
    ],
  ])('%s', (_, data) => {
    expect(digest(data)).toBe(ofViem(data));
  });

  test('a number of JSON is read to its last digit', () => {
    const text = (value: string): string =>
      `{"types":{"A":[{"name":"a","type":"uint256"}]},"primaryType":"A","domain":{},"message":{"a":${value}}}`;
    const most = String((1n << 256n) - 1n);
    expect(typedDataDigest('payload', text(most))).toEqual(typedDataDigest('payload', text(`"${most}"`)));
    expect(() => typedDataDigest('payload', text('1e30'))).toThrow(
      'invalid payload.message.a: expected uint256: a whole number, or text with one in decimal or in hex with 0x; got a number that is not whole',
    );
  });
});

test('agrees with viem on random types and values, 1,000 times', () => {
  fc.assert(
    fc.property(typedData(), (data) => {
      expect(digest(data)).toBe(ofViem(data));
    }),
    { numRuns: 1000 },
  );
}, 120_000);

const types = { A: [{ name: 'a', type: 'uint8' }] };
const valid = { types, primaryType: 'A', domain: {}, message: { a: 1 } };
const of = (type: string, a: unknown): unknown => ({
  ...valid,
  types: { A: [{ name: 'a', type }] },
  message: { a },
});

test.each<[string, unknown, string]>([
  ['text', 'text', 'payload: expected typed data as a JSON object, got a string'],
  ['an array', [], 'payload: expected typed data as a JSON object, got an array'],
  ['no domain', { ...valid, domain: undefined }, 'payload.domain: expected an object, got nothing'],
  ['no types', { ...valid, types: null }, 'payload.types: expected an object, got null'],
  ['no message', { ...valid, message: [] }, 'payload.message: expected an object, got an array'],
  [
    'no primary type',
    { ...valid, primaryType: 1 },
    'payload.primaryType: expected the name of one of the types, got a number',
  ],
  [
    'an unknown primary type',
    { ...valid, primaryType: 'constructor' },
    'payload.primaryType: expected the name of one of the types, got "constructor"',
  ],
  [
    'a type that is no array',
    { ...valid, types: { A: {} } },
    'payload.types["A"]: expected an array of members, got an object',
  ],
  [
    'an elementary name',
    { ...valid, types: { ...types, uint8: [] } },
    'payload.types["uint8"]: expected a name that is no elementary type',
  ],
  [
    'a name with a comma',
    { ...valid, types: { ...types, 'B,C': [] } },
    'payload.types["B,C"]: expected a name',
  ],
  [
    'a member without a type',
    { ...valid, types: { A: [{ name: 'a' }] } },
    'payload.types["A"][0]: expected { name, type }',
  ],
  [
    'a member named twice',
    { ...valid, types: { A: [...types.A, ...types.A] } },
    'payload.types["A"][1]: "a" is given twice',
  ],
  [
    'an unknown type',
    of('uint7', 1),
    'payload.types["A"][0].type: expected an elementary type, one of the types, or an array of either; got "uint7"',
  ],
  ['a wide type', of('uint264', 1), 'got "uint264"'],
  ['bytes33', of('bytes33', '0x'), 'got "bytes33"'],
  ['bytes0', of('bytes0', '0x'), 'got "bytes0"'],
  ['a malformed array', of('uint8[', 1), 'got "uint8["'],
  ['too many dimensions', of(`uint8${'[]'.repeat(64)}`, []), 'payload.types["A"][0].type: expected'],
  [
    'too many types',
    { ...valid, types: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`T${String(at)}`, []])) },
    'payload.types: expected at most 100 types, got 101',
  ],
  [
    'a missing value',
    of('uint8', undefined),
    'payload.message.a: expected uint8: a whole number, or text with one in decimal or in hex with 0x; got nothing',
  ],
  [
    'an inherited value',
    { ...valid, types: { A: [{ name: 'toString', type: 'string' }] } },
    'payload.message.toString: expected text, got nothing',
  ],
  [
    'a number too large',
    of('uint8', 256),
    'payload.message.a: expected uint8, got a number that is too large',
  ],
  [
    'a number too small',
    of('int16', '-32769'),
    'payload.message.a: expected int16, got a number that is too small',
  ],
  ['text that is no number', of('uint8', ' 1'), 'got text that is none'],
  ['empty text for a number', of('uint8', ''), 'got text that is none'],
  ['a number for text', of('string', 1), 'payload.message.a: expected text, got a number'],
  [
    'half a character',
    of('string', '\ud800'),
    'payload.message.a: expected Unicode text, got a lone surrogate',
  ],
  ['text for a truth', of('bool', 'true'), 'payload.message.a: expected true or false, got a string'],
  [
    'bytes without 0x',
    of('bytes', 'ab'),
    'payload.message.a: expected bytes in hex with 0x, got text without 0x',
  ],
  ['too few bytes', of('bytes4', '0xabcd'), 'payload.message.a: expected 4 bytes in hex, got 2'],
  [
    'a short address',
    of('address', '0xab'),
    'payload.message.a: expected an Ethereum address, 0x and 40 hex digits; got 4 characters',
  ],
  [
    'a mistyped address',
    of('address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaee'),
    'payload.message.a: expected an Ethereum address with the checksum of EIP-55',
  ],
  ['a value for an array', of('uint8[]', 1), 'payload.message.a: expected an array, got a number'],
  ['an array of another length', of('uint8[2]', [1]), 'payload.message.a: expected 2 elements, got 1'],
  [
    'null for a struct',
    { ...valid, types: { A: [{ name: 'a', type: 'B' }], B: [] }, message: { a: null } },
    'payload.message.a: expected an object of B, got null',
  ],
])('%s is refused by name', (_, data, message) => {
  expect(() => digest(data)).toThrow(message);
  expect(() => digest(data)).toThrow(/^invalid payload/);
});

test('structs too deep are refused', () => {
  let message: unknown = { to: [] };
  for (let depth = 0; depth < 70; depth++) message = { to: [message] };
  expect(() =>
    digest({ types: { A: [{ name: 'to', type: 'A[]' }] }, primaryType: 'A', domain: {}, message }),
  ).toThrow('expected at most 64 levels');
});

describe('all errors are KeyhearthErrors for', () => {
  const refuses = (text: string): void => {
    try {
      typedDataDigest('payload', text);
    } catch (error) {
      expect(error).toBeInstanceOf(KeyhearthError);
    }
  };

  test('any JSON and any text, many times', () => {
    fc.assert(fc.property(fc.oneof(fc.json(), fc.string(), fc.string({ unit: 'binary' })), refuses), {
      numRuns: atLength(1000, 5000),
    });
  }, 60_000);

  test('typed data with parts replaced, many times', () => {
    fc.assert(
      fc.property(typedData(), fc.nat(), fc.jsonValue({ stringUnit: 'binary' }), (data, at, value) => {
        refuses(JSON.stringify(replaced(data, at, value)));
      }),
      { numRuns: atLength(1000, 5000) },
    );
  }, 120_000);

  test('what nests, repeats or is long', () => {
    refuses('['.repeat(200_000));
    refuses(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    refuses(`${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`);
    refuses(JSON.stringify(of('uint8[]', new Array(400_000).fill(1))));
    refuses(JSON.stringify(of('string', 'x'.repeat(900_000))));
    refuses(JSON.stringify({ ...valid, types: { A: new Array(20_000).fill({ name: 'a', type: 'A' }) } }));
  }, 60_000);

  test('types that hold one another are hashed while their texts are bounded', () => {
    const names = Array.from({ length: 25 }, (_, at) => `T${String(at)}`.padEnd(90, 'x'));
    const members = names.map((type, at) => ({ name: `m${String(at)}`, type: `${type}[]` }));
    const empty = Object.fromEntries(members.map(({ name }) => [name, []]));
    const data = (message: object) => ({
      types: { EIP712Domain: [], Root: members, ...Object.fromEntries(names.map((name) => [name, members])) },
      primaryType: 'Root',
      domain: {},
      message,
    });
    expect(digest(data(empty))).toBe(ofViem(data(empty)));
    const one = data({ ...empty, m1: [empty] });
    expect(digest(one)).toBe(ofViem(one));
    // Each is hashed once, and says the members of all the others.
    const many = Object.fromEntries(members.map(({ name }) => [name, [empty]]));
    expect(() => digest(data(many))).toThrow(/at most 200,000 characters together/);
  }, 60_000);

  test.each([
    ['string[]', ''],
    ['uint8[]', 1],
    ['bytes[]', '0x'],
    ['address[]', `0x${'ab'.repeat(20)}`],
    ['uint8[][]', []],
  ])(
    'what has more values than are hashed within a turn is refused before it is parsed: %s',
    (type, value) => {
      const made = (count: number) => of(type, new Array(count).fill(value));
      expect(digest(made(1500))).toBe(ofViem(made(1500)));
      expect(() => digest(made(4000))).toThrow(
        /^invalid payload: expected JSON of at most 4,000 values, those in lists and objects counted each, got [0-9,]+$/,
      );
    },
  );
});

/** Puts a value in the place of one of those inside, the root aside. */
function replaced(data: unknown, at: number, value: unknown): unknown {
  const copy = structuredClone(data);
  const places: (() => void)[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push(() => {
        (node as Record<string, unknown>)[key] = value;
      });
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  places[at % places.length]?.();
  return copy;
}

interface Sample {
  readonly type: string;
  readonly value: unknown;
}

function bytes(length: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((content) => `0x${Buffer.from(content).toString('hex')}`);
}

function elementarySample(): fc.Arbitrary<Sample> {
  const sized = fc.integer({ min: 1, max: 32 });
  const text = fc.string({ unit: 'grapheme' });
  return fc.oneof(
    sized.chain((size) =>
      fc
        .bigInt({ min: 0n, max: (1n << BigInt(size * 8)) - 1n })
        .map((value) => ({ type: `uint${String(size * 8)}`, value: String(value) })),
    ),
    sized.chain((size) =>
      fc
        .bigInt({ min: -(1n << BigInt(size * 8 - 1)), max: (1n << BigInt(size * 8 - 1)) - 1n })
        .map((value) => ({ type: `int${String(size * 8)}`, value: String(value) })),
    ),
    sized.chain((size) => bytes(size).map((value) => ({ type: `bytes${String(size)}`, value }))),
    fc.integer({ min: 0, max: 40 }).chain((size) => bytes(size).map((value) => ({ type: 'bytes', value }))),
    bytes(20).map((value) => ({ type: 'address', value })),
    fc.boolean().map((value) => ({ type: 'bool', value })),
    text.map((value) => ({ type: 'string', value })),
  );
}

/** Structs S0 to S2, each of which may hold those after it, alone, in arrays, and in arrays of arrays. */
function typedData(): fc.Arbitrary<unknown> {
  const shape = fc.array(fc.tuple(elementarySample(), fc.constantFrom('', '[]', '[1]', '[][1]')), {
    minLength: 1,
    maxLength: 5,
  });
  const links = fc.array(fc.constantFrom('', '[]', '[2]'), { maxLength: 2 });
  return fc
    .record({
      shapes: fc.tuple(shape, shape, shape),
      links: fc.tuple(links, links),
      domain: fc.record(
        {
          name: fc.string(),
          version: fc.string(),
          chainId: fc.integer({ min: 0 }),
          verifyingContract: bytes(20),
          salt: bytes(32),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ shapes, links: held, domain }) => {
      const wrap = (value: unknown, dimensions: string): unknown =>
        dimensions === ''
          ? value
          : dimensions === '[][1]'
            ? [[value]]
            : dimensions === '[2]'
              ? [value, value]
              : [value];
      const structs: Record<string, { name: string; type: string }[]> = {};
      let inner: Record<string, unknown> = {};
      for (const index of [2, 1, 0] as const) {
        const members: { name: string; type: string }[] = [];
        const value: Record<string, unknown> = {};
        shapes[index].forEach(([sample, dimensions], at) => {
          members.push({ name: `m${String(at)}`, type: sample.type + dimensions });
          value[`m${String(at)}`] = wrap(sample.value, dimensions);
        });
        (index === 2 ? [] : held[index]).forEach((dimensions, at) => {
          members.push({ name: `s${String(at)}`, type: `S${String(index + 1)}${dimensions}` });
          value[`s${String(at)}`] = wrap(inner, dimensions);
        });
        structs[`S${String(index)}`] = members;
        inner = value;
      }
      return { types: structs, primaryType: 'S0', domain, message: inner };
    });
}
