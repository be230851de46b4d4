/**
 * The thread that signs events and posts them: while it does, the vault signs. The key lies in memory that both threads
 * share, and whoever locks the vault erases it there; this side reads it for each lot anew.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Reach } from '../auth/guarded-get.ts';
import type { Outcome } from '../outbox/outbox.ts';
import { eventSigner } from './event-headers.ts';
import { Poster } from './post.ts';
import { SharedKey } from './shared-key.ts';

/** Events of one endpoint, in order. */
export interface Lot {
  readonly url: string;
  readonly reach: Reach;
  /** The name of the key that signs them. */
  readonly keyId: string;
  readonly timestampMs: number;
  readonly events: readonly LotEvent[];
}

export interface LotEvent {
  readonly eventId: string;
  readonly organizationId: string;
  /** The body. */
  readonly text: string;
}

/** What the thread is told: a lot to post, or to end what is under way. */
export type Order = { readonly id: number; readonly lot: Lot } | { readonly stop: true };

export interface Report {
  readonly id: number;
  /** As many of the first events as were tried; none where the vault was locked meanwhile. */
  readonly outcomes: readonly Outcome[];
}

const port = parentPort;
if (port === null) throw new Error('webhooks are posted in a thread');
const shared = new SharedKey(workerData as SharedArrayBuffer);
const poster = new Poster();
const stopping = new AbortController();

port.on('message', (order: Order) => {
  if ('stop' in order) {
    stopping.abort();
    return;
  }
  void post(order.lot).then((outcomes) => {
    port.postMessage({ id: order.id, outcomes } satisfies Report);
  });
});

async function post({ url, reach, keyId, timestampMs, events }: Lot): Promise<readonly Outcome[]> {
  const key = shared.take();
  if (key === undefined) return [];
  let signed;
  try {
    const headersOf = eventSigner(key, keyId);
    signed = events.map(({ text, ...head }) => {
      const body = Buffer.from(text);
      return { headers: headersOf({ ...head, timestampMs }, body), body };
    });
  } finally {
    key.fill(0);
  }
  return await poster.post({ url, reach, events: signed }, stopping.signal);
}
