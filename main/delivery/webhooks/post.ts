/**
 * Posts events to an endpoint that a user named: in order over one connection, bounded in time and size, without
 * redirects, and only to where it may lead.
 */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { Outbound, OutboundError, type Answer, type Reach } from '../../net/outbound.ts';
import type { DeliveryOutcome } from '../queue/outbox.ts';

/** Events of one endpoint, in order. */
interface SignedBatch {
  readonly url: string;
  readonly reach: Reach;
  readonly events: Iterable<SignedEvent>;
}

interface SignedEvent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface PostLimits {
  /** Milliseconds for one answer. */
  readonly answerMs: number;
  /** Milliseconds after which no further event of a batch is begun: its signature is to be fresh. */
  readonly batchMs: number;
}

export const postLimits: PostLimits = { answerMs: 10_000, batchMs: 5_000 };

/** Bytes that are read of an answer, and characters that are kept. */
const largestAnswer = 64 * 1024;
const keptOfAnswer = 200;

/**
 * Connections that are kept between events. Each reach has its own, since a connection is checked only when
 * it opens.
 */
export class Poster {
  readonly #limits: PostLimits;
  readonly #agents = new Map<string, Agent>();

  constructor(limits: PostLimits = postLimits) {
    this.#limits = limits;
  }

  /** @returns the outcomes of the first events: as many as were tried, up to one that is to be tried again. */
  async post({ url, reach, events }: SignedBatch, signal: AbortSignal): Promise<DeliveryOutcome[]> {
    const address = new URL(url);
    const agent = this.#agent(address.protocol === 'https:', reach);
    const timeoutMs = this.#limits.answerMs;
    const method = 'POST';
    const outbound = new Outbound(address, {
      reach,
      method,
      timeoutMs,
      mostBytes: largestAnswer,
      signal,
      agent,
    });
    const isStopped = (): boolean => signal.aborted;
    const outcomes: DeliveryOutcome[] = [];
    const end = performance.now() + this.#limits.batchMs;
    for (const event of events) {
      if (isStopped()) break;
      const outcome = await postOne(outbound, event);
      // A post that was cut short here shows nothing about the receiver.
      if (isStopped() && outcome.outcome === 'retry') break;
      outcomes.push(outcome);
      if (outcome.outcome === 'retry' || performance.now() > end) break;
    }
    return outcomes;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #agent(isTls: boolean, reach: Reach): Agent {
    const name = `${isTls ? 'https' : 'http'} ${reach}`;
    let agent = this.#agents.get(name);
    if (agent === undefined) {
      const options = { keepAlive: true, maxFreeSockets: 64, timeout: 30_000 };
      agent = isTls ? new TlsAgent(options) : new Agent(options);
      this.#agents.set(name, agent);
    }
    return agent;
  }
}

async function postOne(outbound: Outbound, { headers, body }: SignedEvent): Promise<DeliveryOutcome> {
  try {
    return judge(await outbound.send(headers, body));
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.kind === 'refused') return { outcome: 'refused', note: error.message };
    const note = error.kind === 'late' ? error.message : `it could not be reached (${error.code})`;
    return { outcome: 'retry', note };
  }
}

/** As the real API: what the other side refuses is not sent again, what went wrong there is. */
function judge({ status, body }: Answer): DeliveryOutcome {
  if (status >= 200 && status < 300) return { outcome: 'delivered', note: `HTTP ${String(status)}` };
  if (status >= 300 && status < 400)
    return { outcome: 'refused', note: `HTTP ${String(status)}: redirects are not followed` };
  const text = body
    .toString('utf8', 0, keptOfAnswer * 4)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, keptOfAnswer);
  const note = `HTTP ${String(status)}${text === '' ? '' : `: ${text}`}`;
  return { outcome: status >= 500 ? 'retry' : 'refused', note };
}
