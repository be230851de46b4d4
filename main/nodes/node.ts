/** The owner's node of one chain: asked over the network, bounded in time and size. Nothing that it answers is kept as true. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { z } from 'zod';
import { parseJson } from '../crypto/json.ts';
import { isThisMachine, networkIsOff } from '../lib/network.ts';
import { visibleLine } from '../lib/text/visible-text.ts';
import { rpcCodes, RpcError, writeJson } from '../lib/web/json-rpc.ts';
import { upTo } from '../lib/text/up-to.ts';
import { Outbound, OutboundError } from '../net/outbound.ts';

const timeoutMs = 30_000;
const mostBytes = 4 * 1024 * 1024;
const longestMessage = 1000;
const longestData = 100_000;

const answered = z.looseObject({
  id: z.number(),
  result: z.unknown().optional(),
  error: z
    .looseObject({
      code: z.number().optional(),
      message: z.string().optional(),
      data: z.unknown().optional(),
    })
    .nullish(),
});

/** The node did not say whether it did what it was asked. */
export class NoAnswer extends RpcError {}

/** The node refuses, with its own code, words and data. */
export class NodeRefusal extends RpcError {}

/** Asked before each call: what its owner says may change while a request is under way. */
interface OwnersWord {
  readonly isNetworkOn: () => boolean;
  /** False once another node is set, or none. */
  readonly isSet: () => boolean;
}

export class ChainNode {
  readonly url: string;
  readonly #chainId: bigint;
  readonly #owner: OwnersWord;
  readonly #here: boolean;
  readonly #outbound: Outbound;
  readonly #agent: HttpAgent;
  #lastId = 0;

  constructor(chainId: bigint, url: string, owner: OwnersWord) {
    const target = new URL(url);
    this.url = url;
    this.#chainId = chainId;
    this.#owner = owner;
    this.#here = isThisMachine(target.hostname);
    const options = { keepAlive: true, maxSockets: 32 };
    this.#agent = target.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
    const reach = this.#here ? 'this machine' : 'anywhere';
    this.#outbound = new Outbound(target, {
      reach,
      method: 'POST',
      timeoutMs,
      mostBytes,
      agent: this.#agent,
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** @throws RpcError with the node's own code and words, or `disconnected` where it is of another chain. */
  async check(): Promise<void> {
    const says = await this.number('eth_chainId', []);
    if (says === this.#chainId) return;
    throw new RpcError(
      rpcCodes.disconnected,
      `the node that is set for chain ${String(this.#chainId)} says that it is of chain ${String(says)}`,
    );
  }

  async number(method: string, params: readonly unknown[]): Promise<bigint> {
    const found = await this.ask(method, params);
    if (typeof found === 'string' && /^0x[0-9a-f]{1,64}$/i.test(found)) return BigInt(found);
    throw new RpcError(rpcCodes.internal, `the node answered ${method} with no number`);
  }

  /** @throws NodeRefusal, or NoAnswer, or RpcError where the network is off or the owner has set another node since. */
  async ask(method: string, params: readonly unknown[]): Promise<unknown> {
    if (!this.#here && !this.#owner.isNetworkOn()) throw new RpcError(rpcCodes.disconnected, networkIsOff);
    if (!this.#owner.isSet()) {
      throw new RpcError(
        rpcCodes.disconnected,
        `the node of chain ${String(this.#chainId)} was changed meanwhile: send the same request again`,
      );
    }
    const id = ++this.#lastId;
    const { result, error } = await this.#post(id, writeJson({ jsonrpc: '2.0', id, method, params }));
    if (error === undefined || error === null) return result;
    const { code = rpcCodes.internal, message = 'no reason', data } = error;
    const isLarge = data !== undefined && writeJson(data).length > longestData;
    throw new NodeRefusal(
      Number.isInteger(code) ? code : rpcCodes.internal,
      visibleLine(upTo(message, longestMessage)),
      isLarge ? undefined : data,
    );
  }

  async #post(id: number, body: string): Promise<z.output<typeof answered>> {
    const { status, body: bytes, isWhole } = await this.#send(body);
    if (status >= 300 && status < 400) throw noAnswer('it redirects, which is not followed');
    if (!isWhole) throw noAnswer(`its answer is larger than ${String(mostBytes / 1024 / 1024)} MiB`);
    let read;
    try {
      read = answered.safeParse(parseJson('answer', bytes.toString('utf8')));
    } catch {
      throw noAnswer(`it answered HTTP ${String(status)} without JSON`);
    }
    if (!read.success) throw noAnswer(`it answered HTTP ${String(status)}, not as JSON-RPC`);
    if (read.data.id !== id) throw noAnswer('it answered another call');
    return read.data;
  }

  async #send(body: string): Promise<Awaited<ReturnType<Outbound['send']>>> {
    try {
      return await this.#outbound.send(
        { 'Content-Type': 'application/json', Accept: 'application/json' },
        body,
      );
    } catch (error) {
      throw error instanceof OutboundError ? noAnswer(error.message) : error;
    }
  }
}

const noAnswer = (why: string): NoAnswer =>
  new NoAnswer(rpcCodes.internal, `the node gives no answer: ${why}`);
