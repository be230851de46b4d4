import { schnorr, secp256k1 as noble } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import bip340 from '../../../test/vectors/bip340.json' with { type: 'json' };
import bip341 from '../../../test/vectors/bip341.json' with { type: 'json' };
import vectors from '../../../test/vectors/rfc6979-secp256k1.json' with { type: 'json' };
import { decodeHex, toHex } from '../encodings.ts';
import { sha256 } from '../hashes.ts';
import {
  addToPrivateKey,
  checkSecp256k1Accelerator,
  isSecp256k1PrivateKey,
  knownEcdsa,
  knownSchnorr,
  publicKeyFromPrivate,
  recoverPublicKey,
  signBip340,
  signRecoverable,
  taprootOutputKey,
  taprootPrivateKey,
  uncompressed,
  verifySecp256k1,
} from './secp256k1.ts';

const hex = (text: string): Uint8Array => decodeHex('vector', text);
const number = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`);
const order = noble.Point.Fn.ORDER;

describe('the published RFC 6979 signatures', () => {
  test('all six are there', () => {
    expect(vectors.signatures).toHaveLength(6);
  });

  test.each(vectors.signatures)('key $privateKey, $message', ({ privateKey, message, k, r, s }) => {
    const digest = sha256(new TextEncoder().encode(message));
    const { signature, recoveryId } = signRecoverable(hex(privateKey), digest);
    expect(toHex(signature)).toBe(`${r}${s}`);
    // The nonce that is printed with the signature gives the same r.
    expect(noble.Point.BASE.multiply(BigInt(`0x${k}`)).x % order).toBe(number(hex(r)));
    expect(recoverPublicKey(signature, recoveryId, digest)).toEqual(publicKeyFromPrivate(hex(privateKey)));
  });
});

test('signatures, recovery ids and keys agree with noble, many times', () => {
  const recoveryIds = new Set<number>();
  fc.assert(
    fc.property(scalar(), digest(), (privateKey, hash) => {
      const { signature, recoveryId } = signRecoverable(privateKey, hash);
      recoveryIds.add(recoveryId);
      const expected = noble.sign(hash, privateKey, { prehash: false, format: 'recovered' });
      expect(toHex(Uint8Array.of(recoveryId, ...signature))).toBe(toHex(expected));
      expect(number(signature.subarray(32)) <= order / 2n).toBe(true);
    }),
    { numRuns: 2000 },
  );
  expect(recoveryIds).toEqual(new Set([0, 1]));
}, 120_000);

test('keys, verification and recovery agree with noble, many times', () => {
  fc.assert(
    fc.property(scalar(), digest(), (privateKey, hash) => {
      const publicKey = publicKeyFromPrivate(privateKey);
      expect(toHex(publicKey)).toBe(toHex(noble.getPublicKey(privateKey, true)));
      expect(toHex(uncompressed(publicKey))).toBe(toHex(noble.getPublicKey(privateKey, false)));
      const { signature, recoveryId } = signRecoverable(privateKey, hash);
      expect(recoverPublicKey(signature, recoveryId, hash)).toEqual(publicKey);
      const { r, s } = noble.Signature.fromBytes(signature, 'compact');
      for (const either of [s, order - s]) {
        const same = new noble.Signature(r, either);
        expect(verifySecp256k1(toHex(publicKey), same.toBytes('compact'), hash)).toBe(true);
        expect(verifySecp256k1(toHex(publicKey), same.toBytes('der'), hash)).toBe(true);
      }
      expect(verifySecp256k1(toHex(publicKey), signature, flip(hash, 3))).toBe(false);
    }),
    { numRuns: 300 },
  );
}, 120_000);

test('adding to a private key agrees with the arithmetic, many times', () => {
  fc.assert(
    fc.property(scalar(), scalar(), (privateKey, tweak) => {
      const sum = (number(privateKey) + number(tweak)) % order;
      expect(addToPrivateKey(privateKey, tweak)).toEqual(hex(sum.toString(16).padStart(64, '0')));
    }),
    { numRuns: 1000 },
  );
});

test('the sums that BIP-32 refuses', () => {
  const one = hex(`${'00'.repeat(31)}01`);
  expect(addToPrivateKey(one, hex((order - 1n).toString(16)))).toBeUndefined();
  expect(addToPrivateKey(one, hex(order.toString(16)))).toBeUndefined();
  expect(addToPrivateKey(one, new Uint8Array(32))).toEqual(one);
});

describe('the self-test', () => {
  test('knows what noble answers', () => {
    for (const { privateKey, publicKey, signatures } of knownEcdsa) {
      expect(toHex(noble.getPublicKey(hex(privateKey), true))).toBe(publicKey);
      for (const [digest, signature] of Object.entries(signatures)) {
        const options = { prehash: false, format: 'recovered' } as const;
        expect(toHex(noble.sign(hex(digest), hex(privateKey), options))).toBe(signature);
      }
    }
    const { privateKey, digest, signature } = knownSchnorr;
    expect(toHex(schnorr.sign(hex(digest), hex(privateKey), new Uint8Array(32)))).toBe(signature);
  });

  test('passes', () => {
    expect(() => {
      checkSecp256k1Accelerator();
    }).not.toThrow();
  });

  test.each([
    ['a wrong recovery id', 64],
    ['a wrong byte of s', 63],
    ['a wrong byte of r', 0],
  ])('sees %s', (_, at) => {
    const wrong: typeof signRecoverable = (privateKey, hash) => {
      const { signature, recoveryId } = signRecoverable(privateKey, hash);
      const bytes = Uint8Array.of(...signature, recoveryId);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return { signature: bytes.subarray(0, 64), recoveryId: bytes[64] === 0 ? 0 : 1 };
    };
    expect(() => {
      checkSecp256k1Accelerator(wrong);
    }).toThrow('secp256k1 self-test');
  });

  test('sees a wrong Schnorr signature', () => {
    expect(() => {
      checkSecp256k1Accelerator(signRecoverable, (privateKey, digest) =>
        signBip340(privateKey, digest).fill(0, 63),
      );
    }).toThrow("secp256k1 self-test: the accelerator's Schnorr signature differs from the reference");
  });
});

describe('malformed input', () => {
  const privateKey = new Uint8Array(32).fill(5);
  const publicKey = publicKeyFromPrivate(privateKey);
  const hash = sha256(new Uint8Array());
  const { signature } = signRecoverable(privateKey, hash);
  const der = noble.Signature.fromBytes(signature, 'compact').toBytes('der');

  test('does not verify and does not throw', () => {
    const key = toHex(publicKey);
    expect(verifySecp256k1(key.toUpperCase(), der, hash)).toBe(true);
    for (const wrong of [
      '',
      key.slice(2),
      `04${key.slice(2)}`,
      `${key}00`,
      `02${'ff'.repeat(32)}`,
      `02${'00'.repeat(32)}`,
      toHex(uncompressed(publicKey)),
    ]) {
      expect(verifySecp256k1(wrong, der, hash)).toBe(false);
    }
    const wrongSignatures = [
      new Uint8Array(),
      new Uint8Array(64),
      new Uint8Array(64).fill(255),
      hex(`${order.toString(16)}${toHex(signature.subarray(32))}`),
      der.subarray(1),
      Uint8Array.from([...der, 0]),
      hex('3006020100020100'),
      signature.subarray(1),
    ];
    for (const wrong of wrongSignatures) expect(verifySecp256k1(key, wrong, hash)).toBe(false);
  });

  test('is refused by name', () => {
    expect(() => signRecoverable(new Uint8Array(32), hash)).toThrow(
      'privateKey: expected a secp256k1 scalar from 1 to n-1',
    );
    expect(() => signRecoverable(new Uint8Array(31), hash)).toThrow(
      'privateKey: expected a Uint8Array of 32 bytes, got 31 bytes',
    );
    expect(() => signRecoverable(privateKey, new Uint8Array(31))).toThrow(
      'digest: expected a Uint8Array of 32 bytes, got 31 bytes',
    );
    expect(() => uncompressed(hex(`02${'00'.repeat(32)}`))).toThrow(
      'invalid publicKey: expected a point of secp256k1',
    );
    expect(() => recoverPublicKey(new Uint8Array(64).fill(255), 0, hash)).toThrow('invalid signature');
    expect(() => recoverPublicKey(signature, 2, hash)).toThrow('invalid signature');
  });

  test('the range of scalars', () => {
    expect(isSecp256k1PrivateKey(new Uint8Array(32))).toBe(false);
    expect(isSecp256k1PrivateKey(hex(order.toString(16)))).toBe(false);
    expect(isSecp256k1PrivateKey(hex((order - 1n).toString(16)))).toBe(true);
    expect(isSecp256k1PrivateKey(new Uint8Array(33).fill(1))).toBe(false);
  });
});

test('DER of 64 bytes is read as DER, too', () => {
  // s of 24 bytes by a nonce of choice: DER of exactly 64 bytes, which compact form has as well.
  const r = 1n << 240n;
  const short = new noble.Signature(r, 1n << 214n).toBytes('der');
  expect(short).toHaveLength(64);
  const found = [0, 1, 2, 3].flatMap((recovery) => {
    try {
      return [
        noble.recoverPublicKey(
          Uint8Array.of(recovery, ...new noble.Signature(r, 1n << 214n).toBytes('compact')),
          new Uint8Array(32).fill(3),
          { prehash: false },
        ),
      ];
    } catch {
      return [];
    }
  });
  expect(found.length).toBeGreaterThan(0);
  for (const publicKey of found)
    expect(verifySecp256k1(toHex(publicKey), short, new Uint8Array(32).fill(3))).toBe(true);
});

test('BIP-340: signs as published', () => {
  const { secretKey, publicKey, message, signature } = bip340;
  expect(toHex(publicKeyFromPrivate(hex(secretKey))).slice(2)).toBe(publicKey);
  expect(toHex(signBip340(hex(secretKey), hex(message)))).toBe(signature);
});

test('BIP-341: tweaks as published', () => {
  const { internalPrivateKey, internalPublicKey, tweakedPrivateKey } = bip341;
  expect(toHex(taprootPrivateKey(hex(internalPrivateKey)))).toBe(tweakedPrivateKey);
  expect(toHex(publicKeyFromPrivate(hex(internalPrivateKey))).slice(2)).toBe(internalPublicKey);
  expect(toHex(publicKeyFromPrivate(hex(tweakedPrivateKey))).slice(2)).toBe(
    toHex(taprootOutputKey(hex(`02${internalPublicKey}`))),
  );
});

test('BIP-340: signs as published, and as noble does, many times', () => {
  const { secretKey, publicKey, message, signature } = bip340;
  expect(toHex(publicKeyFromPrivate(hex(secretKey))).slice(2)).toBe(publicKey);
  expect(toHex(signBip340(hex(secretKey), hex(message)))).toBe(signature);
  fc.assert(
    fc.property(scalar(), digest(), (privateKey, hash) => {
      expect(toHex(signBip340(privateKey, hash))).toBe(
        toHex(schnorr.sign(hash, privateKey, new Uint8Array(32))),
      );
    }),
    { numRuns: 200 },
  );
}, 60_000);

test('BIP-341: tweaks as published, and both halves alike, many times', () => {
  const { internalPrivateKey, internalPublicKey, tweakedPrivateKey } = bip341;
  expect(toHex(publicKeyFromPrivate(hex(internalPrivateKey))).slice(2)).toBe(internalPublicKey);
  expect(toHex(taprootPrivateKey(hex(internalPrivateKey)))).toBe(tweakedPrivateKey);
  fc.assert(
    fc.property(scalar(), (privateKey) => {
      expect(toHex(taprootOutputKey(publicKeyFromPrivate(privateKey)))).toBe(
        toHex(publicKeyFromPrivate(taprootPrivateKey(privateKey)).subarray(1)),
      );
    }),
    { numRuns: 200 },
  );
}, 60_000);

function scalar(): fc.Arbitrary<Uint8Array> {
  return digest().filter(isSecp256k1PrivateKey);
}

function digest(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 32, maxLength: 32 });
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}
