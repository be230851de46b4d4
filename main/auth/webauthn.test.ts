import { describe, expect, test } from 'vitest';
import { KeyhearthError } from '../lib/errors.ts';
import { parseAssertion } from './webauthn.ts';

const fields = { authenticatorData: 'AAE', clientDataJson: 'e30', credentialId: '-_8', signature: 'MEU' };
const assertion = {
  authenticatorData: Buffer.from([0, 1]),
  clientDataJson: Buffer.from('{}'),
  credentialId: '-_8',
  signature: Buffer.from('0E'),
};

describe('parseAssertion', () => {
  test('reads the four fields and nothing more, in any order', () => {
    expect(parseAssertion(JSON.stringify(fields))).toEqual(assertion);
    const reversed = Object.fromEntries(Object.entries({ more: 1, ...fields }).reverse());
    expect(parseAssertion(JSON.stringify(reversed))).toEqual(assertion);
  });

  test('takes padding and standard base64, and gives the credential’s one name', () => {
    const padded = { ...fields, authenticatorData: 'AAE=', credentialId: '+/8=' };
    expect(parseAssertion(JSON.stringify(padded))).toEqual(assertion);
    // The last bits say nothing.
    expect(parseAssertion(JSON.stringify({ ...fields, credentialId: '-_9' }))).toEqual(assertion);
  });

  test.each([
    ['', 'expected a JSON object'],
    ['{', 'expected a JSON object'],
    ['"text"', 'expected a JSON object'],
    ['null', 'expected a JSON object'],
    [JSON.stringify({ ...fields, signature: undefined }), 'signature is missing'],
    [JSON.stringify({ ...fields, signature: '' }), 'signature is missing'],
    [JSON.stringify({ ...fields, signature: ['MEU'] }), 'signature is missing'],
    [JSON.stringify({ ...fields, clientDataJson: '{}' }), 'clientDataJson is not base64url'],
    [JSON.stringify({ ...fields, clientDataJson: 'e=30' }), 'clientDataJson is not base64url'],
    [
      JSON.stringify({ ...fields, credentialId: 'A'.repeat(8192) }),
      'expected at most 8192 characters, got 8278',
    ],
  ])('refuses %j', (text, problem) => {
    expect(() => parseAssertion(text)).toThrow(
      new KeyhearthError('UNAUTHENTICATED', `malformed activity stamp: X-Stamp-Webauthn: ${problem}`, {
        turnkeyErrorCode: 'SIGNATURE_INVALID',
      }),
    );
  });
});
