import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyhearthError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { open, rewrap, seal, unwrapKey, wrapKey, type SealContext } from './sealing.ts';

const random: Random = (_purpose, length) => Uint8Array.from(randomBytes(length));
const masterKey = random('test', 32);
const context: SealContext = { table: 'wallets', rowId: 'row-1', organizationId: 'org-1' };
const secret = new TextEncoder().encode('a seed of 32 bytes, more or less');
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Asserts a refusal that names the record and carries nothing of the secret. */
function expectRefused(run: () => unknown, at: SealContext = context): void {
  let error: unknown;
  try {
    run();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(KeyhearthError);
  if (!(error instanceof KeyhearthError)) return;
  expect(error.code).toBe('INTERNAL');
  expect(error.message).toContain('does not open');
  expect(error.message).toContain(JSON.stringify(at.table));
  expect(error.message).toContain(JSON.stringify(at.rowId));
  expect(error.message).not.toContain('a seed');
}

const contextArbitrary = fc.record({
  table: fc.string({ minLength: 1, unit: 'binary' }),
  rowId: fc.string({ minLength: 1, unit: 'binary' }),
  organizationId: fc.string({ unit: 'binary' }),
});

describe('seal and open', () => {
  test('any secret in any context comes back, 89 bytes longer while sealed', () => {
    fc.assert(
      fc.property(contextArbitrary, fc.uint8Array({ minLength: 1, maxLength: 300 }), (at, bytes) => {
        const sealed = seal(masterKey, at, bytes, random);
        expect(sealed.length).toBe(bytes.length + 89);
        expect(hex(open(masterKey, at, sealed))).toBe(hex(bytes));
      }),
    );
  });

  test('the input is left as it was, and the output is a copy', () => {
    const input = Uint8Array.from(secret);
    const sealed = seal(masterKey, context, input, random);
    expect(input).toEqual(secret);
    open(masterKey, context, sealed).fill(0);
    expect(open(masterKey, context, sealed)).toEqual(secret);
  });

  test('the same secret sealed twice shares nothing but the version', () => {
    const first = seal(masterKey, context, secret, random);
    const second = seal(masterKey, context, secret, random);
    const shared = first.filter((byte, index) => byte === second[index]);
    expect(shared.length).toBeLessThan(12);
    expect(hex(first)).not.toContain(hex(secret));
  });

  test('the data key is generated apart from the nonces, and erased', () => {
    const drawn: { purpose: string; bytes: Uint8Array }[] = [];
    const recording: Random = (purpose, length) => {
      const bytes = random(purpose, length);
      drawn.push({ purpose, bytes });
      return bytes;
    };
    seal(masterKey, context, secret, recording);
    expect(drawn.map(({ purpose, bytes }) => [purpose, bytes.length])).toEqual([
      ['sealing.data-key', 32],
      ['sealing.nonce', 12],
      ['sealing.nonce', 12],
    ]);
    expect(drawn[0]?.bytes).toEqual(new Uint8Array(32));
  });

  test('a record sealed by the first release opens', () => {
    // Fixes the format. The ciphertexts and tags below were also computed with WebCrypto.
    const counter: Random = (_purpose, length) => Uint8Array.from({ length }, (_, index) => index);
    const key = new Uint8Array(32).fill(7);
    const sealed = [
      '01',
      '000102030405060708090a0b',
      '1880eb73190cdf4e7fbbef97ee5562f5f12da49d0c7761260ed779a192ca731a',
      '284cd69db053c289c4925c33a2a1fea8',
      '000102030405060708090a0b',
      '4600d5',
      '1d769b7145bea89cabb99586832a0385',
    ].join('');
    expect(hex(seal(key, context, Uint8Array.of(1, 2, 3), counter))).toBe(sealed);
    expect(open(key, context, Uint8Array.from(Buffer.from(sealed, 'hex')))).toEqual(Uint8Array.of(1, 2, 3));
  });
});

describe('a sealed record that was touched is refused', () => {
  const sealed = seal(masterKey, context, secret, random);

  test('every flip of one bit', () => {
    for (let index = 0; index < sealed.length; index++) {
      for (let bit = 0; bit < 8; bit++) {
        const touched = Uint8Array.from(sealed);
        touched[index] = (touched[index] ?? 0) ^ (1 << bit);
        expectRefused(() => open(masterKey, context, touched));
      }
    }
  });

  test('every truncation, at either end', () => {
    for (let length = 0; length < sealed.length; length++) {
      expectRefused(() => open(masterKey, context, sealed.subarray(0, length)));
      expectRefused(() => open(masterKey, context, sealed.subarray(sealed.length - length)));
    }
  });

  test('any bytes added', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (more) => {
        expectRefused(() => open(masterKey, context, Uint8Array.from([...sealed, ...more])));
        expectRefused(() => open(masterKey, context, Uint8Array.from([...more, ...sealed])));
      }),
    );
  });

  test('another context', () => {
    fc.assert(
      fc.property(contextArbitrary, contextArbitrary, (from, to) => {
        fc.pre(JSON.stringify(from) !== JSON.stringify(to));
        const moved = seal(masterKey, from, secret, random);
        expectRefused(() => open(masterKey, to, moved), to);
      }),
    );
    for (const changed of [{ table: 'private_keys' }, { rowId: 'row-2' }, { organizationId: 'org-2' }]) {
      const to = { ...context, ...changed };
      expectRefused(() => open(masterKey, to, sealed), to);
    }
  });

  test('a boundary between the fields of the context that was shifted', () => {
    const shifted = seal(masterKey, { table: 'a","b', rowId: 'c', organizationId: '' }, secret, random);
    const to = { table: 'a', rowId: 'b","c', organizationId: '' };
    expectRefused(() => open(masterKey, to, shifted), to);
  });

  test('another master key', () => {
    expectRefused(() => open(random('test', 32), context, sealed));
  });

  test('the data key of one record with the secret of another, in the same context', () => {
    const other = seal(masterKey, context, secret, random);
    expectRefused(() =>
      open(masterKey, context, Uint8Array.from([...sealed.subarray(0, 61), ...other.subarray(61)])),
    );
  });

  test('the message says which version was seen', () => {
    const touched = Uint8Array.from(sealed);
    touched[0] = 2;
    expect(() => open(masterKey, context, touched)).toThrow(
      'its format version is 2, and this program reads 1',
    );
    expect(() => open(masterKey, context, new Uint8Array(0))).toThrow('its format version is missing');
  });
});

