/**
 * Requests to other machines: bounded in time and size, without redirects, and only to allowed addresses. The
 * address is checked when the connection opens, so a name cannot resolve differently in between.
 */
import { lookup as systemLookup, type LookupOptions } from 'node:dns';
import { request as requestHttp, type Agent, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { ExplainedError, assertNever } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import { isThisMachine } from '../lib/network.ts';
import { internetLookup } from './internet-names.ts';
import { parsePlainJson } from '../lib/plain-json.ts';

/**
 * The addresses that a URL may lead to: all (with TLS, which proves the host), this machine, or the public
 * Internet.
 */
export type Reach = 'anywhere' | 'this machine' | 'the Internet';

/** IANA's special-purpose addresses (RFC 6890 and its registries): nothing of the public Internet is there. */
const specialPurpose4 = subnets('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);
/** Of IPv6 it is the other way round: only the global unicast range is public, but for these parts of it. */
const globalUnicast6 = subnets('ipv6', [['2000::', 3]]);
const specialPurpose6 = subnets('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);
const loopback4 = subnets('ipv4', [['127.0.0.0', 8]]);

/** @param address IPv4 or IPv6. */
export function mayLead(reach: Reach, address: string): boolean {
  const isVersion4 = isIP(address) === 4;
  switch (reach) {
    case 'anywhere':
      return true;
    case 'this machine':
      return isVersion4 ? loopback4.check(address) : address === '::1';
    case 'the Internet':
      return isVersion4
        ? !specialPurpose4.check(address)
        : globalUnicast6.check(address, 'ipv6') && !specialPurpose6.check(address, 'ipv6');
    default:
      return assertNever(reach);
  }
}

/** Why there is no answer, in words that follow the address: "it redirects, …". */
export class OutboundError extends ExplainedError {
  override readonly name = 'OutboundError';
  /** A refused request would be refused again; the others may succeed on a retry. */
  readonly kind: 'refused' | 'late' | 'unreachable';
  /** The cause's name alone: its message may hold more than the caller should know, such as a URL with a secret. */
  readonly code: string;

  constructor(kind: OutboundError['kind'], message: string, code = '') {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export interface OutboundOptions {
  readonly reach: Reach;
  /** GET unless given. */
  readonly method?: string;
  /** Milliseconds for the whole answer. */
  readonly timeoutMs: number;
  /** Bytes that are read of an answer; the rest is ignored. */
  readonly mostBytes: number;
  readonly signal?: AbortSignal;
  /**
   * Keeps connections; without it each request has its own. One agent serves one reach, since a connection is
   * checked only when it opens.
   */
  readonly agent?: Agent;
  /** Resolves names; unless given, the system does, or for the Internet this process. */
  readonly lookup?: LookupFunction | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** How the body is encoded, which was not asked for: it is never decoded here. */
  readonly encoding: string | undefined;
  /** False where there is more of it than was read. */
  readonly isWhole: boolean;
}

/** Requests to one URL. It is put together once: a request costs the processor little more than its way through the system. */
export class Outbound {
  readonly #options: OutboundOptions;
  readonly #request: RequestOptions & Pick<ConnectionOptions, 'rejectUnauthorized'>;
  readonly #refusal: OutboundError | undefined;

  constructor({ protocol, hostname, port, pathname, search }: URL, options: OutboundOptions) {
    const { reach, method = 'GET', agent = false, lookup = lookupFor(reach, hostname) } = options;
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#options = options;
    this.#request = {
      ...{ protocol, host, port, path: pathname + search, method, agent },
      lookup: guardedLookup(reach, lookup),
      // Else a variable of the environment (NODE_TLS_REJECT_UNAUTHORIZED) decides.
      rejectUnauthorized: true,
    };
    // A literal address is connected to without being looked up.
    if (isIP(host) !== 0 && !mayLead(reach, host)) this.#refusal = refusal(notThere(host, reach));
  }

  /** @throws OutboundError */
  async send(headers: Readonly<Record<string, string>> = {}, body?: string | Uint8Array): Promise<Answer> {
    if (this.#refusal !== undefined) throw this.#refusal;
    try {
      return await this.#send(headers, body);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw explained(error);
    }
    try {
      return await this.#send(headers, body);
    } catch (error) {
      throw explained(error);
    }
  }

  #send(headers: Readonly<Record<string, string>>, body: string | Uint8Array | undefined): Promise<Answer> {
    const { timeoutMs, mostBytes, signal } = this.#options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const sent = (this.#request.protocol === 'https:' ? requestHttps : requestHttp)({
        ...this.#request,
        headers: body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
      });
      const stop = owned(() => sent.destroy(), reject);
      signal?.addEventListener('abort', stop, { once: true });
      const late = setTimeout(
        owned(() => sent.destroy(tooLate(timeoutMs)), reject),
        timeoutMs,
      );
      const failed = (error: Error): void => {
        reject(sent.reusedSocket && closedBefore.has(codeOf(error)) ? new StaleConnection() : error);
      };
      sent.on('error', owned(failed, reject));
      const closed = (): void => {
        clearTimeout(late);
        signal?.removeEventListener('abort', stop);
        // After what was answered or went wrong this changes nothing.
        reject(new Error('the connection was closed'));
      };
      sent.on('close', owned(closed, reject));
      const answered = (response: IncomingMessage): void => {
        read(response, mostBytes, resolve, reject);
      };
      sent.on('response', owned(answered, reject));
      sent.end(body);
    });
  }
}

