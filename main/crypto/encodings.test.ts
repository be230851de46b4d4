import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyhearthError } from '../lib/errors.ts';
import { decodeBase58, decodeHex, encodeBase58, encodeBase58Check, encodeUtf8, toHex } from './encodings.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('hex', () => {
  test.each([
    ['', bytes()],
    ['0x', bytes()],
    ['00ff', bytes(0, 255)],
    ['0x00fF', bytes(0, 255)],
    ['0X00ff', bytes(0, 255)],
  ])('%j', (text, expected) => {
    expect(decodeHex('payload', text)).toEqual(expected);
  });

  test.each([
    ['0g', 'invalid payload: expected hex, got "g" at character 2'],
    ['0x0 ', 'invalid payload: expected hex, got " " at character 4'],
    ['0x0x00', 'invalid payload: expected hex, got "x" at character 4'],
    ['abc', 'invalid payload: expected hex of whole bytes, got an odd number of digits (3)'],
  ])('%j is refused', (text, message) => {
    expect(() => decodeHex('payload', text)).toThrow(new KeyhearthError('INVALID_ARGUMENT', message));
  });

  test('a length that does not fit is refused', () => {
    expect(() => decodeHex('key', '00', 32)).toThrow('invalid key: expected 32 bytes in hex, got 1');
  });

  test('round trip', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (any) => {
        expect(decodeHex('x', toHex(any))).toEqual(any);
      }),
    );
  });

  test('a part of a larger buffer is encoded alone', () => {
    expect(toHex(bytes(1, 2, 3, 4).subarray(1, 3))).toBe('0203');
  });
});

describe('Base58', () => {
  test('round trip, leading zeros kept', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (any) => {
        expect(decodeBase58('x', encodeBase58(any))).toEqual(any);
      }),
    );
    expect(encodeBase58(bytes(0, 0, 1))).toBe('112');
  });

  test('with a checksum it is how Bitcoin writes the address of the key 1', () => {
    const versioned = decodeHex('hash', '00751e76e8199196d454941c45d1b3a323f1433bd6');
    expect(encodeBase58Check(versioned)).toBe('1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH');
  });

  test('what is none is refused', () => {
    expect(() => decodeBase58('address', '1O')).toThrow(
      'invalid address: expected Base58, got "O" at character 2',
    );
    expect(() => decodeBase58('address', '112', 32)).toThrow(
      'invalid address: expected 32 bytes in Base58, got 3',
    );
  });
});

test('UTF-8: a lone surrogate is refused and not replaced', () => {
  expect(encodeUtf8('payload', 'é€𝄞')).toEqual(bytes(0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9d, 0x84, 0x9e));
  expect(() => encodeUtf8('payload', 'a\ud800')).toThrow(
    'invalid payload: expected Unicode text, got a lone surrogate',
  );
});

test('values that are not text are refused', () => {
  expect(() => decodeHex('payload', 7 as unknown as string)).toThrow(
    'invalid payload: expected text, got number',
  );
});