describe('rewrap', () => {
  test('the record opens under the new master key only, and its secret part is untouched', () => {
    const newMasterKey = random('test', 32);
    const sealed = seal(masterKey, context, secret, random);
    const moved = rewrap(masterKey, newMasterKey, context, sealed, random);
    expect(open(newMasterKey, context, moved)).toEqual(secret);
    expectRefused(() => open(masterKey, context, moved));
    expect(hex(moved.subarray(61))).toBe(hex(sealed.subarray(61)));
    expect(hex(moved.subarray(1, 61))).not.toBe(hex(sealed.subarray(1, 61)));
  });

  test('a wrong old master key or another context is refused', () => {
    const sealed = seal(masterKey, context, secret, random);
    expectRefused(() => rewrap(random('test', 32), masterKey, context, sealed, random));
    const to = { ...context, rowId: 'row-2' };
    expectRefused(() => rewrap(masterKey, masterKey, to, sealed, random), to);
    expectRefused(() => rewrap(masterKey, masterKey, context, sealed.subarray(0, 60), random));
  });
});

describe('wrapKey and unwrapKey', () => {
  const wrappingKey = random('test', 32);
  const bound = new TextEncoder().encode('a slot');
  const wrapped = wrapKey(wrappingKey, masterKey, bound, random);

  test('the master key comes back', () => {
    expect(wrapped.length).toBe(60);
    expect(unwrapKey(wrappingKey, wrapped, bound)).toEqual(masterKey);
  });

  test('another key, other associated data, a flipped bit or a cut answer undefined', () => {
    expect(unwrapKey(masterKey, wrapped, bound)).toBeUndefined();
    expect(unwrapKey(wrappingKey, wrapped, new TextEncoder().encode('b slot'))).toBeUndefined();
    for (let index = 0; index < wrapped.length; index++) {
      const touched = Uint8Array.from(wrapped);
      touched[index] = (touched[index] ?? 0) ^ 1;
      expect(unwrapKey(wrappingKey, touched, bound)).toBeUndefined();
      expect(unwrapKey(wrappingKey, wrapped.subarray(0, index), bound)).toBeUndefined();
    }
  });
});

describe('arguments', () => {
  test.each([0, 16, 31, 33, 64])('a master key of %i bytes is refused by name', (length) => {
    const key = new Uint8Array(length);
    expect(() => seal(key, context, secret, random)).toThrow('masterKey: expected a Uint8Array of 32 bytes');
    expect(() => open(key, context, new Uint8Array(100))).toThrow('masterKey: expected');
    expect(() => rewrap(key, masterKey, context, new Uint8Array(100), random)).toThrow(
      'oldMasterKey: expected',
    );
    expect(() => rewrap(masterKey, key, context, new Uint8Array(100), random)).toThrow(
      'newMasterKey: expected',
    );
    expect(() => wrapKey(key, masterKey, secret, random)).toThrow('wrappingKey: expected');
    expect(() => wrapKey(masterKey, key, secret, random)).toThrow('masterKey: expected');
    expect(() => unwrapKey(key, secret, secret)).toThrow('wrappingKey: expected');
  });

  test('an empty secret and an empty context are refused by name', () => {
    expect(() => seal(masterKey, context, new Uint8Array(0), random)).toThrow('secret: expected');
    expect(() => seal(masterKey, { ...context, table: '' }, secret, random)).toThrow(
      'context.table: expected',
    );
    expect(() => seal(masterKey, { ...context, rowId: '' }, secret, random)).toThrow(
      'context.rowId: expected',
    );
  });
});
