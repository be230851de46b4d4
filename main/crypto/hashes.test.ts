import { createHash, getHashes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toHex } from './encodings.ts';
import { hash160, hashFunctions, keccak256, ripemd160, sha256 } from './hashes.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('known digests', () => {
  test('SHA-256 (FIPS 180-4, example "abc")', () => {
    expect(toHex(sha256(utf8('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
  test('Keccak-256 is not SHA3-256 (the empty text, as Ethereum prints it)', () => {
    expect(toHex(keccak256(utf8('')))).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    );
  });
  test('RIPEMD-160 (its authors, "abc")', () => {
    expect(toHex(ripemd160(utf8('abc')))).toBe('8eb208f7e05d987a9b044a8e98c6b087f15a0bfc');
  });
});

test('RIPEMD-160 of SHA-256 agrees with the platform, where it has both', () => {
  expect(getHashes()).toContain('ripemd160');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const inner = createHash('sha256').update(bytes).digest();
      expect(toHex(sha256(bytes))).toBe(inner.toString('hex'));
      expect(toHex(hash160(bytes))).toBe(createHash('ripemd160').update(inner).digest('hex'));
    }),
  );
});

test('the table', () => {
  const bytes = utf8('payload');
  expect(Object.keys(hashFunctions)).toEqual([
    'HASH_FUNCTION_NO_OP',
    'HASH_FUNCTION_NOT_APPLICABLE',
    'HASH_FUNCTION_SHA256',
    'HASH_FUNCTION_KECCAK256',
  ]);
  expect(hashFunctions.HASH_FUNCTION_NO_OP(bytes)).toEqual(bytes);
  expect(hashFunctions.HASH_FUNCTION_NOT_APPLICABLE(bytes)).toEqual(bytes);
  expect(hashFunctions.HASH_FUNCTION_SHA256(bytes)).toEqual(sha256(bytes));
  expect(hashFunctions.HASH_FUNCTION_KECCAK256(bytes)).toEqual(keccak256(bytes));
});

test('values that are not bytes are refused by name', () => {
  expect(() => sha256('abc' as unknown as Uint8Array)).toThrow('bytes: expected a Uint8Array, got string');
  expect(() => keccak256([1] as unknown as Uint8Array)).toThrow('bytes: expected a Uint8Array, got object');
});
