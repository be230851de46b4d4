import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { createActivityPoller, TurnkeyClient, TurnkeyRequestError } from '@turnkey/http';
import { activity, end, ethereumAccount, report, unsignedTransfer, vault } from './report.mjs';

const { organizationId } = vault;
const client = new TurnkeyClient({ baseUrl: vault.url }, new ApiKeyStamper(vault));

report('getWhoami', await client.getWhoami({ organizationId }));

const parameters = { walletName: `http ${Date.now()}`, accounts: [ethereumAccount] };
const made = await client.createWallet(activity('ACTIVITY_TYPE_CREATE_WALLET', parameters));
const { walletId, addresses } = made.activity.result.createWalletResult;
report('createWallet', addresses);
// The first major is older than this query.
if ('getWalletAccounts' in client) {
  report('getWalletAccounts', await client.getWalletAccounts({ organizationId, walletId }));
}

const signWith = addresses[0];
const sign = createActivityPoller({ client, requestFn: client.signRawPayload, refreshIntervalMs: 10 });
const payload = {
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
  payload: 'hello',
};
const signed = await sign(activity('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { ...payload, signWith }));
report('signRawPayload', { address: signWith, ...signed.result.signRawPayloadResult });

const transaction = await client.signTransaction(
  activity('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
    signWith,
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: unsignedTransfer,
  }),
);
const { signedTransaction } = transaction.activity.result.signTransactionResult;
report('signTransaction', { address: signWith, signedTransaction: `0x${signedTransaction}` });

const refused = await client
  .getPrivateKey({ organizationId, privateKeyId: organizationId })
  .catch((error) => error);
report('TurnkeyRequestError', { known: refused instanceof TurnkeyRequestError, code: refused.code });
end();
