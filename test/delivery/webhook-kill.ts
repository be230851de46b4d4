/** Activities under `kill -9` of the vault at random moments, and a receiver that fails now and then. */
import { join } from 'node:path';
import { Connection } from '../../main/storage/connection.ts';
import { ServedVault } from '../campaigns/served-vault.ts';
import { newWallet, resultOf } from '../support/support.ts';
import { fetchWebhookKeys, WebhookReceiver } from './webhook-receiver.ts';

export interface KillReport {
  /** Revisions in the log since the endpoint was created. */
  readonly appended: number;
  /** Number of those that did not arrive. */
  readonly lost: number;
  /** Events that were accepted, and how many of them did not verify. */
  readonly accepted: number;
  readonly unverified: number;
  readonly kills: number;
  /** Events that came before one that is earlier in the log, at their first arrival. */
  readonly outOfOrder: number;
}

/** @param wanted How many activities at least, in so many rounds, each of which ends with a kill. */
export async function killUnderWebhooks(wanted: number, rounds: number): Promise<KillReport> {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await WebhookReceiver.start());
  const vault = resources.use(await ServedVault.make());
  let { process, client } = await vault.serve();
  const { ethereum } = await newWallet(client);
  const endpoint = { url: receiver.url, name: 'Receiver' };
  resultOf(await client.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', endpoint));
  receiver.keys = await fetchWebhookKeys(client.url);
  // One in forty goes wrong, in one of three ways.
  receiver.misbehave = (response, event) => {
    const dice = Math.random() * 120;
    if (dice >= 3) return false;
    if (dice < 1) response.writeHead(500).end();
    else if (dice < 2) response.destroy();
    else {
      // Taken, and the answer is lost: it has to come again.
      receiver.events.push(event);
      response.destroy();
    }
    return true;
  };

  let answered = 0;
  let kills = 0;
  for (let number = 1; number <= rounds; number++) {
    const until = Math.ceil((wanted * number) / rounds);
    let over = false;
    const isOver = (): boolean => over;
    const workers = Array.from({ length: 8 }, async () => {
      while (!isOver()) {
        const body = client.submitBody('SIGN_RAW_PAYLOAD_V2', {
          signWith: ethereum,
          payload: `payload ${String(Math.random())}`,
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_SHA256',
        });
        try {
          const { status } = await client.post('submit/sign_raw_payload', body);
          if (status !== 200) throw new Error(`HTTP ${String(status)}`);
          answered++;
        } catch (error) {
          // The vault was killed.
          if (isOver()) return;
          throw error;
        }
        if (answered >= until) {
          over = true;
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
          await process.stop('SIGKILL');
        }
      }
    });
    await Promise.all(workers);
    kills++;
    ({ process, client } = await vault.serve());
  }

  const connection = resources.adopt(Connection.openReadOnly(join(vault.directory, 'vault.db')), (open) => {
    open.close();
  });
  const waiting = (): number =>
    connection.get<{ count: number }>(
      `SELECT (SELECT max(sequence) FROM activities) - (SELECT min(place) FROM webhook_endpoints)
         + (SELECT count(*) FROM webhook_deliveries WHERE state = 'waiting') AS count`,
    )?.count ?? 0;
  const patience = Date.now() + 60_000 + wanted * 20;
  while (waiting() > 0) {
    if (Date.now() > patience) throw new Error(`${String(waiting())} events are still on their way`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if ((await process.stop()) !== 0) throw new Error('the vault did not end well');

  const log = connection.all<{ id: string; sequence: number }>(
    `SELECT id, sequence FROM activities
     WHERE sequence > (SELECT sequence FROM activities WHERE type = 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT')`,
  );
  const places = new Map(log.map(({ id, sequence }) => [id, sequence]));
  const arrived = [...new Set(receiver.ids)].map((id) => places.get(id) ?? 0);
  return {
    appended: log.length,
    lost: log.length - arrived.length,
    accepted: receiver.events.length,
    unverified: receiver.events.filter(({ verified }) => verified !== true).length,
    kills,
    outOfOrder: arrived.filter((place, index) => place < (arrived[index - 1] ?? 0)).length,
  };
}
