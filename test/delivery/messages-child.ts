/**
 * A process that commits messages and dies before it delivers any, as a kill at that moment would have it. Its argument is
 * `Orders` in JSON.
 */
import { makeConfig } from '../../main/app/config.ts';
import type { OutgoingMessage } from '../../main/lib/messages.ts';
import { openVault } from '../../main/app/compose.ts';

export interface Orders {
  readonly directory: string;
  readonly phrase: string;
  readonly organizationId: string;
  readonly messages: readonly OutgoingMessage[];
}

const [, , orders = '{}'] = process.argv;
const { directory, phrase, organizationId, messages } = JSON.parse(orders) as Orders;
const vault = openVault(makeConfig({ dataDir: directory, keychain: false }, {}));
await vault.rpc.unlock({ with: 'recovery', phrase });
await vault.units.write((tx) => {
  for (const message of messages) vault.messages.post(tx, organizationId, message);
});
process.kill(process.pid, 'SIGKILL');
