// The input of a program of the matrix, and its reports to the test. It runs as a process of its own, beside
// the packages of its row.
import { once } from 'node:events';
import process from 'node:process';

const [apiPublicKey, apiPrivateKey] = process.env.KEYHEARTH_API_KEY.split(':');

export const vault = {
  url: process.env.KEYHEARTH_URL,
  organizationId: process.env.KEYHEARTH_ORGANIZATION,
  apiPublicKey,
  apiPrivateKey,
};

/** The key with which the vault signs bundles of secrets. */
export const signer = process.env.KEYHEARTH_SIGNER;

/** Tells the test what a call answered. */
export const report = (step, value) => process.send({ step, value });

/** Has the test use its passkey, as a browser's `navigator.credentials.get` does. */
export async function assertPasskey({ publicKey }) {
  process.send({ challenge: publicKey.challenge });
  const [assertion] = await once(process, 'message');
  return { ...assertion, getClientExtensionResults: () => ({}) };
}

/** The test listens until all is reported. */
export const end = () => process.disconnect();

export const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

export const solanaAccount = {
  curve: 'CURVE_ED25519',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/501'/0'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};

/** An Ethereum transfer without a signature: EIP-1559, chain 1, to 0x3535…, 1 wei. */
export const unsignedTransfer = '02dd01808080809435353535353535353535353535353535353535350180c0';

/** With the type of its domain: viem sends no domain without it. */
export const typedData = {
  domain: { name: 'Mail', version: '1', chainId: 1 },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
    ],
    Mail: [{ name: 'contents', type: 'string' }],
  },
  primaryType: 'Mail',
  message: { contents: 'hello' },
};

/** A request of @turnkey/http, as its callers write it. */
export const activity = (type, parameters) => ({
  type,
  organizationId: vault.organizationId,
  timestampMs: String(Date.now()),
  parameters,
});
