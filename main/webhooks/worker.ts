/** The thread that posts events: while it speaks to receivers the vault signs, and what it is given is signed already. */
import { parentPort } from 'node:worker_threads';
import type { Outcome } from '../outbox/outbox.ts';
import { Poster, type Lot } from './post.ts';

/** What the thread is told: a lot to post, or to end what is under way. */
export type Order = { readonly id: number; readonly lot: Lot } | { readonly stop: true };

export interface Report {
  readonly id: number;
  readonly outcomes: readonly Outcome[];
}

const port = parentPort;
if (port === null) throw new Error('webhooks are posted in a thread');
const poster = new Poster();
const stopping = new AbortController();

port.on('message', (order: Order) => {
  if ('stop' in order) {
    stopping.abort();
    return;
  }
  void poster.post(order.lot, stopping.signal).then((outcomes) => {
    port.postMessage({ id: order.id, outcomes } satisfies Report);
  });
});
