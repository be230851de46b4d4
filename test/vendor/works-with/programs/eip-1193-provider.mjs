import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { createEIP1193Provider } from '@turnkey/eip-1193-provider';
import { TurnkeyClient } from '@turnkey/http';
import { activity, end, ethereumAccount, report, typedData, vault } from './report.mjs';

// The provider asks a node which chain it is on, by TLS unless it is under test.
process.env.NODE_ENV = 'test';
const node = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: '0x1' }));
}).listen(0, '127.0.0.1');
await once(node, 'listening');

const { organizationId } = vault;
const turnkeyClient = new TurnkeyClient({ baseUrl: vault.url }, new ApiKeyStamper(vault));
const parameters = { walletName: `provider ${Date.now()}`, accounts: [ethereumAccount] };
const made = await turnkeyClient.createWallet(activity('ACTIVITY_TYPE_CREATE_WALLET', parameters));
const { walletId, addresses } = made.activity.result.createWalletResult;
const rpcUrls = [`http://127.0.0.1:${node.address().port}`];
const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
const chain = { chainName: 'Ethereum', chainId: '0x1', rpcUrls, nativeCurrency, blockExplorerUrls: rpcUrls };
const provider = await createEIP1193Provider({ walletId, organizationId, turnkeyClient, chains: [chain] });

const accounts = await provider.request({ method: 'eth_requestAccounts' });
report('eth_requestAccounts', { accounts, expected: addresses });
const [address] = accounts;
const message = '0x' + '61'.repeat(32);
report('personal_sign', {
  address,
  hash: message,
  signature: await provider.request({ method: 'personal_sign', params: [message, address] }),
});
report('eth_signTypedData_v4', {
  address,
  signature: await provider.request({ method: 'eth_signTypedData_v4', params: [address, typedData] }),
});
const to = '0x3535353535353535353535353535353535353535';
const fees = { gas: '0x5208', maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x1', nonce: '0x0' };
const transfer = { from: address, to, value: '0x1', chainId: '0x1', type: '0x2', ...fees };
report('eth_signTransaction', {
  address,
  signedTransaction: await provider.request({ method: 'eth_signTransaction', params: [transfer] }),
});
node.close();
end();
