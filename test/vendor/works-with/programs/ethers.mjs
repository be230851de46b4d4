import { TurnkeySigner } from '@turnkey/ethers';
import { Turnkey } from '@turnkey/sdk-server';
import { end, ethereumAccount, report, typedData, vault } from './report.mjs';

const { organizationId, url: apiBaseUrl, ...keys } = vault;
const client = new Turnkey({ apiBaseUrl, ...keys, defaultOrganizationId: organizationId }).apiClient();
const { addresses } = await client.createWallet({
  walletName: `ethers ${Date.now()}`,
  accounts: [ethereumAccount],
});

const signer = new TurnkeySigner({ client, organizationId, signWith: addresses[0] });
const address = await signer.getAddress();
report('signMessage', { address, signature: await signer.signMessage('hello') });
const { domain, types, message } = typedData;
// Ethers makes the type of the domain itself.
const { Mail } = types;
report('signTypedData', { address, signature: await signer.signTypedData(domain, { Mail }, message) });
const to = '0x3535353535353535353535353535353535353535';
const fees = { gasLimit: 21_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, nonce: 0 };
const transfer = { type: 2, chainId: 1, to, value: 1n, ...fees };
report('signTransaction', { address, signedTransaction: await signer.signTransaction(transfer) });
end();
