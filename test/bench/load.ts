/** A load generator: a fixed number of connections, each with one request under way at a time. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const usualConnections = 16;

export interface LoadRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the load generator itself for one request. */
  readonly clientUs: number;
}

export interface LoadOptions {
  readonly connections?: number;
  /** Requests a second at most; as many as are answered unless given. */
  readonly perSecond?: number;
  /** Text of each answer; JSON-RPC answers 200 for an error too. */
  readonly answers?: string;
}

/**
 * @param next Answers the next request; undefined ends the run early, which is an error.
 * @throws Error at the first answer that is not 200, or without the text.
 */
export async function runLoad(
  url: string,
  next: () => LoadRequest | undefined,
  seconds: number,
  { connections = usualConnections, perSecond = Infinity, answers = '' }: LoadOptions = {},
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  const used = process.cpuUsage();
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const due = start + (begun++ / perSecond) * 1000;
      if (due > performance.now()) await sleep(due - performance.now());
      const item = next();
      if (item === undefined) throw new Error('the prepared requests ran out: prepare more of them');
      const sent = performance.now();
      await post(agent, url, item, answers);
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const elapsed = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(used);
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return {
    requests: latencies.length,
    perSecond: latencies.length / elapsed,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    clientUs: (user + system) / latencies.length,
  };
}

function post(agent: Agent, url: string, { body, headers }: LoadRequest, answers: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (answer) => {
        if (answer.statusCode !== 200) {
          reject(new Error(`${url} answered ${String(answer.statusCode)}`));
          return;
        }
        if (answers === '') {
          answer.on('end', resolve).on('error', reject).resume();
          return;
        }
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (text.includes(answers)) resolve();
          else reject(new Error(`${url} answered ${text.slice(0, 300)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
