/**
 * Posts events to an endpoint that somebody named: in order over one connection, bounded in time and size, without
 * redirects, and only to where it may lead.
 */
import {
  Agent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { GetError, guardedLookup, mayLead, notThere, type Reach } from '../auth/guarded-get.ts';
import type { Outcome } from '../outbox/outbox.ts';
import { owned } from '../lib/faults.ts';

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
    const { protocol, hostname, port, pathname, search } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    // A literal address is connected to without being looked up.
    if (isIP(host) !== 0 && !mayLead(reach, host)) {
      return events.map(() => ({ outcome: 'refused', note: notThere(host, reach) }));
    }
    const isTls = protocol === 'https:';
    // Put together once for the lot: an event costs the processor little more than its way through the system.
    const options: RequestOptions = {
      ...{ protocol, host, port, path: pathname + search, method: 'POST' },
      ...{ agent: this.#agent(isTls, reach), lookup: guardedLookup(reach) },
    };
    const line: Line = {
      send: isTls ? requestHttps : requestHttp,
      options,
      current: undefined,
      isStopped: false,
    };
    const isStopped = (): boolean => signal.aborted;
    const stop = (): void => {
      line.isStopped = true;
      line.current?.destroy();
    };
    signal.addEventListener('abort', stop, { once: true });
    const outcomes: Outcome[] = [];
    const end = performance.now() + this.#limits.lotMs;
    try {
      for (const event of events) {
        if (isStopped()) break;
        const outcome = await this.#postOne(line, event);
        // What was cut short here says nothing of the other side.
        if (isStopped() && outcome.outcome === 'retry') break;
        outcomes.push(outcome);
        if (outcome.outcome === 'retry' || performance.now() > end) break;
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return outcomes;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #postOne(line: Line, event: SignedEvent): Promise<Outcome> {
    try {
      return judge(await this.#exchange(line, event));
    } catch (error) {
      if (error instanceof GetError) return { outcome: 'refused', note: error.message };
      const note =
        error instanceof LateError
          ? `it did not answer within ${String(this.#limits.answerMs / 1000)} s`
          : `it could not be reached (${systemCode(error)})`;
      return { outcome: 'retry', note };
    }
  }

  /** A kept connection may be closed by the other side just as it is used again: that is tried once more, on a new one. */
  async #exchange(line: Line, event: SignedEvent): Promise<Answer> {
    try {
      return await this.#send(line, event);
    } catch (error) {
      const mayBeStale = line.current?.reusedSocket === true && closedBefore.has(systemCode(error));
      if (!mayBeStale || line.isStopped) throw error;
      return await this.#send(line, event);
    }
  }

  #send(line: Line, { headers, body }: SignedEvent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = line.send({ ...line.options, headers: { ...headers, 'Content-Length': body.length } });
      line.current = sent;
      const late = setTimeout(
        owned(() => sent.destroy(new LateError()), reject),
        this.#limits.answerMs,
      );
      sent.on('error', reject);
      const closed = (): void => {
        clearTimeout(late);
        // After what was answered or went wrong this changes nothing.
        reject(new Error('the connection was closed'));
      };
      sent.on('close', owned(closed, reject));
      const answered = (response: IncomingMessage): void => {
        read(response, resolve, reject);
      };
      sent.on('response', owned(answered, reject));
      sent.end(body);
    });
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

/** Where the events of a lot go, and what is under way there. */
interface Line {
  readonly send: typeof requestHttp;
  readonly options: RequestOptions;
  current: ClientRequest | undefined;
  isStopped: boolean;
}

class LateError extends Error {}

const closedBefore = new Set(['ECONNRESET', 'EPIPE']);

interface Answer {
  readonly status: number;
  readonly text: string;
}

function read(
  response: IncomingMessage,
  resolve: (answer: Answer) => void,
  reject: (error: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const answer = (): void => {
    const text = Buffer.concat(chunks).toString('utf8', 0, keptOfAnswer * 4);
    resolve({
      status: response.statusCode ?? 0,
      text: text
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim()
        .slice(0, keptOfAnswer),
    });
  };
  const take = (chunk: Buffer): void => {
    if (length < keptOfAnswer) chunks.push(chunk);
    length += chunk.length;
    if (length <= largestAnswer) return;
    // Its status has said all there is to know: the rest is not waited for.
    answer();
    response.destroy();
  };
  response.on('data', owned(take, reject));
  response.on('end', owned(answer, reject));
  response.on('error', reject);
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
