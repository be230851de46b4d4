/**
 * The tests of this folder once more on what Electron has: its node:crypto is BoringSSL, where secp256k1, RIPEMD-160,
 * Keccak and Argon2 are missing. Code that reaches for them works under plain Node and breaks in the app.
 */
import type * as crypto from 'node:crypto';
import { argon2Sync, createECDH, createHash, createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import type * as fastCheck from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { atLength } from '../../../test/campaigns/length.ts';
import { toHex } from '../encodings.ts';
import { hash160, keccak256 } from '../hashes.ts';
import { checkSecp256k1Accelerator } from './secp256k1.ts';

vi.mock('node:crypto', async (importOriginal) => {
  const real = await importOriginal<typeof crypto>();
  type Call = (...parameters: never[]) => unknown;
  const missing = /secp256k1|ripemd|rmd160|keccak|sha3|argon2/i;

  /** The same function, but for calls that name what is missing in any of their parameters. */
  const without = <F extends Call>(name: string, call: F): F =>
    ((...parameters: never[]) => {
      const named = missing.exec(JSON.stringify(parameters));
      if (named) throw new Error(`BoringSSL has no ${named[0]} (${name})`);
      return call(...parameters);
    }) as F;

  const refuse = (name: string) => (): never => {
    throw new Error(`BoringSSL has no ${name}`);
  };

  return {
    ...real,
    argon2: refuse('argon2'),
    argon2Sync: refuse('argon2'),
    createECDH: without('createECDH', real.createECDH),
    createHash: without('createHash', real.createHash),
    createHmac: without('createHmac', real.createHmac),
    createPrivateKey: without('createPrivateKey', real.createPrivateKey),
    createPublicKey: without('createPublicKey', real.createPublicKey),
    createSign: without('createSign', real.createSign),
    createVerify: without('createVerify', real.createVerify),
    generateKeyPair: without('generateKeyPair', real.generateKeyPair),
    generateKeyPairSync: without('generateKeyPairSync', real.generateKeyPairSync),
    hash: without('hash', real.hash),
    hkdfSync: without('hkdfSync', real.hkdfSync),
    pbkdf2Sync: without('pbkdf2Sync', real.pbkdf2Sync),
  };
});

// Each path is taken, which is what can be missing here: the many rounds of the same are for the files by themselves.
vi.mock('fast-check', async (importOriginal) => {
  const { default: real, ...names } = await importOriginal<typeof fastCheck>();
  const assert = ((...[property, parameters]: Parameters<typeof real.assert>) =>
    real.assert(property, {
      ...parameters,
      numRuns: Math.min(parameters?.numRuns ?? 100, atLength(20, 2000)),
    })) as typeof real.assert;
  return { ...names, default: { ...real, assert } };
});

// Every test of cryptography and of addresses registers itself here, over the node:crypto above; all but that of the hashes, whose
// oracle is the platform's RIPEMD-160, and that of other libraries' addresses, which may use what is missing.
const tests = import.meta.glob([
  './*.test.ts',
  '../*.test.ts',
  '../../chains/addresses/*.test.ts',
  '!./boringssl.test.ts',
  '!../hashes.test.ts',
  '!../../chains/addresses/address-oracles.test.ts',
]);
for (const register of Object.values(tests)) await register();

describe('the profile', () => {
  test('the folder was found', () => {
    expect(Object.keys(tests).length).toBeGreaterThanOrEqual(14);
  });

  test.each<[string, () => unknown]>([
    ['ECDH', () => createECDH('secp256k1')],
    ['key pairs', () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' })],
    [
      'keys',
      () => createPublicKey({ key: { kty: 'EC', crv: 'secp256k1', x: 'AA', y: 'AA' }, format: 'jwk' }),
    ],
    ['hashes', () => createHash('ripemd160')],
    ['one-shot hashes', () => hash('ripemd160', '')],
    [
      'Argon2',
      () =>
        argon2Sync('argon2id', {
          message: '',
          nonce: Buffer.alloc(16),
          parallelism: 1,
          tagLength: 32,
          memory: 8,
          passes: 1,
        }),
    ],
  ])('%s are refused here', (_, call) => {
    expect(call).toThrow('BoringSSL has no');
  });

  test('what they were used for works without them', () => {
    expect(() => {
      checkSecp256k1Accelerator();
    }).not.toThrow();
    expect(toHex(hash160(new Uint8Array()))).toBe('b472a266d0bd89c13706a4132ccfb16f7c3b9fcb');
    expect(toHex(keccak256(new Uint8Array()))).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    );
  });
});
