import { describe, expect, test } from 'vitest';
import { KeyhearthError } from '../lib/errors.ts';
import { parseStamp } from './parse-stamp.ts';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const stamp = { publicKey: '02ab', scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: '3045' };

describe('parseStamp', () => {
  test('reads the three fields and nothing more, in any order', () => {
    expect(parseStamp(encode(stamp))).toEqual(stamp);
    expect(
      parseStamp(encode({ more: 1, signature: '3045', scheme: stamp.scheme, publicKey: '02ab' })),
    ).toEqual(stamp);
  });

  test('gives hex in lower case', () => {
    expect(parseStamp(encode({ ...stamp, publicKey: '02AB', signature: '30FF' }))).toEqual({
      ...stamp,
      publicKey: '02ab',
      signature: '30ff',
    });
  });

  test('takes standard base64, with padding or without', () => {
    for (const more of ['', '?', '??', '>>>', '???~~~']) {
      const text = JSON.stringify({ ...stamp, more });
      const padded = Buffer.from(text).toString('base64');
      expect(parseStamp(padded)).toEqual(stamp);
      expect(parseStamp(padded.replace(/=+$/, ''))).toEqual(stamp);
      expect(parseStamp(Buffer.from(text).toString('base64url'))).toEqual(stamp);
    }
  });

  test.each([
    ['', 'expected base64url without padding'],
    ['{"publicKey":"02"}', 'expected base64url without padding'],
    ['abc=def', 'expected base64url without padding'],
    ['====', 'expected base64url without padding'],
    [encode('text'), 'expected base64url of a JSON object'],
    [encode(null), 'expected base64url of a JSON object'],
    [Buffer.from('{').toString('base64url'), 'expected base64url of a JSON object'],
    [encode([]), 'scheme is missing'],
    [encode({ ...stamp, scheme: 7 }), 'scheme is missing'],
    [encode({ ...stamp, publicKey: undefined }), 'publicKey is missing'],
    [encode({ ...stamp, publicKey: '' }), 'publicKey is missing'],
    [encode({ ...stamp, publicKey: '0x02' }), 'publicKey is not hex'],
    [encode({ ...stamp, publicKey: '02a' }), 'publicKey is not hex'],
    [encode({ ...stamp, signature: ['30'] }), 'signature is missing'],
    [encode({ ...stamp, signature: 'MEUC' }), 'signature is not hex'],
    ['A'.repeat(4097), 'expected at most 4096 characters, got 4097'],
  ])('refuses %j', (text, problem) => {
    expect(() => parseStamp(text)).toThrow(
      new KeyhearthError('UNAUTHENTICATED', `malformed activity stamp: X-Stamp: ${problem}`, {
        turnkeyErrorCode: 'SIGNATURE_INVALID',
      }),
    );
  });
});
