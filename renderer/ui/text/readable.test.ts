import { expect, test } from 'vitest';
import { nameTaken, notExported } from '../../../main/operations/shared/parameters.ts';
import { messageOf } from '../../app/rpc/rpc-error.ts';
import { readable } from './readable.ts';

test.each([
  [
    nameTaken('parameters.walletName', 'wallet name', 'My "best"').message,
    'The name “My "best"” is taken. Choose another name.',
  ],
  [
    'invalid parameters.userName: user name "Аnn" looks like "Ann", which is there already',
    '“Аnn” looks like the existing name “Ann”. Choose a name that differs more.',
  ],
  [
    'maximum number of wallets reached: 100 are allowed, there are 100 and 1 would be added',
    'The limit of 100 is reached. Delete some, or raise the limits in the settings.',
  ],
  ['missing field vault.confirmedWords[2].word: expected a string', 'A required field is empty.'],
  [
    'invalid parameters.notes: expected at most 64 characters, got "a"',
    'Too long: use at most 64 characters.',
  ],
  [
    'could not find public key in organization or its parent organization organizationId=1 publicKey=02ab',
    'Not found, or not accessible from here. Someone may have deleted this in the meantime.',
  ],
  [
    'Malformed organization ID provided: expected a UUID in organizationId, got "abc"',
    'Not found: this address has a mistyped ID.',
  ],
  ['invalid walletId: expected a UUID, got "abc"', 'Not found: this address has a mistyped ID.'],
  ['invalid parameters.payload: expected hex', 'Expected hex'],
  ['invalid policy condition: line 1, column 2: expected a method', 'Line 1, column 2: expected a method'],
  ['The vault is closing.', 'The vault is closing.'],
  ['invalid path: component 3 is "x"', 'Invalid path: component 3 is "x"'],
  ['', ''],
])('%j reads %j', (message, expected) => {
  expect(readable(new Error(message))).toBe(expected);
});

test('a code translates an error whatever its text is', () => {
  const refusal = notExported('wallet', 'id');
  const answered = Object.assign(new Error(messageOf(refusal)), { code: refusal.turnkeyErrorCode });
  expect(readable(answered)).toBe('This vault has the only copy. Export first, then delete.');
});
