/**
 * The thread that signs events and posts them, so that the vault signs meanwhile. The key is in memory that
 * both threads share, and a lock of the vault erases it there. This thread reads the key again for each
 * batch, and looks before each event whether it is still there.
 */
import { workerData } from 'node:worker_threads';
import { serveJobs } from '../../lib/concurrency/thread.ts';
import type { Reach } from '../../net/outbound.ts';
import type { DeliveryOutcome } from '../queue/outbox.ts';
import { eventSigner } from './sign-event.ts';
import { Poster } from './post.ts';
import { SharedKey } from './shared-key.ts';

/** Events of one endpoint, in order. */
export interface Batch {
  readonly url: string;
  readonly reach: Reach;
  /** The name of the key that signs them. */
  readonly keyId: string;
  readonly timestampMs: number;
  /** The number of the key in shared memory: once another is there, nothing more of the batch is sent. */
  readonly put: number;
  /** In memory that both threads share: once it holds 1, nothing more of the batch is sent. */
  readonly ended: Uint8Array;
  readonly events: readonly BatchEvent[];
}

export interface BatchEvent {
  readonly eventId: string;
  readonly organizationId: string;
  /** The body. */
  readonly text: string;
}

const shared = new SharedKey(workerData as SharedArrayBuffer);
const poster = new Poster();
const stopping = new AbortController();

/** @returns as many outcomes of the first events as were tried. */
async function post(batch: Batch): Promise<readonly DeliveryOutcome[]> {
  const { url, reach, keyId, timestampMs, events } = batch;
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
  return await poster.post({ url, reach, events: whileWanted(signed, batch) }, stopping.signal);
}

/**
 * The key is erased at a lock, and a batch is ended when an endpoint of its organization changes: then what was signed is not
 * sent either.
 */
function* whileWanted<Event>(
  events: readonly Event[],
  { put, ended }: Pick<Batch, 'put' | 'ended'>,
): Generator<Event> {
  for (const event of events) {
    if (!shared.holds(put) || Atomics.load(ended, 0) === 1) return;
    yield event;
  }
}

const jobs = {
  post,
  /** Ends what is under way; what was delivered by then is still told. */
  stop: (): void => {
    stopping.abort();
  },
};

export type WebhookJobs = typeof jobs;

serveJobs(jobs, () => {
  stopping.abort();
  poster.close();
});
