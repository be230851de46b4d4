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
import { owned } from '../lib/faults.ts';

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

export type Report =
  | {
      readonly id: number;
      /** As many of the first events as were tried; none where the vault was locked meanwhile. */
      readonly outcomes: readonly Outcome[];
    }
  | { readonly id: number; readonly fault: unknown };

const port = parentPort;
if (port === null) throw new Error('webhooks are posted in a thread');
const shared = new SharedKey(workerData as SharedArrayBuffer);
const poster = new Poster();
const stopping = new AbortController();

async function obey(order: Order): Promise<void> {
  if ('stop' in order) stopping.abort();
  else port?.postMessage(await report(order));
}
port.on('message', owned(obey));

/** A fault ends its own lot, and not the thread with the lots of all others. */
async function report({ id, lot }: Extract<Order, { id: number }>): Promise<Report> {
  try {
    return { id, outcomes: await post(lot) };
  } catch (fault) {
    return { id, fault };
  }
}

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
