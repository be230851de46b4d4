import { hmac } from '@noble/hashes/hmac.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import bip32 from '../../../test/vectors/bip32.json' with { type: 'json' };
import slip10 from '../../../test/vectors/slip10.json' with { type: 'json' };
import { KeyhearthError } from '../../lib/errors.ts';
import { curves, type Curve } from './curves.ts';
import { derivePrivateKey, formatPath, masterPublicKey, parsePath, SeedDerivation } from './derivation.ts';
import { decodeHex, toHex } from '../encodings.ts';

const hex = (text: string): Uint8Array => decodeHex('vector', text);
const hardened = 0x80000000;

describe('BIP-32', () => {
  const chains = bip32.valid.flatMap(({ name, seed, chains }) =>
    chains.map((chain) => ({ name, seed, ...chain })),
  );

  test('vectors 1 to 4 with 17 chains and 16 invalid keys of vector 5 are there', () => {
    expect(bip32.valid.map(({ chains }) => chains.length)).toEqual([6, 6, 2, 3]);
    expect(chains).toHaveLength(17);
    expect(bip32.invalid).toHaveLength(16);
  });

  test.each(chains)('$name, $path', ({ seed, path, privateKey, publicKey }) => {
    const key = derivePrivateKey('CURVE_SECP256K1', hex(seed), path);
    // An extended key is 78 bytes, the key the last 33 of them, and a checksum of 4.
    expect(toHex(base58.decode(privateKey).subarray(45, 78))).toBe(`00${toHex(key)}`);
    expect(toHex(base58.decode(publicKey).subarray(45, 78))).toBe(
      toHex(curves.CURVE_SECP256K1.publicKey(key)),
    );
    if (path === 'm')
      expect(toHex(masterPublicKey(hex(seed)))).toBe(toHex(base58.decode(publicKey).subarray(45, 78)));
    // The oracle of the cross-check below passes them as well, chain codes and fingerprints included.
    const oracle = HDKey.fromMasterSeed(hex(seed)).derive(path.replaceAll('H', "'"));
    expect([oracle.privateExtendedKey, oracle.publicExtendedKey]).toEqual([privateKey, publicKey]);
  });

  test.each(bip32.invalid)('vector 5: $reason', ({ key }) => {
    expect(() => HDKey.fromExtendedKey(key)).toThrow();
  });

  test('agrees with @scure/bip32 on seeds and paths, many times', () => {
    fc.assert(
      fc.property(seedBytes(), fc.array(index(), { maxLength: 6 }), (seed, path) => {
        const oracle = HDKey.fromMasterSeed(seed).derive(formatPath(path));
        expect(toHex(derivePrivateKey('CURVE_SECP256K1', seed, path))).toBe(
          toHex(oracle.privateKey ?? new Uint8Array()),
        );
      }),
      { numRuns: 300 },
    );
  }, 120_000);
});

