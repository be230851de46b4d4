import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUuid, uuidV4, uuidV5, uuidV7 } from './uuid.ts';

const dnsNamespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

describe('the examples of RFC 9562, appendix A', () => {
  test('version 4', () => {
    const random = Uint8Array.from(Buffer.from('919108f752d133205bacf847db4148a8', 'hex'));
    expect(uuidV4(random)).toBe('919108f7-52d1-4320-9bac-f847db4148a8');
  });
  test('version 5', () => {
    expect(uuidV5(dnsNamespace, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
    expect(uuidV5(dnsNamespace.toUpperCase(), Buffer.from('www.example.com'))).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    );
  });
  test('version 7', () => {
    const random = Uint8Array.from(Buffer.from('0cc318c4dc0c0c07398f', 'hex'));
    expect(uuidV7(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });
});

test('version and variant hold for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.nat(), (random, time) => {
      expect(uuidV4(random)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(uuidV5(dnsNamespace, random)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(uuidV7(time, random.subarray(0, 10))).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }),
  );
});

test('the bytes given are left as they were', () => {
  const random = new Uint8Array(16).fill(255);
  uuidV4(random);
  expect(random).toEqual(new Uint8Array(16).fill(255));
});

test('version 7 sorts by time', () => {
  const random = (): Uint8Array => crypto.getRandomValues(new Uint8Array(10));
  const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48 - 1].map((time) => uuidV7(time, random()));
  expect(ids.toSorted()).toEqual(ids);
});

test('what is a UUID', () => {
  expect(isUuid(dnsNamespace)).toBe(true);
  expect(isUuid(dnsNamespace.toUpperCase())).toBe(true);
  for (const wrong of [
    '',
    dnsNamespace.slice(1),
    `${dnsNamespace}0`,
    `{${dnsNamespace}}`,
    `${dnsNamespace}\n`,
    7,
    null,
  ]) {
    expect(isUuid(wrong)).toBe(false);
  }
});

test('arguments are checked by name', () => {
  expect(() => uuidV4(new Uint8Array(15))).toThrow('random: expected a Uint8Array of 16 bytes, got 15 bytes');
  expect(() => uuidV7(1, new Uint8Array(16))).toThrow(
    'random: expected a Uint8Array of 10 bytes, got 16 bytes',
  );
  expect(() => uuidV7(2 ** 48, new Uint8Array(10))).toThrow(
    'milliseconds: expected a whole number from 0 to 2^48-1',
  );
  expect(() => uuidV7(-1, new Uint8Array(10))).toThrow('milliseconds:');
  expect(() => uuidV5('x', 'name')).toThrow('invalid namespace: expected a UUID');
});