/** A kept connection was closed by the other side just as it was used again: that is tried once more, on a new one. */
class StaleConnection extends Error {}

const closedBefore = new Set(['ECONNRESET', 'EPIPE']);

function read(
  response: IncomingMessage,
  mostBytes: number,
  resolve: (answer: Answer) => void,
  reject: (error: unknown) => void,
): void {
  // One buffer that grows: a list of chunks would cost the memory of an object for each byte that is sent alone.
  let body = Buffer.alloc(0);
  let length = 0;
  const answer = (isWhole: boolean): void => {
    const { statusCode: status = 0, headers } = response;
    resolve({ status, body: body.subarray(0, length), encoding: headers['content-encoding'], isWhole });
  };
  const take = (chunk: Buffer): void => {
    const taken = chunk.subarray(0, mostBytes - length);
    if (length + taken.length > body.length) {
      const larger = Buffer.alloc(Math.min(mostBytes, Math.max(2 * body.length, length + chunk.length)));
      body.copy(larger, 0, 0, length);
      body = larger;
    }
    taken.copy(body, length);
    length += taken.length;
    if (taken.length === chunk.length) return;
    answer(false);
    response.destroy();
  };
  const end = (): void => {
    answer(true);
  };
  response.on('data', owned(take, reject));
  response.on('end', owned(end, reject));
  response.on('error', reject);
}

const jsonTimeout = 5_000;
const largestJson = 512 * 1024;

export interface GetOptions extends Pick<OutboundOptions, 'lookup'> {
  readonly timeoutMs?: number | undefined;
}

/** @throws OutboundError */
export async function getJson(
  url: URL,
  reach: Reach,
  { timeoutMs = jsonTimeout, lookup }: GetOptions = {},
): Promise<unknown> {
  const outbound = new Outbound(url, { reach, timeoutMs, mostBytes: largestJson, lookup });
  const { status, body, isWhole } = await outbound.send({ accept: 'application/json' });
  if (status >= 300 && status < 400) throw refusal('it redirects, which is not followed');
  if (status !== 200) throw refusal(`it answered HTTP ${String(status)}`);
  if (!isWhole) throw refusal(`its answer is larger than ${String(largestJson / 1024)} KiB`);
  try {
    return parsePlainJson(body.toString('utf8'));
  } catch (error) {
    throw error instanceof SyntaxError ? refusal('it did not answer JSON') : error;
  }
}

/** A name on the Internet is another's, and so is its name server. Those of this machine are known to the system alone. */
const lookupFor = (reach: Reach, hostname: string): LookupFunction =>
  reach === 'the Internet' && !isThisMachine(hostname) ? internetLookup() : systemLookup;

/** A lookup that refuses a name if any of its addresses is where it may not lead. */
function guardedLookup(reach: Reach, lookup: LookupFunction): LookupFunction {
  return (hostname: string, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) {
        callback(error, '');
        return;
      }
      if (typeof addresses === 'string') throw new Error('a lookup of all addresses answered one');
      const refused = addresses.find(({ address }) => !mayLead(reach, address));
      const [first] = addresses;
      if (refused) callback(refusal(notThere(refused.address, reach)), '');
      else if (first === undefined) callback(refusal('its name has no address'), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

const notThere = (address: string, reach: Reach): string => `it is at ${address}, which is not on ${reach}`;

const refusal = (message: string): OutboundError => new OutboundError('refused', message);

const tooLate = (timeoutMs: number): OutboundError =>
  new OutboundError('late', `it did not answer within ${String(timeoutMs / 1000)} s`);

const explained = (error: unknown): OutboundError =>
  error instanceof OutboundError
    ? error
    : new OutboundError('unreachable', `it cannot be reached (${codeOf(error)})`, codeOf(error));

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'the connection failed';
}

function subnets(family: 'ipv4' | 'ipv6', ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
