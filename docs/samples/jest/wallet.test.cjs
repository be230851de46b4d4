const { DEFAULT_ETHEREUM_ACCOUNTS, Turnkey } = require('@turnkey/sdk-server');

const { KEYHEARTH_URL, KEYHEARTH_ORGANIZATION, KEYHEARTH_API_KEY } = process.env;
const [apiPublicKey, apiPrivateKey] = KEYHEARTH_API_KEY.split(':');

const client = new Turnkey({
  apiBaseUrl: KEYHEARTH_URL,
  apiPublicKey,
  apiPrivateKey,
  defaultOrganizationId: KEYHEARTH_ORGANIZATION,
}).apiClient();

// Each test finds the vault as it was at its start.
beforeEach(() => fetch(`${KEYHEARTH_URL}/dev/reset`, { method: 'POST' }));

test('a wallet signs', async () => {
  const { addresses } = await client.createWallet({
    walletName: 'Savings',
    accounts: DEFAULT_ETHEREUM_ACCOUNTS,
  });
  const { r, s, v } = await client.signRawPayload({
    signWith: addresses[0],
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  expect([r, s, v].map((part) => part.length)).toEqual([64, 64, 2]);
});
