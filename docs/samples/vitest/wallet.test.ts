import { DEFAULT_ETHEREUM_ACCOUNTS, Turnkey } from '@turnkey/sdk-server';
import { beforeEach, expect, test } from 'vitest';

const { KEYHEARTH_URL = '', KEYHEARTH_ORGANIZATION = '', KEYHEARTH_API_KEY = '' } = process.env;
const [apiPublicKey = '', apiPrivateKey = ''] = KEYHEARTH_API_KEY.split(':');

const client = new Turnkey({
  apiBaseUrl: KEYHEARTH_URL,
  apiPublicKey,
  apiPrivateKey,
  defaultOrganizationId: KEYHEARTH_ORGANIZATION,
}).apiClient();

// Each test finds the vault as it was at its start.
beforeEach(async () => {
  await fetch(`${KEYHEARTH_URL}/dev/reset`, { method: 'POST' });
});

test('a wallet signs', async () => {
  const { addresses } = await client.createWallet({
    walletName: 'Savings',
    accounts: DEFAULT_ETHEREUM_ACCOUNTS,
  });
  const { r, s, v } = await client.signRawPayload({
    signWith: addresses[0] ?? '',
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  expect([r, s, v].map((part) => part.length)).toEqual([64, 64, 2]);
});

test('a seed makes the same addresses', async () => {
  const wallet = { walletName: 'Savings', accounts: DEFAULT_ETHEREUM_ACCOUNTS };
  const first = await client.createWallet(wallet);
  await fetch(`${KEYHEARTH_URL}/dev/reset`, { method: 'POST' });
  expect((await client.createWallet(wallet)).addresses).toEqual(first.addresses);
});
