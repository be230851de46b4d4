import { createPublicKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { toHex } from './encodings.ts';
import { generateP256, signP256Raw, uncompressP256 } from './keys/p256.ts';
import { readToken, signToken } from './signed-tokens.ts';

const generate = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

function newPair(): { readonly privateKey: Uint8Array; readonly publicKey: string } {
  const { privateKey, publicKey } = generateP256(generate);
  return { privateKey, publicKey: toHex(uncompressP256(publicKey)) };
}

const claims = { id: 'one', exp: '1' };
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token', () => {
  test('is one that others read', async () => {
    const { privateKey, publicKey } = newPair();
    const [x, y] = [publicKey.slice(2, 66), publicKey.slice(66)].map((half) =>
      Buffer.from(half, 'hex').toString('base64url'),
    );
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, format: 'jwk' });
    const { payload, protectedHeader } = await jwtVerify(signToken(privateKey, { id: 'one' }), key);
    expect([payload, protectedHeader]).toEqual([{ id: 'one' }, { alg: 'ES256', typ: 'JWT' }]);
  });

  test('is read by the key and in the form that it was signed with, and no other', () => {
    const { privateKey, publicKey } = newPair();
    for (const [form, other] of [
      ['text', 'digest'],
      ['digest', 'text'],
    ] as const) {
      const token = signToken(privateKey, claims, form);
      expect(readToken(publicKey, token, form)).toEqual(claims);
      expect(readToken(publicKey, token, other)).toBeUndefined();
      expect(readToken(newPair().publicKey, token, form)).toBeUndefined();
    }
  });

  test('is not read once a byte of it is another', () => {
    const { privateKey, publicKey } = newPair();
    const token = signToken(privateKey, claims);
    for (let at = 0; at < token.length; at++) {
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      // The last character has bits that say nothing.
      if (at === token.length - 1) continue;
      expect(readToken(publicKey, changed), `character ${String(at)}`).toBeUndefined();
    }
    for (const text of ['', '..', 'a.b.c', `${token}=`, token.repeat(40), ` ${token}`]) {
      expect(readToken(publicKey, text)).toBeUndefined();
    }
  });

  test('is not whatever else the key signed', () => {
    const { privateKey, publicKey } = newPair();
    const signed = (text: string): string =>
      `${text}.${Buffer.from(signP256Raw(privateKey, new Uint8Array(Buffer.from(text)))).toString('base64url')}`;
    for (const head of [
      { alg: 'none', typ: 'JWT' },
      { alg: 'ES256' },
      { alg: 'ES256', typ: 'at+jwt' },
      [],
      null,
    ]) {
      expect(readToken(publicKey, signed(`${part(head)}.${part(claims)}`))).toBeUndefined();
    }
    const head = part({ alg: 'ES256', typ: 'JWT' });
    expect(readToken(publicKey, signed(`${head}.${part('text')}`))).toBeUndefined();
    expect(readToken(publicKey, signed(`${head}.${part(claims)}`))).toEqual(claims);
  });
});
