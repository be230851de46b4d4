import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { decryptExportBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';
import { TurnkeyClient } from '@turnkey/http';
import { activity, end, ethereumAccount, report, signer, vault } from './report.mjs';

const { organizationId } = vault;
const dangerouslyOverrideSignerPublicKey = signer;
const client = new TurnkeyClient({ baseUrl: vault.url }, new ApiKeyStamper(vault));
const { userId } = await client.getWhoami({ organizationId });

// The words of published test vectors.
const mnemonic = 'test test test test test test test test test test test junk';
const { activity: begun } = await client.initImportWallet(
  activity('ACTIVITY_TYPE_INIT_IMPORT_WALLET', { userId }),
);
const { importBundle } = begun.result.initImportWalletResult;
const given = { mnemonic, importBundle, userId, organizationId, dangerouslyOverrideSignerPublicKey };
const encryptedBundle = await encryptWalletToBundle(given);
const walletName = `crypto ${Date.now()}`;
const parameters = { userId, walletName, encryptedBundle, accounts: [ethereumAccount] };
const imported = await client.importWallet(activity('ACTIVITY_TYPE_IMPORT_WALLET', parameters));
const { walletId, addresses } = imported.activity.result.importWalletResult;
report('encryptWalletToBundle', addresses);

const target = generateP256KeyPair();
const exported = await client.exportWallet(
  activity('ACTIVITY_TYPE_EXPORT_WALLET', { walletId, targetPublicKey: target.publicKeyUncompressed }),
);
const words = await decryptExportBundle({
  exportBundle: exported.activity.result.exportWalletResult.exportBundle,
  embeddedKey: target.privateKey,
  organizationId,
  dangerouslyOverrideSignerPublicKey,
  returnMnemonic: true,
});
report('decryptExportBundle', words === mnemonic);
end();
