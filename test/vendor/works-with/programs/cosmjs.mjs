import { makeAuthInfoBytes, makeSignBytes, makeSignDoc } from '@cosmjs/proto-signing';
import { TurnkeyDirectWallet } from '@turnkey/cosmjs';
import { Turnkey } from '@turnkey/sdk-server';
import { end, report, vault } from './report.mjs';

const { organizationId, url: apiBaseUrl, ...keys } = vault;
const client = new Turnkey({ apiBaseUrl, ...keys, defaultOrganizationId: organizationId }).apiClient();
const curve = 'CURVE_SECP256K1';
const accounts = ['COSMOS', 'UNCOMPRESSED'].map((format) => ({
  curve,
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/118'/0'/0/0",
  addressFormat: `ADDRESS_FORMAT_${format}`,
}));
const made = await client.createWallet({ walletName: `cosmjs ${Date.now()}`, accounts });
const [address, signWith] = made.addresses;

const wallet = await TurnkeyDirectWallet.init({ config: { client, organizationId, signWith } });
report('getAccounts', { expected: address, accounts: await wallet.getAccounts() });

const authInfo = makeAuthInfoBytes([], [{ denom: 'uatom', amount: '1' }], 200_000, undefined, undefined);
const document = makeSignDoc(new Uint8Array([1]), authInfo, 'cosmoshub-4', 7);
const { signature } = await wallet.signDirect(address, document);
report('signDirect', { message: makeSignBytes(document), ...signature });
end();
