import { describe, expect, test } from 'vitest';
import { derivationPaths } from '../../../main/lib/text/derivation-paths.ts';
import { accountAt, chains, chainsIn, describeFormat, formatsFor, pathProblem } from './chains.ts';

describe('presets', () => {
  test('three are well known: the conventional first accounts', () => {
    expect(chainsIn('common').map((chain) => accountAt(chain, 0).path)).toEqual([
      "m/44'/60'/0'/0/0",
      "m/84'/0'/0'/0/0",
      "m/44'/501'/0'/0'",
    ]);
  });

  test('every chain has a name of its own, and is in one group', () => {
    expect(new Set(chains.map(({ format }) => format))).toEqual(new Set(Object.keys(derivationPaths)));
    expect(chains).toHaveLength(Object.keys(derivationPaths).length);
    expect(new Set(chains.map(({ label }) => label)).size).toBe(chains.length);
    const groups = (['common', 'more', 'test'] as const).flatMap((group) => chainsIn(group));
    expect(groups).toHaveLength(chains.length);
    expect(chains).toEqual(groups);
  });

  test('every preset path is valid on its own curve', () => {
    for (const chain of chains) expect(pathProblem(accountAt(chain, 7).path, chain.curve)).toBeNull();
  });
});

describe('formats', () => {
  test('Ed25519 and P-256 get no format that needs secp256k1', () => {
    expect(formatsFor('CURVE_ED25519').map((row) => row.label)).toEqual([
      'Solana',
      'Public key, compressed',
      'Stellar',
      'Sui',
      'Aptos',
      'TON, wallet v5',
      'TON, wallet v4',
      'TON, wallet v3',
    ]);
    expect(formatsFor('CURVE_P256').map((row) => row.format)).toEqual([
      'ADDRESS_FORMAT_COMPRESSED',
      'ADDRESS_FORMAT_UNCOMPRESSED',
    ]);
  });

  test('an unknown format is described by its name', () => {
    expect(describeFormat('ADDRESS_FORMAT_NEW_V9')).toMatchObject({ label: 'New v9', plate: 'NEW' });
  });
});

describe('pathProblem', () => {
  test.each([
    ['m', 'CURVE_SECP256K1'],
    ["m/0'/0", 'CURVE_SECP256K1'],
    ["m/44'/501'/0'/0'", 'CURVE_ED25519'],
    ['m/2147483647', 'CURVE_SECP256K1'],
  ] as const)('accepts %s on %s', (path, curve) => {
    expect(pathProblem(path, curve)).toBeNull();
  });

  test.each([
    ['', 'Start the path with m'],
    ["44'/60'", 'Start the path with m'],
    ['m/', 'isn’t a path step'],
    ['m/44h', '44h'],
    ['m/2147483648', 'too large'],
  ])('refuses %j', (path, why) => {
    expect(pathProblem(path, 'CURVE_SECP256K1')).toContain(why);
  });

  test('names the step that Ed25519 cannot derive', () => {
    expect(pathProblem("m/44'/501'/3", 'CURVE_ED25519')).toContain("Use 3'");
  });
});
