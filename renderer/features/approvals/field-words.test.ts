import { expect, test } from 'vitest';
import { fieldWords } from './field-words.ts';

test('values of fields are said in the words of the window', () => {
  expect(fieldWords('Accounts, 2, curve', 'CURVE_SECP256K1')).toBe('secp256k1');
  expect(fieldWords('Api keys, curve type', 'API_KEY_CURVE_P256')).toBe('P-256');
  expect(fieldWords('Accounts, address format', 'ADDRESS_FORMAT_ETHEREUM')).toBe('Ethereum');
  expect(fieldWords('Private keys, address formats, 2', 'ADDRESS_FORMAT_SOLANA')).toBe('Solana');
  expect(fieldWords('Policy effect', 'EFFECT_DENY')).toBe('Deny');
  expect(fieldWords('Hash function', 'HASH_FUNCTION_KECCAK256')).toBe('Keccak-256');
  expect(fieldWords('Type', 'TRANSACTION_TYPE_ETHEREUM')).toBe('Ethereum');
});

test('a text that a person chose is shown as it is', () => {
  expect(fieldWords('Wallet name', 'CURVE_SECP256K1')).toBe('CURVE_SECP256K1');
  expect(fieldWords('Curve', 'constructor')).toBe('constructor');
  expect(fieldWords('Curve', 'CURVE_OF_TOMORROW')).toBe('CURVE_OF_TOMORROW');
});
