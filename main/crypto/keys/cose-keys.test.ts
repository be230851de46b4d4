import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import vectors from '../../../test/vectors/webauthn.json' with { type: 'json' };
import { coseAlgorithms, coseKeyFault, isSameCoseKey, verifyCose } from './cose-keys.ts';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const bytes = (text = ''): Buffer => Buffer.from(text, 'base64url');
const join = (...parts: readonly (string | Buffer)[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === 'string' ? hex(part) : part))));
const base64url = (key: Uint8Array): string => Buffer.from(key).toString('base64url');

const es256 = ({ x, y }: JsonWebKey): Uint8Array =>
  join('a5010203262001215820', bytes(x), '225820', bytes(y));
const edDsa = ({ x }: JsonWebKey): Uint8Array => join('a4010103272006215820', bytes(x));
const rs256 = ({ n, e }: JsonWebKey): Uint8Array =>
  join('a401030339010020590100', bytes(n), '2143', bytes(e));

const pairs = {
  ES256: { pair: generateKeyPairSync('ec', { namedCurve: 'P-256' }), encode: es256, hash: 'sha256' },
  EdDSA: { pair: generateKeyPairSync('ed25519'), encode: edDsa, hash: null },
  RS256: { pair: generateKeyPairSync('rsa', { modulusLength: 2048 }), encode: rs256, hash: 'sha256' },
} as const;
const message = new TextEncoder().encode('what is signed');

describe.each(Object.keys(pairs) as (keyof typeof pairs)[])('%s', (name) => {
  const { pair, encode, hash } = pairs[name];
  const key = encode(pair.publicKey.export({ format: 'jwk' }));
  const signature = new Uint8Array(sign(hash, message, pair.privateKey));

  test('is verified with its own key alone, over its own message alone', () => {
    expect(coseKeyFault(key)).toBeUndefined();
    expect(verifyCose(base64url(key), signature, message)).toBe(true);
    expect(verifyCose(base64url(key), signature, message.subarray(1))).toBe(false);
    for (const [other, { pair: another, encode: as }] of Object.entries(pairs)) {
      if (other === name) continue;
      expect(verifyCose(base64url(as(another.publicKey.export({ format: 'jwk' }))), signature, message)).toBe(
        false,
      );
    }
  });

  test('a signature that is changed or cut does not hold', () => {
    for (const place of [0, Math.floor(signature.length / 2), signature.length - 1]) {
      const changed = signature.map((byte, index) => (index === place ? byte ^ 1 : byte));
      expect(verifyCose(base64url(key), changed, message)).toBe(false);
    }
    expect(verifyCose(base64url(key), signature.subarray(1), message)).toBe(false);
    expect(verifyCose(base64url(key), new Uint8Array(), message)).toBe(false);
  });

  test('a key that is cut or has something after it is none', () => {
    for (const length of [0, 1, 5, key.length - 1]) {
      expect(coseKeyFault(key.subarray(0, length))).toMatch(/^expected /);
      expect(verifyCose(base64url(key.subarray(0, length)), signature, message)).toBe(false);
    }
    expect(coseKeyFault(join(Buffer.from(key), '00'))).toMatch(/^expected /);
  });

  test('a key that lies in the middle of other bytes is read where it lies', () => {
    const surrounded = join('ffff', Buffer.from(key), 'ffff').subarray(2, -2);
    expect(coseKeyFault(surrounded)).toBeUndefined();
  });
});

test('a key is the same in any order of its labels and with others beside them, and as no other', () => {
  const { pair } = pairs.ES256;
  const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
  const key = base64url(es256({ x, y }));
  const others = [
    join('a5010203262001225820', bytes(y), '215820', bytes(x)),
    join('a6010203262001215820', bytes(x), '225820', bytes(y), '0401'),
  ].map(base64url);
  for (const other of [key, ...others]) expect(isSameCoseKey(key, other)).toBe(true);
  const another = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const ed25519 = pairs.EdDSA.pair.publicKey.export({ format: 'jwk' });
  for (const other of [base64url(es256(another)), base64url(edDsa(ed25519)), 'a0']) {
    expect(isSameCoseKey(key, other)).toBe(false);
  }
});

describe('the standard’s vectors', () => {
  test.each(vectors.vectors.filter(({ authentication }) => authentication !== undefined))(
    '$name',
    ({ name, registration, authentication }) => {
      // The key is what stands last in the attestation object.
      const object = registration.attestationObject;
      const key = object.slice(
        object.lastIndexOf(
          name.endsWith('EdDSA') ? 'a401010327' : name.endsWith('RS256') ? 'a4010303390100' : 'a501020326',
        ),
      );
      const { authenticatorData = '', clientDataJSON = '', signature = '' } = authentication ?? {};
      const signed = join(authenticatorData, createHash('sha256').update(clientDataJSON).digest());
      expect(verifyCose(base64url(hex(key)), hex(signature), signed)).toBe(true);
      expect(verifyCose(base64url(hex(key)), hex(signature), signed.subarray(1))).toBe(false);
    },
  );
});

describe('a key is refused', () => {
  const point = pairs.ES256.pair.publicKey.export({ format: 'jwk' });
  const good = Buffer.from(es256(point)).toString('hex');

  test.each([
    ['of another algorithm', good.replace('a501020326', 'a501020327'), /ES256 key|EdDSA/],
    ['of an algorithm that is not known', good.replace('0326', '033822'), /got algorithm -35$/],
    ['without an algorithm', 'a10102', /got algorithm none$/],
    ['of another curve', good.replace('2001', '2002'), /^expected a whole ES256 key/],
    [
      'whose point is not on the curve',
      `a5010203262001215820${'11'.repeat(32)}225820${'22'.repeat(32)}`,
      /make none$/,
    ],
    [
      'with a short coordinate',
      `a501020326200121581f${'11'.repeat(31)}225820${'22'.repeat(32)}`,
      /whole ES256/,
    ],
    ['with a number where bytes belong', 'a501020326200121012202', /whole ES256/],
    [
      'of RSA with 1024 bits',
      `a4010303390100205880${'ff'.repeat(128)}2143010001`,
      /whole RS256 key of a usual size/,
    ],
    ['of RSA with 8192 bits', `a401030339010020590400${'ff'.repeat(1024)}2143010001`, /usual size/],
    [
      'of RSA with a long exponent',
      `a401030339010020590100${'ff'.repeat(256)}2145${'01'.repeat(5)}`,
      /usual size/,
    ],
    ['that is an array', '8401020326', /^expected a COSE_Key/],
    ['that has a label twice', 'a201020102', /^expected a COSE_Key/],
    ['that has a text in it', 'a101634f4b50', /^expected a COSE_Key/],
    ['with an endless map', 'bf0102ff', /^expected a COSE_Key/],
    ['with a length of 64 bits', 'bb00000000000000010102', /^expected a COSE_Key/],
    ['that announces more than there is', 'a2010203', /^expected a COSE_Key/],
    ['that announces a great many entries', 'baffffffff0102', /^expected a COSE_Key/],
  ])('%s', (_, key, problem) => {
    expect(coseKeyFault(hex(key))).toMatch(problem);
    expect(verifyCose(base64url(hex(key)), new Uint8Array(64), message)).toBe(false);
  });

  test('with the algorithms that there are', () => {
    expect(coseAlgorithms).toEqual([-7, -8, -257]);
    expect(coseKeyFault(hex('a10102'))).toBe(
      'expected a key of one of ES256 (-7), EdDSA (-8), RS256 (-257), got algorithm none',
    );
  });
});
