import { DEFAULT_ETHEREUM_ACCOUNTS, DEFAULT_SOLANA_ACCOUNTS, Turnkey } from '@turnkey/sdk-server';
import { end, report, unsignedTransfer, vault } from './report.mjs';

const { organizationId: defaultOrganizationId, url: apiBaseUrl, ...keys } = vault;
const activityPoller = { intervalMs: 10, numRetries: 3 };
const client = new Turnkey({ apiBaseUrl, ...keys, defaultOrganizationId, activityPoller }).apiClient();

report('getWhoami', await client.getWhoami());

const accounts = [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS];
const { walletId, addresses } = await client.createWallet({ walletName: `server ${Date.now()}`, accounts });
report('createWallet', addresses);
report('getWalletAccounts', await client.getWalletAccounts({ walletId }));

const [signWith] = addresses;
const signed = await client.signRawPayload({
  signWith,
  payload: 'hello',
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
});
report('signRawPayload', { address: signWith, ...signed });

const { signedTransaction } = await client.signTransaction({
  signWith,
  type: 'TRANSACTION_TYPE_ETHEREUM',
  unsignedTransaction: unsignedTransfer,
});
report('signTransaction', { address: signWith, signedTransaction: `0x${signedTransaction}` });

const key = { privateKeyName: `server ${Date.now()}`, curve: 'CURVE_SECP256K1', privateKeyTags: [] };
report(
  'createPrivateKeys',
  await client.createPrivateKeys({ privateKeys: [{ ...key, addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] }] }),
);

const person = { userName: `Ann ${Date.now()}`, userEmail: 'ann@example.com', userTags: [] };
const credentials = { apiKeys: [], authenticators: [], oauthProviders: [] };
const users = await client.createUsers({ users: [{ ...person, ...credentials }] });
report('createUsers', users);
report('getUser', await client.getUser({ userId: users.userIds[0] }));

report(
  'createPolicy',
  await client.createPolicy({
    policyName: `server ${Date.now()}`,
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${users.userIds[0]}')`,
    condition: "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
    notes: '',
  }),
);

report(
  'createSubOrganization',
  await client.createSubOrganization({
    subOrganizationName: `server ${Date.now()}`,
    rootQuorumThreshold: 1,
    rootUsers: [{ userName: 'Ben', userEmail: 'ben@example.com', ...credentials }],
    wallet: { walletName: 'Savings', accounts },
  }),
);

const refused = await client.getWallet({ walletId: defaultOrganizationId }).catch((error) => error);
report('an error with its code', { known: refused instanceof Error, code: refused.code });
end();
