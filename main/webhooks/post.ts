/**
 * Posts events to an endpoint that somebody named: in order over one connection, bounded in time and size, without
 * redirects, and only to where it may lead.
 */
import { Agent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { GetError, guardedLookup, mayLead, notThere, type Reach } from '../auth/guarded-get.ts';
import type { Outcome } from '../outbox/outbox.ts';

/** Events of one endpoint, in order. */
interface SignedLot {
  readonly url: string;
  readonly reach: Reach;
  readonly events: readonly SignedEvent[];
}

interface SignedEvent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface PostLimits {
  /** Milliseconds for one answer. */
  readonly answerMs: number;
  /** Milliseconds after which no further event of a lot is begun: its signature is to be fresh. */
  readonly lotMs: number;
}

export const postLimits: PostLimits = { answerMs: 10_000, lotMs: 5_000 };

/** What is read of an answer, and what is kept of it. */
const largestAnswer = 64 * 1024;
const keptOfAnswer = 200;

/** Connections that are kept between events. Each reach has its own: a connection is checked when it is made. */
export class Poster {
  readonly #limits: PostLimits;
  readonly #agents = new Map<string, Agent>();

  constructor(limits: PostLimits = postLimits) {
    this.#limits = limits;
  }

  /** @returns the outcomes of the first events: as many as were tried, up to one that is to be tried again. */
  async post({ url, reach, events }: SignedLot, signal: AbortSignal): Promise<Outcome[]> {
    const target = new URL(url);
    const outcomes: Outcome[] = [];
    const end = performance.now() + this.#limits.lotMs;
    for (const event of events) {
      const outcome = await this.#postOne(target, reach, event, signal);
      // What was cut short here says nothing of the other side.
      if (signal.aborted && outcome.outcome === 'retry') break;
      outcomes.push(outcome);
      if (outcome.outcome === 'retry' || performance.now() > end || signal.aborted) break;
    }
    return outcomes;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #postOne(url: URL, reach: Reach, event: SignedEvent, signal: AbortSignal): Promise<Outcome> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // A literal address is connected to without being looked up.
    if (isIP(host) !== 0 && !mayLead(reach, host)) return { outcome: 'refused', note: notThere(host, reach) };
    const timeout = AbortSignal.timeout(this.#limits.answerMs);
    const both = AbortSignal.any([signal, timeout]);
    try {
      const answer = await this.#exchange(url, reach, event, both);
      return judge(answer);
    } catch (error) {
      if (error instanceof GetError) return { outcome: 'refused', note: error.message };
      if (timeout.aborted) {
        return {
          outcome: 'retry',
          note: `it did not answer within ${String(this.#limits.answerMs / 1000)} s`,
        };
      }
      return { outcome: 'retry', note: `it could not be reached (${systemCode(error)})` };
    }
  }

  /** A kept connection may be closed by the other side just as it is used again: that is tried once more, on a new one. */
  async #exchange(url: URL, reach: Reach, event: SignedEvent, signal: AbortSignal): Promise<Answer> {
    const sent = this.#send(url, reach, event, signal);
    try {
      return await answerOf(sent);
    } catch (error) {
      if (!sent.reusedSocket || signal.aborted || !closedBefore.has(systemCode(error))) throw error;
      return answerOf(this.#send(url, reach, event, signal));
    }
  }

  #send(url: URL, reach: Reach, { headers, body }: SignedEvent, signal: AbortSignal): ClientRequest {
    const isTls = url.protocol === 'https:';
    const sent = (isTls ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent: this.#agent(isTls, reach),
      headers: { ...headers, 'Content-Length': body.length },
      lookup: guardedLookup(reach),
      signal,
    });
    sent.end(body);
    return sent;
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

const closedBefore = new Set(['ECONNRESET', 'EPIPE']);

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function answerOf(sent: ClientRequest): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  // Once answered, what still goes wrong with the connection is said by reading.
  sent.on('error', () => undefined);
  const status = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (length < keptOfAnswer) chunks.push(chunk);
    length += chunk.length;
    // Its status has said all there is to know: the rest is not waited for.
    if (length > largestAnswer) break;
  }
  const text = Buffer.concat(chunks).toString('utf8', 0, keptOfAnswer * 4);
  return {
    status,
    text: text
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim()
      .slice(0, keptOfAnswer),
  };
}

/** As the real API: what the other side refuses is not sent again, what went wrong there is. */
function judge({ status, text }: Answer): Outcome {
  const note = `HTTP ${String(status)}${text === '' ? '' : `: ${text}`}`;
  if (status >= 200 && status < 300) return { outcome: 'delivered', note: `HTTP ${String(status)}` };
  if (status >= 300 && status < 400)
    return { outcome: 'refused', note: `HTTP ${String(status)}: redirects are not followed` };
  return status >= 500 ? { outcome: 'retry', note } : { outcome: 'refused', note };
}

function systemCode(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'the connection failed';
}
