import { expect, test } from 'vitest';
import { describeStatus, describeType, summarize, typeFilters } from './activity-words.ts';

test('types are said in words, whatever their version; unknown ones by their name', () => {
  expect(describeType('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD')).toBe('Sign a payload');
  expect(describeType('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')).toBe('Sign a payload');
  expect(describeType('ACTIVITY_TYPE_APPROVE_ACTIVITY')).toBe('Approve activity');
});

test('each filter takes all versions of one thing', () => {
  expect(new Set(typeFilters.map(({ label }) => label)).size).toBe(typeFilters.length);
  for (const { label, types } of typeFilters)
    expect(new Set(types.map(describeType))).toEqual(new Set([label]));
});

test('an unknown status is shown as it is', () => {
  expect(describeStatus('ACTIVITY_STATUS_COMPLETED').label).toBe('Completed');
  expect(describeStatus('ACTIVITY_STATUS_NEW')).toEqual({ label: 'NEW', tone: 'waiting' });
});

test.each([
  [
    'ACTIVITY_TYPE_CREATE_WALLET',
    { createWalletIntent: { walletName: 'Savings', accounts: [{}, {}] } },
    'Savings, 2 accounts',
  ],
  ['ACTIVITY_TYPE_CREATE_WALLET', { createWalletIntent: { walletName: 'Empty', accounts: [] } }, 'Empty'],
  [
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    { signRawPayloadIntentV2: { signWith: '0x52908400098527886E0F7030069857D2E4169EE7' } },
    'with 0x529084…169EE7',
  ],
  ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', { createApiKeysIntentV2: { apiKeys: [{ apiKeyName: 'CI' }] } }, 'CI'],
  ['ACTIVITY_TYPE_CREATE_USERS_V3', { createUsersIntentV3: { users: 'not a list' } }, ''],
  [
    'ACTIVITY_TYPE_IMPORT_WALLET',
    { importWalletIntent: { walletName: 'Old', encryptedBundle: '{}', accounts: [{}] } },
    'Old, 1 account',
  ],
  [
    'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
    { updateWalletAccountNameIntent: { name: 'Rent' } },
    'to Rent',
  ],
  ['ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME', { updateWalletAccountNameIntent: { name: '' } }, 'to no name'],
  ['ACTIVITY_TYPE_UPDATE_WALLET', { updateWalletIntent: { walletId: '1', walletName: 'New' } }, 'to New'],
  [
    'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
    { updateOrganizationNameIntent: { organizationName: 'Works' } },
    'to Works',
  ],
  [
    'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
    { setOrganizationFeatureIntent: { name: 'FEATURE_NAME_WEBHOOK', value: 'https://example.org' } },
    'Webhook URL',
  ],
  ['ACTIVITY_TYPE_UNHEARD_OF', {}, ''],
])('%s is summed up', (type, intent, said) => {
  expect(summarize({ type, intent })).toBe(said);
});
