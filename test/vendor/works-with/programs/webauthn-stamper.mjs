import { TurnkeyClient } from '@turnkey/http';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';
import { activity, assertPasskey, end, report, vault } from './report.mjs';

// A browser has this by itself.
Object.defineProperty(globalThis, 'navigator', {
  value: { credentials: { get: assertPasskey } },
});

const { organizationId } = vault;
const client = new TurnkeyClient({ baseUrl: vault.url }, new WebauthnStamper({ rpId: 'localhost' }));
report('getWhoami', await client.getWhoami({ organizationId }));
const parameters = { walletName: `passkey ${Date.now()}`, accounts: [] };
const made = await client.createWallet(activity('ACTIVITY_TYPE_CREATE_WALLET', parameters));
report('createWallet by a passkey', made.activity.votes[0].scheme);
end();
