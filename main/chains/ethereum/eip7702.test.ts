import fc from 'fast-check';
import { hashAuthorization } from 'viem/utils';
import { expect, test } from 'vitest';
import { KeyhearthError } from '../../lib/errors.ts';
import { authorizationDigest } from './eip7702.ts';
import { toHex } from '../../crypto/encodings.ts';

const digest = (data: unknown): string => `0x${toHex(authorizationDigest('payload', JSON.stringify(data)))}`;
const address = '0x63c0c19a282a1b52b07dd5a65b58948a07dae32b';

test('agrees with viem, 2,000 times', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      fc.oneof(fc.nat(300), fc.maxSafeNat()),
      fc.oneof(fc.nat(300), fc.maxSafeNat()),
      (bytes, chainId, nonce) => {
        const authorization = { address: `0x${toHex(bytes)}` as const, chainId, nonce };
        const expected = hashAuthorization(authorization);
        expect(digest(authorization)).toBe(expected);
        expect(digest({ ...authorization, chainId: String(chainId), nonce: `0x${nonce.toString(16)}` })).toBe(
          expected,
        );
      },
    ),
    { numRuns: 2000 },
  );
}, 60_000);

test('the largest numbers make a list with a long head', () => {
  const chainId = (1n << 256n) - 1n;
  const nonce = (1n << 64n) - 1n;
  expect(digest({ address, chainId: String(chainId), nonce: String(nonce) })).toBe(
    hashAuthorization({ address, chainId: chainId as unknown as number, nonce: nonce as unknown as number }),
  );
});

test.each<[unknown, string]>([
  [1, 'invalid payload: expected an authorization as a JSON object, got a number'],
  [
    { chainId: 1, nonce: 0 },
    'invalid payload.address: expected an Ethereum address, 0x and 40 hex digits; got nothing',
  ],
  [{ address, nonce: 0 }, 'invalid payload.chainId: expected uint256'],
  [
    { address, chainId: 1, nonce: -1 },
    'invalid payload.nonce: expected uint64, got a number that is too small',
  ],
  [
    { address, chainId: 1, nonce: '0x10000000000000000' },
    'invalid payload.nonce: expected uint64, got a number that is too large',
  ],
])('%j is refused by name', (data, message) => {
  expect(() => digest(data)).toThrow(message);
});

test('all errors of 3,000 random payloads are KeyhearthErrors', () => {
  const part = fc.oneof(fc.jsonValue(), fc.constant(address), fc.nat());
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.record({ address: part, chainId: part, nonce: part }).map((data) => JSON.stringify(data)),
      ),
      (text) => {
        try {
          expect(authorizationDigest('payload', text)).toHaveLength(32);
        } catch (error) {
          expect(error).toBeInstanceOf(KeyhearthError);
        }
      },
    ),
    { numRuns: 3000 },
  );
}, 60_000);
