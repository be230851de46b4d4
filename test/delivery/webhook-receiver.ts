/**
 * A receiver of webhooks on this machine, which verifies as the vendor's receivers do, and fails on demand.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyTurnkeyWebhookSignature } from '@turnkey/crypto';
import type { TurnkeyWebhookVerificationKey } from '@turnkey/crypto';
import { send } from '../support/support.ts';
import type { ActivityBody } from '../support/support.ts';

export interface ReceivedEvent {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: ActivityBody;
  /** The verdict of the vendor's library; undefined if the receiver has no keys. */
  readonly verified: boolean | undefined;
}

/** Answers a request itself; undefined leaves it to the receiver, which answers 200. */
export type Misbehaviour = (response: ServerResponse, event: ReceivedEvent) => boolean | undefined;

export class WebhookReceiver implements AsyncDisposable {
  readonly events: ReceivedEvent[] = [];
  misbehave: Misbehaviour | undefined;
  /** Its clock. */
  now = (): number => Date.now();
  keys: readonly TurnkeyWebhookVerificationKey[] | undefined;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  static async start(port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}/hook`;
  }

  /** Ids of activities, in the order in which their events were accepted. */
  get ids(): string[] {
    return this.events.map(({ body }) => body.id);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString('utf8');
    const { headers } = request;
    const verified =
      this.keys &&
      verifyTurnkeyWebhookSignature({
        headers,
        body: new Uint8Array(bytes),
        verificationKeys: [...this.keys],
        maxTimestampAgeMs: 5 * 60_000,
        nowMs: this.now(),
      }).ok;
    const event = { headers, text, body: JSON.parse(text) as ActivityBody, verified };
    if (this.misbehave?.(response, event) === true) return;
    this.events.push(event);
    response.end('thanks');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The vault's keys, as a receiver fetches them, in the form that the vendor's library takes. */
export async function fetchWebhookKeys(url: string): Promise<TurnkeyWebhookVerificationKey[]> {
  const answer = await send(url, { method: 'GET', path: '/public/v1/discovery/webhooks/jwks' });
  const { keys } = answer.body as unknown as { keys: { kid: string; x: string }[] };
  return keys.map(({ kid, x }) => ({
    keyId: kid,
    publicKey: Buffer.from(x, 'base64url').toString('hex'),
    algorithm: 'ed25519',
  }));
}
