import { toPrefixedMessage } from 'viem';
import { describe, expect, test } from 'vitest';
import { ethereumMessage, fileText, likelyReading, readingsOf } from './readings.ts';

const ethereum = { curve: 'CURVE_SECP256K1', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' } as const;
const solana = { curve: 'CURVE_ED25519', addressFormat: 'ADDRESS_FORMAT_SOLANA' } as const;
const digest = 'ab'.repeat(32);

/** The window’s own choice where the service reads these to the end. */
const decided = (typed: string, fitting: Parameters<typeof likelyReading>[1] = []) =>
  likelyReading(readingsOf(typed, ethereum), fitting);

describe('a reading is chosen only where no other is as likely', () => {
  test('words are a message', () => {
    expect(decided('Pay 3 € to Grace')).toBe('message');
    expect(decided('plain')).toBe('message');
  });

  test.each([
    ['hex that may be words', 'face'],
    ['digits', '2024'],
    ['a hash', digest],
    ['hex with one digit missing', '0x02f8a'],
    ['hex with a letter that is none', '0x12g4'],
    ['typed data that the service refuses', '{"types":{},"message":{},"primaryType":"Mail"}'],
    ['an authorization that the service refuses', '{"address":"0x1","chainId":1,"nonce":0}'],
    ['a PSBT in base64 that the service refuses', 'cHNidP8BAAA='],
  ])('%s is a question', (_what, typed) => {
    expect(decided(typed)).toBeNull();
  });

  test('one kind that the service read to the end is chosen; of two, none', () => {
    expect(decided(`02${digest}`, ['TRANSACTION_TYPE_ETHEREUM'])).toBe('TRANSACTION_TYPE_ETHEREUM');
    expect(decided(`02${digest}`, ['TRANSACTION_TYPE_ETHEREUM', 'TRANSACTION_TYPE_TRON'])).toBeNull();
  });

  test('nothing is nothing', () => {
    expect(decided('')).toBeNull();
  });
});

describe('readingsOf', () => {
  test('a hash is offered last, and only for 32 bytes', () => {
    expect(readingsOf(digest, ethereum).plain.map(({ kind }) => kind)).toEqual(['bytes', 'message', 'hash']);
    expect(readingsOf(`${digest}00`, ethereum).plain.map(({ kind }) => kind)).toEqual(['bytes', 'message']);
    expect(readingsOf(digest, solana).plain.map(({ kind }) => kind)).toEqual(['bytes', 'message']);
  });

  test('transactions are of the key’s curve, from hex or base64', () => {
    const kinds = (typed: string, key: Parameters<typeof readingsOf>[1]) =>
      readingsOf(typed, key).formed.map(({ kind }) => kind);
    expect(kinds('0xAABB', ethereum)).toEqual([
      'TRANSACTION_TYPE_ETHEREUM',
      'TRANSACTION_TYPE_TRON',
      'TRANSACTION_TYPE_BITCOIN',
    ]);
    expect(kinds('0xaabb', solana)).toEqual(['TRANSACTION_TYPE_SOLANA']);
    expect(kinds('0xaabb', { curve: 'CURVE_P256' })).toEqual([]);
    expect(readingsOf('cHNidP8=', ethereum).formed[2]?.request).toMatchObject({
      unsignedTransaction: '70736274ff',
    });
  });
});

test.each(['hello', '', 'héllo — 3 €', '1'.repeat(300)])('the prefix of EIP-191 counts bytes: %s', (text) => {
  expect(ethereumMessage(text)).toMatchObject({ payload: toPrefixedMessage(text).slice(2) });
});

test('a file is text where it is text, to its last byte, and hex elsewhere', () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  expect(fileText(encode('\ufeffline\r\n'))).toBe('\ufeffline\r\n');
  expect(fileText(encode('a\u0000b'))).toBe('0x610062');
  expect(fileText(Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff))).toBe('0x70736274ff');
});
