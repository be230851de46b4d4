import { expect, test } from 'vitest';
import { toBeSignedBy } from './to-be-signed.ts';

const hashed = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
const signs = (type: string, intent: Readonly<Record<string, unknown>>) =>
  toBeSignedBy({ type: `ACTIVITY_TYPE_${type}`, intent: { anyIntent: intent } });

test('a transaction is described by itself, Bitcoin’s with who signs it as well', () => {
  const ethereum = { type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: '02' };
  const bitcoin = { type: 'TRANSACTION_TYPE_BITCOIN', unsignedTransaction: '70', signWith: 'bc1q' };
  expect(signs('SIGN_TRANSACTION_V2', { ...ethereum, signWith: '0x1' })).toEqual([ethereum]);
  expect(signs('SIGN_TRANSACTION', { ...ethereum, privateKeyId: 'key' })).toEqual([ethereum]);
  expect(signs('SIGN_TRANSACTION_V2', bitcoin)).toEqual([bitcoin]);
});

test('payloads are described one by one, with what one is the hash of', () => {
  const preimage = { bytes: '00', hashFunction: 'HASH_FUNCTION_SHA256' };
  expect(signs('SIGN_RAW_PAYLOAD_V2', { signWith: 'a', payload: 'aa', ...hashed, preimage })).toEqual([
    { payload: 'aa', ...hashed, preimage },
  ]);
  expect(signs('SIGN_RAW_PAYLOADS', { signWith: 'a', payloads: ['aa', 'bb'], ...hashed })).toEqual([
    { payload: 'aa', ...hashed },
    { payload: 'bb', ...hashed },
  ]);
});

test('what signs nothing has nothing to describe', () => {
  expect(signs('CREATE_WALLET', { walletName: 'Everyday' })).toEqual([]);
});
