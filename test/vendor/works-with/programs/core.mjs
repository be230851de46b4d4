import { ApiKeyStamper, TurnkeyClient } from '@turnkey/core';
import { end, ethereumAccount, report, unsignedTransfer, vault } from './report.mjs';

const { organizationId, url: apiBaseUrl } = vault;
const client = new TurnkeyClient({ apiBaseUrl, organizationId }, new ApiKeyStamper(vault)).createHttpClient();

report('getWhoami', await client.getWhoami({ organizationId }));
const made = await client.createWallet({ walletName: `core ${Date.now()}`, accounts: [ethereumAccount] });
report('createWallet', made.addresses);
report('getWalletAccounts', await client.getWalletAccounts({ walletId: made.walletId }));

const [signWith] = made.addresses;
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
end();
