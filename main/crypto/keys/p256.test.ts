import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { ecdsa } from '@noble/curves/abstract/weierstrass.js';
import { p256 } from '@noble/curves/nist.js';
import { sha224, sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { sha1 } from '@noble/hashes/legacy.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import vectors from '../../../test/vectors/rfc6979-p256.json' with { type: 'json' };
import { decodeHex, toHex } from '../encodings.ts';
import {
  addToP256PrivateKey,
  compressP256,
  generateP256,
  isP256PrivateKey,
  isP256PublicKey,
  p256PublicKey,
  signP256,
  uncompressP256,
  verifyP256,
  verifyP256Aside,
} from './p256.ts';

const hex = (text: string): Uint8Array => decodeHex('vector', text);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('RFC 6979, appendix A.2.5', () => {
  const hashes: Partial<Record<string, Parameters<typeof ecdsa>[1]>> = {
    'SHA-1': sha1,
    'SHA-224': sha224,
    'SHA-256': sha256,
    'SHA-384': sha384,
    'SHA-512': sha512,
  };
  const publicKey = p256PublicKey(hex(vectors.privateKey));

  test('all ten are there, two of SHA-256', () => {
    expect(vectors.signatures).toHaveLength(10);
    expect(vectors.signatures.filter(({ hash }) => hash === 'SHA-256')).toHaveLength(2);
    expect(new Set(vectors.signatures.map(({ hash }) => hash))).toEqual(new Set(Object.keys(hashes)));
  });

  test('the public key', () => {
    expect(toHex(uncompressP256(publicKey))).toBe(`04${vectors.publicKeyX}${vectors.publicKeyY}`);
    expect(compressP256(uncompressP256(publicKey))).toEqual(publicKey);
  });

  test.each(vectors.signatures)('$hash of $message', ({ hash, message, r, s }) => {
    const hashed = hashes[hash];
    if (!hashed) throw new Error(`no hash ${hash}`);
    // The platform's nonces are random: that signatures come out as printed is the reference's to show.
    const deterministic = ecdsa(p256.Point, hashed);
    const signature = deterministic.sign(utf8(message), hex(vectors.privateKey), { lowS: false });
    expect(toHex(signature)).toBe(`${r}${s}`);
    const der = p256.Signature.fromBytes(signature, 'compact').toBytes('der');
    expect(verifyP256(toHex(publicKey), der, utf8(message))).toBe(hash === 'SHA-256');
  });
});

test('signatures verify here, at noble and at the platform, many times', () => {
  fc.assert(
    fc.property(scalar(), fc.uint8Array({ maxLength: 300 }), (privateKey, message) => {
      const publicKey = p256PublicKey(privateKey);
      expect(toHex(publicKey)).toBe(toHex(p256.getPublicKey(privateKey, true)));
      const der = hex(signP256(privateKey, message));
      expect(verifyP256(toHex(publicKey), der, message)).toBe(true);
      expect(p256.verify(der, message, publicKey, { format: 'der', lowS: false })).toBe(true);
    }),
    { numRuns: 200 },
  );
}, 60_000);

test('noble signatures verify, with low and with high s', () => {
  fc.assert(
    fc.property(scalar(), fc.uint8Array({ maxLength: 300 }), (privateKey, message) => {
      const publicKey = toHex(p256PublicKey(privateKey));
      const compact = p256.sign(message, privateKey, { lowS: true });
      const { r, s } = p256.Signature.fromBytes(compact, 'compact');
      for (const either of [s, p256.Point.Fn.ORDER - s]) {
        expect(verifyP256(publicKey, new p256.Signature(r, either).toBytes('der'), message)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
}, 60_000);

test('a key pair of the platform', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const scalarBytes = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  const message = utf8('body');
  const verifier = createVerify('sha256').update(message);
  expect(verifier.verify(publicKey, Buffer.from(signP256(new Uint8Array(scalarBytes), message), 'hex'))).toBe(
    true,
  );
});

test('any changed bit breaks a signature', () => {
  const { privateKey, publicKey } = generateP256((length) => new Uint8Array(length).fill(9));
  const message = utf8('{"type":"ACTIVITY"}');
  const der = hex(signP256(privateKey, message));
  for (let bit = 0; bit < der.length * 8; bit++) {
    expect(verifyP256(toHex(publicKey), flip(der, bit), message)).toBe(false);
  }
  for (let bit = 0; bit < message.length * 8; bit++) {
    expect(verifyP256(toHex(publicKey), der, flip(message, bit))).toBe(false);
  }
});

test('malformed keys and signatures do not verify and do not throw, in whichever thread', async () => {
  const { privateKey, publicKey } = generateP256((length) => new Uint8Array(length).fill(9));
  const key = toHex(publicKey);
  const message = utf8('body');
  const der = hex(signP256(privateKey, message));
  expect(verifyP256(key.toUpperCase(), der, message)).toBe(true);
  const wrongKeys = [
    '',
    key.slice(2),
    `04${key.slice(2)}`,
    `${key}00`,
    `02${'ff'.repeat(32)}`,
    `02${'00'.repeat(31)}01`,
    toHex(uncompressP256(publicKey)),
    `0g${key.slice(2)}`,
  ];
  expect(await verifyP256Aside(key.toUpperCase(), der, message)).toBe(true);
  for (const wrong of wrongKeys) {
    expect(verifyP256(wrong, der, message)).toBe(false);
    expect(await verifyP256Aside(wrong, der, message)).toBe(false);
  }
  const compact = p256.Signature.fromBytes(der, 'der').toBytes('compact');
  const wrongSignatures = [
    new Uint8Array(),
    der.subarray(1),
    Uint8Array.from([...der, 0]),
    compact,
    new Uint8Array(72),
    hex('3006020100020100'),
    hex('3006020101020101'),
  ];
  for (const wrong of wrongSignatures) {
    expect(verifyP256(key, wrong, message)).toBe(false);
    expect(await verifyP256Aside(key, wrong, message)).toBe(false);
  }
});

test('another thread verifies copies of what it was given', async () => {
  const { privateKey, publicKey } = generateP256((length) => new Uint8Array(length).fill(9));
  const verify = (signature: Uint8Array, message: Uint8Array, change: () => void): Promise<boolean> => {
    const verified = verifyP256Aside(toHex(publicKey), signature, message);
    change();
    return verified;
  };
  const message = utf8('body');
  const signature = hex(signP256(privateKey, message));
  expect(
    await verify(signature, message, () => {
      signature.fill(0);
      message.fill(0);
    }),
  ).toBe(true);
  const other = utf8('other');
  const ofBody = hex(signP256(privateKey, utf8('body.')));
  expect(
    await verify(ofBody, other, () => {
      other.set(utf8('body.'));
    }),
  ).toBe(false);
});

describe('keys', () => {
  const order = p256.Point.Fn.ORDER.toString(16);

  test('the range of scalars', () => {
    expect(isP256PrivateKey(hex('00'.repeat(32)))).toBe(false);
    expect(isP256PrivateKey(hex(`${'00'.repeat(31)}01`))).toBe(true);
    expect(isP256PrivateKey(hex(order))).toBe(false);
    expect(isP256PrivateKey(new Uint8Array(31).fill(1))).toBe(false);
    expect(() => signP256(hex(order), new Uint8Array())).toThrow(
      'privateKey: expected a P-256 scalar from 1 to n-1',
    );
  });

  test('a generated scalar out of range is discarded', () => {
    const attempts = [new Uint8Array(32), new Uint8Array(32).fill(255), new Uint8Array(32).fill(7)];
    expect(generateP256(() => attempts.shift() ?? new Uint8Array(32)).privateKey).toEqual(
      new Uint8Array(32).fill(7),
    );
    expect(attempts).toHaveLength(0);
  });

  test('texts of points, in either form and case, and of none', () => {
    const compressed = p256PublicKey(hex(vectors.privateKey));
    const texts = [compressed, uncompressP256(compressed)].map(toHex);
    for (const text of texts) {
      expect(isP256PublicKey(text)).toBe(true);
      expect(isP256PublicKey(text.toUpperCase())).toBe(true);
      expect(isP256PublicKey(text.slice(2))).toBe(false);
      expect(isP256PublicKey(`0x${text}`)).toBe(false);
    }
    for (const text of ['', '00', `02${'ff'.repeat(32)}`, `04${'01'.repeat(64)}`, 'key']) {
      expect(isP256PublicKey(text)).toBe(false);
    }
  });

  test('points that are none are refused by name', () => {
    expect(() => uncompressP256(hex(`02${'00'.repeat(31)}01`))).toThrow(
      'invalid publicKey: expected a point of P-256',
    );
    expect(() => compressP256(new Uint8Array(65).fill(4))).toThrow(
      'invalid publicKey: expected a point of P-256',
    );
    expect(() => compressP256(new Uint8Array(33))).toThrow(
      'publicKey: expected a Uint8Array of 65 bytes, got 33 bytes',
    );
  });
});

test('more keys than are kept still verify', () => {
  const message = createHash('sha256').update('x').digest();
  const pairs = Array.from({ length: 20 }, (_, at) =>
    generateP256((length) => new Uint8Array(length).fill(at + 1)),
  );
  for (const { privateKey, publicKey } of [...pairs, ...pairs]) {
    expect(verifyP256(toHex(publicKey), hex(signP256(privateKey, message)), message)).toBe(true);
  }
});

test('adds tweaks modulo the order', () => {
  const order = p256.Point.Fn.ORDER;
  const bytes = (number: bigint): Uint8Array => hex(number.toString(16).padStart(64, '0'));
  expect(addToP256PrivateKey(bytes(order - 1n), bytes(3n))).toEqual(bytes(2n));
  expect(addToP256PrivateKey(bytes(5n), bytes(0n))).toEqual(bytes(5n));
  // SLIP-0010 tries again for these.
  expect(addToP256PrivateKey(bytes(order - 1n), bytes(1n))).toBeUndefined();
  expect(addToP256PrivateKey(bytes(1n), bytes(order))).toBeUndefined();
  expect(addToP256PrivateKey(bytes(1n), new Uint8Array(32).fill(255))).toBeUndefined();
});

function scalar(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 32, maxLength: 32 }).filter(isP256PrivateKey);
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}
