/**
 * Fetches JSON from an address that somebody else named: bounded in time and size, without redirects, and only from
 * where it may come. The address is checked as the connection is made, so that no name can change its mind in between.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { assertNever } from '../lib/errors.ts';
import { parsePlainJson } from '../lib/plain-json.ts';

/** Where a URL may lead: anywhere (by TLS, which proves the host), to this machine, or to the public Internet. */
export type Reach = 'anywhere' | 'this machine' | 'the Internet';

export interface GetOptions {
  /** How names become addresses; the system's way unless given. */
  readonly lookup?: typeof systemLookup | undefined;
  /** Milliseconds for the whole answer. */
  readonly timeoutMs?: number | undefined;
}

const timeout = 5_000;
const largestAnswer = 512 * 1024;

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
export class GetError extends Error {
  override readonly name = 'GetError';
}

/** @throws GetError */
export async function getJson(url: URL, reach: Reach, options: GetOptions = {}): Promise<unknown> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A literal address is connected to without being looked up.
  if (isIP(host) !== 0 && !mayLead(reach, host)) throw new GetError(notThere(host, reach));
  const milliseconds = options.timeoutMs ?? timeout;
  const signal = AbortSignal.timeout(milliseconds);
  try {
    const response = await get(url, guardedLookup(reach, options.lookup ?? systemLookup), signal);
    const text = await readText(response);
    return parsePlainJson(text);
  } catch (error) {
    if (error instanceof GetError) throw error;
    if (signal.aborted) throw new GetError(`it did not answer within ${String(milliseconds / 1000)} s`);
    if (error instanceof SyntaxError) throw new GetError('it did not answer JSON');
    throw new GetError(`it cannot be reached (${systemCode(error)})`);
  }
}

/** A connection of its own each time: what is asked for once in minutes needs none kept. */
const get = (url: URL, lookup: LookupFunction, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    request(url, { agent: false, headers: { accept: 'application/json' }, lookup, signal }, resolve)
      .on('error', reject)
      .end();
  });

async function readText(response: IncomingMessage): Promise<string> {
  try {
    const status = response.statusCode ?? 0;
    if (status >= 300 && status < 400) throw new GetError('it redirects, which is not followed');
    if (status !== 200) throw new GetError(`it answered HTTP ${String(status)}`);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > largestAnswer) {
        throw new GetError(`its answer is larger than ${String(largestAnswer / 1024)} KiB`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}

/** A lookup that refuses a name if any of its addresses is where it may not lead. */
export function guardedLookup(reach: Reach, lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (hostname: string, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) {
        callback(error, '');
        return;
      }
      const refused = addresses.find(({ address }) => !mayLead(reach, address));
      const [first] = addresses;
      if (refused) callback(new GetError(notThere(refused.address, reach)), '');
      else if (first === undefined) callback(new GetError('its name has no address'), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

export const notThere = (address: string, reach: Reach): string =>
  `it is at ${address}, which is not on ${reach}`;

/** The cause's name alone: its message may hold more than the caller should know. */
function systemCode(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'the connection failed';
}

function subnets(family: 'ipv4' | 'ipv6', ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
