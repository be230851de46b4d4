import { Turnkey } from '@turnkey/sdk-server';
import { createAccount } from '@turnkey/viem';
import { end, ethereumAccount, report, typedData, vault } from './report.mjs';

const { organizationId, url: apiBaseUrl, ...keys } = vault;
const client = new Turnkey({ apiBaseUrl, ...keys, defaultOrganizationId: organizationId }).apiClient();
const { addresses } = await client.createWallet({
  walletName: `viem ${Date.now()}`,
  accounts: [ethereumAccount],
});

const account = await createAccount({ client, organizationId, signWith: addresses[0] });
const { address } = account;
report('signMessage', { address, signature: await account.signMessage({ message: 'hello' }) });
report('signTypedData', { address, signature: await account.signTypedData(typedData) });
const { Mail } = typedData.types;
const withoutDomain = await account.signTypedData({ ...typedData, types: { Mail } });
report('signTypedData without EIP712Domain', { address, signature: withoutDomain });
const to = '0x3535353535353535353535353535353535353535';
const transfer = { chainId: 1, to, value: 1n, type: 'eip1559' };
report('signTransaction', { address, signedTransaction: await account.signTransaction(transfer) });
const authorization = await account.signAuthorization({ address: to, chainId: 1, nonce: 0 });
report('signAuthorization', { address, authorization });
end();
