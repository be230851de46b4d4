/**
 * Floods a service over many connections, as a program of its own: signatures, long questions, large bodies, and strangers with
 * the largest bodies that are read. It ends with its standard input, and prints what was answered as a line of JSON.
 */
import { Agent, request } from 'node:http';
import { newTestKey, testKeyOf } from '../support/support.ts';
import type { TestKey } from '../support/support.ts';

/** The only argument of a flood. */
export interface FloodPlan {
  readonly url: string;
  readonly organizationId: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly signWith: string;
  /** Of each kind of request. */
  readonly connections: number;
}

/** The result of a flood. */
export interface Flooded {
  /** Ids of the activities whose signatures were answered. */
  readonly signed: readonly string[];
  /** The number of answers with each status, by path. */
  readonly statuses: Readonly<Record<string, number>>;
}

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly stamp: string;
}

const mostBytes = 4 * 1024 * 1024;

/** Each kind of request; what does not change is stamped once. */
function kindsOf(plan: FloodPlan, key: TestKey): readonly (() => Sent)[] {
  const { organizationId, signWith } = plan;
  const query = (path: string, parameters: object, by: TestKey = key): (() => Sent) => {
    const body = JSON.stringify({ organizationId, ...parameters });
    const sent = { path: `query/${path}`, body, stamp: by.stamp(body) };
    return () => sent;
  };
  const stranger = newTestKey();
  const list = `[${Array.from({ length: 25 }, (_, index) => String(index)).join(', ')}]`;
  const rules = Array.from({ length: 20 }, (_, index) => ({
    effect: 'EFFECT_ALLOW',
    condition: `${list}.all(x, ${list}.any(y, x == y)) && activity.action == 'SIGN ${String(index)}'`,
  }));
  const room = mostBytes - 200;
  let count = 0;
  const sign = (): Sent => {
    const body = JSON.stringify({
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      timestampMs: String(Date.now()),
      organizationId,
      parameters: {
        signWith,
        payload: `flood ${String(process.pid)} ${String(count++)}`,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      },
    });
    return { path: 'submit/sign_raw_payload', body, stamp: key.stamp(body) };
  };
  return [
    sign,
    query('test_policies', { policies: rules, limit: 1000 }),
    query('describe_payload', {
      unsignedTransaction: '',
      signWith: [],
      preimage: { list: Array(320_000).fill('') },
    }),
    query('whoami', { padding: 'x'.repeat(room) }, stranger),
    query('whoami', { padding: Array(Math.floor(room / 3)).fill(7) }, stranger),
  ];
}

async function flood(plan: FloodPlan): Promise<void> {
  const key = testKeyOf(plan.privateKey, plan.publicKey);
  const agent = new Agent({ keepAlive: true });
  const signed: string[] = [];
  const statuses: Record<string, number> = {};
  let isOver = false;
  const count = (what: string): void => {
    statuses[what] = (statuses[what] ?? 0) + 1;
  };
  const work = async (next: () => Sent): Promise<void> => {
    while (!isOver) {
      const sent = next();
      try {
        const { status, text } = await post(agent, plan.url, sent);
        count(`${sent.path} ${String(status)}`);
        if (sent.path === 'submit/sign_raw_payload' && status === 200) {
          signed.push((JSON.parse(text) as { activity: { id: string } }).activity.id);
        }
      } catch (error) {
        count(`${sent.path} ${String((error as NodeJS.ErrnoException).code)}`);
      }
    }
  };
  process.stdin.resume().once('end', () => {
    isOver = true;
  });
  process.stdout.write('flooding\n');
  const workers = kindsOf(plan, key).flatMap((kind) =>
    Array.from({ length: plan.connections }, () => work(kind)),
  );
  await Promise.all(workers);
  agent.destroy();
  process.stdout.write(`${JSON.stringify({ signed, statuses } satisfies Flooded)}\n`);
}

function post(
  agent: Agent,
  url: string,
  { path, body, stamp }: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-stamp': stamp,
    };
    const sent = request(`${url}/public/v1/${path}`, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer
        .setEncoding('utf8')
        .on('data', (part: string) => (text += part))
        .on('end', () => {
          resolve({ status: answer.statusCode ?? 0, text });
        })
        .on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}

const [, script = '', plan] = process.argv;
if (script === import.meta.filename && plan !== undefined) await flood(JSON.parse(plan) as FloodPlan);
