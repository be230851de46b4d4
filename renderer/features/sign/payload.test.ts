import { describe, expect, test } from 'vitest';
import { fromHex, toHex } from '../../ui/text/bytes.ts';
import {
  ethereumSignature,
  hashFunctions,
  hashFunctionsFor,
  hasRecoveryId,
  joinSignature,
  readPayload,
  readPreimage,
  readRequest,
} from './payload.ts';

const problem = (typed: string) => {
  const read = readPayload('hex', typed);
  return read.ok ? null : read.problem;
};

describe('readPayload', () => {
  test('text goes out as it was typed, counted in UTF-8 bytes', () => {
    const read = readPayload('text', ' héllo ');
    expect(read).toMatchObject({ ok: true, payload: ' héllo ', encoding: 'PAYLOAD_ENCODING_TEXT_UTF8' });
    expect(read.ok && read.bytes.length).toBe(8);
  });

  test('half a surrogate pair is refused rather than replaced', () => {
    expect(readPayload('text', 'a\ud83d').ok).toBe(false);
  });

  test('hex loses its prefix, spaces and capitals', () => {
    expect(readPayload('hex', ' 0xDE AD\nbe ef ')).toMatchObject({
      ok: true,
      payload: 'deadbeef',
      bytes: Uint8Array.of(0xde, 0xad, 0xbe, 0xef),
    });
  });

  test('what is wrong with hex is named', () => {
    expect(problem('0xdeag')).toContain('“g” at position 4');
    expect(problem('abc')).toContain('3 hex digits');
    expect(problem('0x')).toContain('Enter');
  });
});

describe('readPreimage', () => {
  // FIPS 180-2 appendix B.1.
  const hash = fromHex('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');

  test('the function that made the hash is found', () => {
    expect(readPreimage(hash, ' 0x61 6263 ')).toEqual({
      bytes: '616263',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    expect(readPreimage(hash, ' ')).toBeNull();
  });

  test('anything else is refused, also the hash itself', () => {
    const other = { problem: 'Neither the Keccak-256 nor the SHA-256 hash matches.' };
    expect(readPreimage(hash, '616264')).toEqual(other);
    expect(readPreimage(hash, toHex(hash))).toEqual(other);
    expect(readPreimage(hash, '61626')).toEqual({
      problem: expect.stringContaining('5 hex digits') as string,
    });
  });
});

describe('hash functions', () => {
  test('Ed25519 has one, the other curves the other three', () => {
    expect(hashFunctionsFor('CURVE_ED25519').map((row) => row.id)).toEqual(['HASH_FUNCTION_NOT_APPLICABLE']);
    expect(hashFunctionsFor('CURVE_SECP256K1')).toHaveLength(3);
    expect(hashFunctionsFor('CURVE_P256')).toEqual(hashFunctionsFor('CURVE_SECP256K1'));
  });

  // FIPS 180-2 appendix B.1, and the empty Keccak-256 of the Keccak team's ShortMsgKAT_256.
  test('digests are those of the standards', () => {
    const digest = (id: string, bytes: Uint8Array) =>
      toHex(hashFunctions.find((row) => row.id === id)?.digest?.(bytes) ?? new Uint8Array());
    expect(digest('HASH_FUNCTION_SHA256', new TextEncoder().encode('abc'))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(digest('HASH_FUNCTION_KECCAK256', new Uint8Array())).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    );
  });
});

describe('signatures', () => {
  const signature = { r: '11'.repeat(32), s: '22'.repeat(32), v: '01' };

  test('are joined with v where it says anything', () => {
    expect(hasRecoveryId('CURVE_SECP256K1', false)).toBe(true);
    expect(hasRecoveryId('CURVE_P256', false)).toBe(true);
    expect(hasRecoveryId('CURVE_SECP256K1', true)).toBe(false);
    expect(hasRecoveryId('CURVE_ED25519', false)).toBe(false);
    expect(fromHex(joinSignature(signature, true))).toHaveLength(65);
    expect(fromHex(joinSignature(signature, false))).toHaveLength(64);
  });

  test('Ethereum counts v from 27', () => {
    expect(ethereumSignature(signature)).toMatch(/^0x1{64}2{64}1c$/);
    expect(ethereumSignature({ ...signature, v: '00' })).toMatch(/1b$/);
  });
});

test('fromHex refuses what is not hex', () => {
  expect(() => fromHex('0')).toThrow('fromHex');
  expect(() => fromHex('zz')).toThrow('fromHex');
});

describe('readRequest', () => {
  const row = (id: string) => hashFunctions.find((each) => each.id === id);
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

  test('what a function hashes is sent whole, and its digest shown', () => {
    expect(
      readRequest('text', row('HASH_FUNCTION_SHA256'), { typed: 'abc', typedPreimage: '' }),
    ).toMatchObject({
      problem: null,
      isHash: false,
      payload: {
        payload: 'abc',
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_SHA256',
      },
      digest: hash,
    });
  });

  test('what is taken for a hash and is none is not sent', () => {
    const read = readRequest('hex', row('HASH_FUNCTION_NO_OP'), { typed: 'abcd', typedPreimage: '' });
    expect(read.problem).toContain('this has 2 bytes');
    expect(read.payload).toBeNull();
    expect(read.digest).toBeNull();
  });

  test('a hash goes with what it is of, and not with what it is not of', () => {
    const ofHash = (typedPreimage: string) =>
      readRequest('hex', row('HASH_FUNCTION_NO_OP'), { typed: hash, typedPreimage });
    expect(ofHash('').payload).not.toHaveProperty('preimage');
    expect(ofHash('616263').payload).toHaveProperty('preimage', {
      bytes: '616263',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    expect(ofHash('616264')).toMatchObject({ isHash: true, payload: null });
    expect(ofHash('616264').preimageProblem).not.toBeNull();
  });
});
