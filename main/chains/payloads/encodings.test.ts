import { expect, test } from 'vitest';
import { payloadEncodings } from './encodings.ts';

test('the table', () => {
  expect(Object.keys(payloadEncodings)).toEqual([
    'PAYLOAD_ENCODING_HEXADECIMAL',
    'PAYLOAD_ENCODING_TEXT_UTF8',
    'PAYLOAD_ENCODING_EIP712',
    'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
  ]);
});

test.each([
  ['PAYLOAD_ENCODING_EIP712', { types: { A: [] }, primaryType: 'A', domain: {}, message: {} }],
  ['PAYLOAD_ENCODING_EIP7702_AUTHORIZATION', { address: `0x${'1'.repeat(40)}`, chainId: 1, nonce: 0 }],
] as const)('%s makes a digest', (encoding, data) => {
  expect(payloadEncodings[encoding].makesDigest).toBe(true);
  expect(payloadEncodings[encoding].decode('payload', JSON.stringify(data))).toHaveLength(32);
});

test.each([
  ['PAYLOAD_ENCODING_HEXADECIMAL', '0xDEADbeef', [0xde, 0xad, 0xbe, 0xef]],
  ['PAYLOAD_ENCODING_HEXADECIMAL', 'DEADbeef', [0xde, 0xad, 0xbe, 0xef]],
  ['PAYLOAD_ENCODING_TEXT_UTF8', '0x€', [0x30, 0x78, 0xe2, 0x82, 0xac]],
] as const)('%s of %j', (encoding, payload, expected) => {
  expect(payloadEncodings[encoding].decode('payload', payload)).toEqual(Uint8Array.from(expected));
});

test.each([
  ['PAYLOAD_ENCODING_HEXADECIMAL', 'xyz', 'invalid parameters.payload: expected hex, got "x" at character 1'],
  [
    'PAYLOAD_ENCODING_TEXT_UTF8',
    '\udc00',
    'invalid parameters.payload: expected Unicode text, got a lone surrogate',
  ],
  ['PAYLOAD_ENCODING_EIP712', '{"a":', 'invalid parameters.payload: expected JSON, got text that is none'],
  [
    'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
    '0x',
    'invalid parameters.payload: expected JSON, got text that is none',
  ],
] as const)('%s refuses %j', (encoding, payload, message) => {
  expect(() => payloadEncodings[encoding].decode('parameters.payload', payload)).toThrow(message);
});