describe('SeedDerivation', () => {
  test('gives the keys of derivePrivateKey, whatever came before, many times', () => {
    // Few numbers, so that parents are met again.
    const number = fc.constantFrom(0, 1, 2, hardened, hardened + 1);
    const wish = fc.record({
      curve: fc.constantFrom<Curve>('CURVE_SECP256K1', 'CURVE_ED25519'),
      path: fc.array(number, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(seedBytes(), fc.array(wish, { maxLength: 12 }), (seed, wishes) => {
        using derivation = new SeedDerivation(seed);
        for (const { curve, path } of wishes) {
          const hard = path.map((index) => (index < hardened ? index + hardened : index));
          const text = formatPath(curve === 'CURVE_ED25519' ? hard : path);
          expect(toHex(derivation.privateKey(curve, text))).toBe(toHex(derivePrivateKey(curve, seed, text)));
        }
      }),
      { numRuns: 100 },
    );
  }, 120_000);

  test('refuses what derivePrivateKey refuses', () => {
    using derivation = new SeedDerivation(new Uint8Array(64));
    expect(() => derivation.privateKey('CURVE_ED25519', "m/44'/501")).toThrow(/not hardened/);
    expect(() => derivation.privateKey('CURVE_SECP256K1', 'm/x')).toThrow(/component 1 is "x"/);
    expect(() => new SeedDerivation(new Uint8Array(15))).toThrow(/expected 16 to 64 bytes, got 15/);
  });
});

describe('SLIP-0010', () => {
  const curveOf: Record<string, Curve> = {
    secp256k1: 'CURVE_SECP256K1',
    ed25519: 'CURVE_ED25519',
    nist256p1: 'CURVE_P256',
  };
  const chains = slip10.vectors.flatMap(({ name, curve, seed, chains }) =>
    chains.map((chain) => ({ name, curve, seed, ...chain })),
  );

  test('all 40 chains are there, 16 of them of nist256p1', () => {
    expect(chains).toHaveLength(40);
    expect(chains.filter(({ curve }) => curve === 'nist256p1')).toHaveLength(16);
    expect(chains.filter(({ curve }) => !(curve in curveOf))).toEqual([]);
  });

  test.each(chains)('$name, $curve, $path', ({ curve, seed, path, privateKey, publicKey }) => {
    const ourCurve = curveOf[curve] ?? 'CURVE_SECP256K1';
    const key = derivePrivateKey(ourCurve, hex(seed), path);
    expect(toHex(key)).toBe(privateKey);
    const prefix = curve === 'ed25519' ? '00' : '';
    expect(`${prefix}${toHex(curves[ourCurve].publicKey(key))}`).toBe(publicKey);
  });

  test('agrees with the standard written over noble, many times', () => {
    fc.assert(
      fc.property(
        seedBytes(),
        fc.array(
          index().map((any) => (any % hardened) + hardened),
          { maxLength: 6 },
        ),
        (seed, path) => {
          expect(toHex(derivePrivateKey('CURVE_ED25519', seed, path))).toBe(toHex(slip10Ed25519(seed, path)));
        },
      ),
      { numRuns: 1000 },
    );
  }, 60_000);

  test('a component that is not hardened is refused', () => {
    expect(() => derivePrivateKey('CURVE_ED25519', new Uint8Array(64), "m/44'/501'/0")).toThrow(
      new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid path: component 3 is "0", which is not hardened; CURVE_ED25519 (SLIP-0010) has hardened components only, expected "0'"`,
      ),
    );
  });
});

describe('paths', () => {
  test.each<[string, number[]]>([
    ['m', []],
    ['m/0', [0]],
    ["m/44'/60'/0'/0/0", [hardened + 44, hardened + 60, hardened, 0, 0]],
    ['m/44h/60H/0', [hardened + 44, hardened + 60, 0]],
    ["m/2147483647'/2147483647", [0xffffffff, 0x7fffffff]],
    [`m${'/1'.repeat(255)}`, new Array<number>(255).fill(1)],
  ])('%s', (path, expected) => {
    expect(parsePath(path)).toEqual(expected);
  });

  test.each([
    ['', `expected a path that starts with "m", such as "m/44'/60'/0'/0/0", got ""`],
    ["44'/60'", 'expected a path that starts with "m"'],
    ['M/0', 'expected a path that starts with "m"'],
    ['m/', 'component 1 is ""'],
    ['m/0//1', 'component 2 is ""'],
    ['m/0/1/', 'component 3 is ""'],
    ['m/0/-1', 'component 2 is "-1"'],
    ['m/0x1', 'component 1 is "0x1"'],
    ['m/01', 'component 1 is "01"'],
    ["m/1''", `component 1 is "1''"`],
    ['m/ 1', 'component 1 is " 1"'],
    ['m/1e3', 'component 1 is "1e3"'],
    [
      'm/2147483648',
      'component 1 is "2147483648"; expected a number from 0 to 2147483647, followed by \' where it is hardened',
    ],
    ["m/0/2147483648'", `component 2 is "2147483648'"`],
    ['m/99999999999', 'component 1 is "99999999999"'],
    [`m${'/1'.repeat(256)}`, 'expected at most 255 components, got 256'],
  ])('%j is refused', (path, message) => {
    expect(() => parsePath(path, 'accounts[0].path')).toThrow(KeyhearthError);
    expect(() => parsePath(path, 'accounts[0].path')).toThrow(`invalid accounts[0].path: ${message}`);
  });

  test('equal paths have one form', () => {
    expect(formatPath(parsePath("m/44h/60H/0'/0"))).toBe("m/44'/60'/0'/0");
    expect(formatPath([])).toBe('m');
    fc.assert(
      fc.property(fc.array(index(), { maxLength: 10 }), (path) => {
        expect(parsePath(formatPath(path))).toEqual(path);
      }),
    );
  });
});

test('seeds and numbers out of range are refused by name', () => {
  expect(() => derivePrivateKey('CURVE_SECP256K1', new Uint8Array(15), 'm')).toThrow(
    'seed: expected 16 to 64 bytes, got 15',
  );
  expect(() => derivePrivateKey('CURVE_SECP256K1', new Uint8Array(65), 'm')).toThrow(
    'seed: expected 16 to 64 bytes, got 65',
  );
  for (const number of [-1, 0.5, 2 ** 32, NaN]) {
    expect(() => derivePrivateKey('CURVE_SECP256K1', new Uint8Array(64), [0, number])).toThrow(
      'invalid path: component 2 is',
    );
  }
});

test('the seed is left as it was', () => {
  const seed = new Uint8Array(64).fill(5);
  derivePrivateKey('CURVE_SECP256K1', seed, 'm/0');
  derivePrivateKey('CURVE_ED25519', seed, "m/0'");
  expect(seed).toEqual(new Uint8Array(64).fill(5));
});

/** SLIP-0010 for Ed25519 in its shortest form, over another HMAC. */
function slip10Ed25519(seed: Uint8Array, path: readonly number[]): Uint8Array {
  let hash = hmac(sha512, new TextEncoder().encode('ed25519 seed'), seed);
  for (const number of path) {
    const data = new Uint8Array(37);
    data.set(hash.subarray(0, 32), 1);
    new DataView(data.buffer).setUint32(33, number);
    hash = hmac(sha512, hash.subarray(32), data);
  }
  return hash.subarray(0, 32);
}

function seedBytes(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 16, maxLength: 64 });
}

function index(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.nat(20),
    fc.nat(20).map((number) => number + hardened),
    fc.integer({ min: 0, max: 0xffffffff }),
  );
}
