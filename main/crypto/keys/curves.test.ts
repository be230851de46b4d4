import { p256 } from '@noble/curves/nist.js';
import { schnorr } from '@noble/curves/secp256k1.js';
import { p2tr } from '@scure/btc-signer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import rfc6979 from '../../../test/vectors/rfc6979-p256.json' with { type: 'json' };
import { curves, signSchnorr, signTaproot, type Curve } from './curves.ts';
import { decodeHex, toHex } from '../encodings.ts';
import { sha256 } from '../hashes.ts';
import { recoverPublicKey, verifySecp256k1 } from './secp256k1.ts';
import { verifyEd25519 } from './ed25519.ts';
import { verifyP256 } from './p256.ts';

const names = Object.keys(curves) as Curve[];

test('the curves', () => {
  expect(names).toEqual(['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256']);
});

describe.each(names)('%s', (name) => {
  const curve = curves[name];
  const fixed = (length: number): Uint8Array => new Uint8Array(length).fill(11);

  test('makes keys of its own lengths', () => {
    const privateKey = curve.generate(fixed);
    expect(privateKey).toEqual(fixed(curve.privateKeyLength));
    expect(curve.isPrivateKey(privateKey)).toBe(true);
    expect(curve.isPrivateKey(privateKey.subarray(1))).toBe(false);
    expect(curve.publicKey(privateKey)).toHaveLength(curve.publicKeyLength);
  });

  test('signatures are lowercase hex, padded', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => curve.isPrivateKey(bytes)),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (privateKey, bytes) => {
          const { r, s, v } = curve.sign(privateKey, bytes);
          expect(r).toMatch(/^[0-9a-f]{64}$/);
          expect(s).toMatch(/^[0-9a-f]{64}$/);
          expect(v).toMatch(/^0[01]$/);
        },
      ),
      { numRuns: 600 },
    );
  });
});

test('a leading zero byte of r or s is kept', () => {
  const privateKey = new Uint8Array(32).fill(3);
  for (let at = 0, seenZero = 0; seenZero < 2; at++) {
    const digest = sha256(Uint8Array.of(at & 255, at >> 8));
    const { r, s, v } = curves.CURVE_SECP256K1.sign(privateKey, digest);
    if (!r.startsWith('00') && !s.startsWith('00')) continue;
    seenZero++;
    const signature = decodeHex('signature', r + s, 64);
    expect(recoverPublicKey(signature, v === '00' ? 0 : 1, digest)).toEqual(
      curves.CURVE_SECP256K1.publicKey(privateKey),
    );
  }
});

test('secp256k1 signs digests: v recovers the key', () => {
  const privateKey = new Uint8Array(32).fill(3);
  const publicKey = curves.CURVE_SECP256K1.publicKey(privateKey);
  const seen = new Set<string>();
  for (let at = 0; at < 40; at++) {
    const digest = sha256(Uint8Array.of(at));
    const { r, s, v } = curves.CURVE_SECP256K1.sign(privateKey, digest);
    seen.add(v);
    const signature = decodeHex('signature', r + s, 64);
    expect(recoverPublicKey(signature, v === '00' ? 0 : 1, digest)).toEqual(publicKey);
    expect(verifySecp256k1(toHex(publicKey), signature, digest)).toBe(true);
  }
  expect(seen).toEqual(new Set(['00', '01']));
  expect(curves.CURVE_SECP256K1.requiresDigest).toBe(true);
});

test('secp256k1 refuses bytes that are not a digest', () => {
  expect(() => curves.CURVE_SECP256K1.sign(new Uint8Array(32).fill(3), new Uint8Array(31))).toThrow(
    'invalid payload: expected a 32-bytes-long digest, got 31 bytes',
  );
});

test('Ed25519 signs messages of any length: r and s are the halves, v is 00', () => {
  const privateKey = new Uint8Array(32).fill(3);
  const message = new Uint8Array(1000).fill(8);
  const { r, s, v } = curves.CURVE_ED25519.sign(privateKey, message);
  expect(v).toBe('00');
  const publicKey = toHex(curves.CURVE_ED25519.publicKey(privateKey));
  expect(verifyEd25519(publicKey, decodeHex('signature', r + s, 64), message)).toBe(true);
  expect(curves.CURVE_ED25519.requiresDigest).toBe(false);
});

describe('P-256', () => {
  const privateKey = decodeHex('vector', rfc6979.privateKey);
  const sha2 = rfc6979.signatures.filter(({ hash }) => hash === 'SHA-256');

  test('both signatures of RFC 6979 with SHA-256 are there', () => {
    expect(sha2).toHaveLength(2);
  });

  test.each(sha2)('$message', ({ message, r, s }) => {
    expect(curves.CURVE_P256.sign(privateKey, sha256(Buffer.from(message)))).toMatchObject({ r, s });
  });

  test('v recovers the key; the platform verifies', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (message) => {
        const { r, s, v } = curves.CURVE_P256.sign(privateKey, sha256(message));
        seen.add(v);
        const recovered = Uint8Array.of(Number(v), ...decodeHex('signature', r + s, 64));
        const publicKey = curves.CURVE_P256.publicKey(privateKey);
        expect(p256.recoverPublicKey(recovered, sha256(message), { prehash: false })).toEqual(publicKey);
        const der = new p256.Signature(BigInt(`0x${r}`), BigInt(`0x${s}`)).toBytes('der');
        expect(verifyP256(toHex(publicKey), der, message)).toBe(true);
      }),
      { numRuns: 200 },
    );
    expect(seen).toEqual(new Set(['00', '01']));
    expect(curves.CURVE_P256.requiresDigest).toBe(true);
  });
});

describe('Schnorr', () => {
  test('verifies under the key itself, and with the tweak under that of its Taproot output; v is 00', () => {
    const digest32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(digest32.filter(curves.CURVE_SECP256K1.isPrivateKey), digest32, (privateKey, digest) => {
        const xOnly = curves.CURVE_SECP256K1.publicKey(privateKey).subarray(1);
        for (const [sign, key] of [
          [signSchnorr, xOnly],
          [signTaproot, p2tr(xOnly).tweakedPubkey],
        ] as const) {
          const { r, s, v } = sign(privateKey, digest);
          expect(v).toBe('00');
          expect(schnorr.verify(decodeHex('signature', r + s, 64), digest, key)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  test.each([signSchnorr, signTaproot])('%o refuses bytes that are not a digest', (sign) => {
    expect(() => sign(new Uint8Array(32).fill(3), new Uint8Array(33))).toThrow(
      'invalid payload: expected a 32-bytes-long digest, got 33 bytes',
    );
  });
});

test('scalars out of range are generated again', () => {
  const attempts = [new Uint8Array(32), new Uint8Array(32).fill(255), new Uint8Array(32).fill(7)];
  expect(curves.CURVE_SECP256K1.generate(() => attempts.shift() ?? new Uint8Array(32))).toEqual(
    new Uint8Array(32).fill(7),
  );
});

test('a source that never answers a key is given up', () => {
  expect(() => curves.CURVE_SECP256K1.generate((length) => new Uint8Array(length))).toThrow(
    'random: expected bytes that are a private key',
  );
});
