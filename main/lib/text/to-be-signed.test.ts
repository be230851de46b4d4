import { describe, expect, test } from 'vitest';
import { toBeSigned } from './to-be-signed.ts';

const hashed = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
const signs = (type: string, intent: Readonly<Record<string, unknown>>) =>
  toBeSigned({ type: `ACTIVITY_TYPE_${type}`, intent: { anyIntent: intent } });

describe('what an activity signs is described with the key that signs it', () => {
  test.each(['ETHEREUM', 'SOLANA', 'TRON', 'BITCOIN'])('a transaction of %s', (chain) => {
    const transaction = { type: `TRANSACTION_TYPE_${chain}`, unsignedTransaction: '02' };
    expect(signs('SIGN_TRANSACTION_V2', { ...transaction, signWith: 'a' })).toEqual([
      { ...transaction, signWith: 'a' },
    ]);
    expect(signs('SIGN_TRANSACTION', { ...transaction, privateKeyId: 'key' })).toEqual([
      { ...transaction, signWith: 'key' },
    ]);
  });

  test('a transaction, with the door that it came by', () => {
    const transaction = { type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: '02' };
    const wanted = { ...transaction, signWith: 'a', origin: { door: 'ethereum', program: 'forge' } };
    expect(signs('SIGN_TRANSACTION_V2', wanted)).toEqual([wanted]);
  });

  test('a payload, with what it is the hash of', () => {
    const preimage = { bytes: '00', hashFunction: 'HASH_FUNCTION_SHA256' };
    const payload = { payload: 'aa', ...hashed, preimage };
    expect(signs('SIGN_RAW_PAYLOAD_V2', { ...payload, signWith: 'a' })).toEqual([
      { ...payload, signWith: 'a' },
    ]);
    expect(signs('SIGN_RAW_PAYLOAD', { ...payload, privateKeyId: 'key' })).toEqual([
      { ...payload, signWith: 'key' },
    ]);
  });

  test('payloads, one by one', () => {
    expect(signs('SIGN_RAW_PAYLOADS', { signWith: 'a', payloads: ['aa', 'bb'], ...hashed })).toEqual([
      { payload: 'aa', ...hashed, signWith: 'a' },
      { payload: 'bb', ...hashed, signWith: 'a' },
    ]);
  });
});

test('what signs nothing has nothing to describe', () => {
  expect(signs('CREATE_WALLET', { walletName: 'Everyday' })).toEqual([]);
});
