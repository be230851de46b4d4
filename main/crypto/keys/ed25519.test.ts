import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import vectors from '../../../test/vectors/rfc8032-ed25519.json' with { type: 'json' };
import { decodeHex, toHex } from '../encodings.ts';
import { ed25519PublicKey, signEd25519, verifyEd25519, verifyEd25519Aside } from './ed25519.ts';

const hex = (text: string): Uint8Array => decodeHex('vector', text);

describe('RFC 8032, section 7.1', () => {
  test('all five are there', () => {
    expect(vectors.vectors.map(({ name }) => name)).toEqual([
      'TEST 1',
      'TEST 2',
      'TEST 3',
      'TEST 1024',
      'TEST SHA(abc)',
    ]);
    expect(vectors.vectors.map(({ message }) => message.length / 2)).toEqual([0, 1, 2, 1023, 64]);
  });

  test.each(vectors.vectors)('$name', ({ secretKey, publicKey, message, signature }) => {
    expect(toHex(ed25519PublicKey(hex(secretKey)))).toBe(publicKey);
    expect(toHex(signEd25519(hex(secretKey), hex(message)))).toBe(signature);
    expect(verifyEd25519(publicKey, hex(signature), hex(message))).toBe(true);
    expect(verifyEd25519(publicKey.toUpperCase(), hex(signature), hex(message))).toBe(true);
  });
});

test('keys and signatures agree with noble, many times', () => {
  fc.assert(
    fc.property(key(), fc.uint8Array({ maxLength: 200 }), (privateKey, message) => {
      const publicKey = ed25519PublicKey(privateKey);
      const signature = signEd25519(privateKey, message);
      expect(toHex(publicKey)).toBe(toHex(ed25519.getPublicKey(privateKey)));
      expect(toHex(signature)).toBe(toHex(ed25519.sign(message, privateKey)));
      expect(verifyEd25519(toHex(publicKey), signature, message)).toBe(true);
    }),
    { numRuns: 1000 },
  );
}, 60_000);

test('any changed bit breaks a signature', () => {
  fc.assert(
    fc.property(
      key(),
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      fc.nat(),
      (privateKey, message, at) => {
        const publicKey = toHex(ed25519PublicKey(privateKey));
        const signature = signEd25519(privateKey, message);
        expect(verifyEd25519(publicKey, flip(signature, at), message)).toBe(false);
        expect(verifyEd25519(publicKey, signature, flip(message, at))).toBe(false);
      },
    ),
  );
});

test('malformed keys and signatures do not verify and do not throw, in whichever thread', async () => {
  const privateKey = new Uint8Array(32).fill(1);
  const publicKey = toHex(ed25519PublicKey(privateKey));
  const message = new Uint8Array(3);
  const signature = signEd25519(privateKey, message);
  expect(await verifyEd25519Aside(publicKey, signature, message)).toBe(true);
  for (const key of [
    '',
    publicKey.slice(2),
    `${publicKey}00`,
    `zz${publicKey.slice(2)}`,
    'ff'.repeat(32),
    '00'.repeat(32),
  ]) {
    expect(verifyEd25519(key, signature, message)).toBe(false);
    expect(await verifyEd25519Aside(key, signature, message)).toBe(false);
  }
  for (const wrong of [
    new Uint8Array(),
    signature.subarray(1),
    new Uint8Array(64),
    new Uint8Array(64).fill(255),
  ]) {
    expect(verifyEd25519(publicKey, wrong, message)).toBe(false);
    expect(await verifyEd25519Aside(publicKey, wrong, message)).toBe(false);
  }
});

test('arguments are checked by name', () => {
  expect(() => signEd25519(new Uint8Array(31), new Uint8Array())).toThrow(
    'privateKey: expected a Uint8Array of 32 bytes, got 31 bytes',
  );
  expect(() => signEd25519(new Uint8Array(32), 'x' as unknown as Uint8Array)).toThrow(
    'message: expected a Uint8Array, got string',
  );
});

function key(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 32, maxLength: 32 });
}

function flip(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const bit = at % (bytes.length * 8);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}
