import type { lookup as systemLookup } from 'node:dns';
import { Agent, createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, Agent as TlsAgent } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { localCertificate } from '../../test/support/certificates.ts';
import { getJson, mayLead, Outbound, type OutboundOptions } from './outbound.ts';

let resources = new AsyncDisposableStack();
let connections = 0;
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
  connections = 0;
});

/** @returns the port of a server that answers so. */
async function serve(answer: RequestListener): Promise<number> {
  const server = createServer(answer).on('connection', () => connections++);
  resources.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const at = (port: number, host = '127.0.0.1'): URL => new URL(`http://${host}:${port}/keys`);

/** Answers a name's addresses as the system's lookup does. */
const resolving = (...addresses: readonly string[]): typeof systemLookup =>
  ((_host: string, _options: unknown, callback: (error: null, addresses: unknown) => void) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as unknown as typeof systemLookup;

// The class: a variable that some other program needs lets a stranger between answer as the issuer, the node or the vault.
test('a certificate that is not trusted is refused, also where the environment says to trust any', async () => {
  const { certificate: cert, key } = localCertificate();
  let asked = 0;
  const server = createTlsServer({ cert, key }, (_request, response) => {
    asked += 1;
    response.end('{"keys":[]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`https://localhost:${String((server.address() as AddressInfo).port)}/keys`);
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const agent = new TlsAgent({ keepAlive: true });
  try {
    await expect(getJson(url, 'this machine')).rejects.toMatchObject({ name: 'OutboundError' });
    const kept = new Outbound(url, { reach: 'anywhere', timeoutMs: 20_000, mostBytes: 100, agent });
    await expect(kept.send()).rejects.toMatchObject({ name: 'OutboundError' });
  } finally {
    vi.unstubAllEnvs();
    agent.destroy();
    server.close();
    server.closeAllConnections();
  }
  expect(asked).toBe(0);
});

describe('getJson', () => {
  test('answers what is served', async () => {
    const port = await serve((_request, response) => response.end('{"keys":[]}'));
    expect(await getJson(at(port), 'this machine')).toEqual({ keys: [] });
    expect(await getJson(at(port, 'localhost'), 'this machine')).toEqual({ keys: [] });
  });

  test.each<[string, RequestListener, string]>([
    [
      'a redirect',
      (request, response) => {
        if (request.url === '/moved') response.end('{}');
        else response.writeHead(302, { location: '/moved' }).end();
      },
      'it redirects, which is not followed',
    ],
    ['an error', (_request, response) => response.writeHead(500).end(), 'it answered HTTP 500'],
    ['a page', (_request, response) => response.end('<html>'), 'it did not answer JSON'],
    [
      'an endless answer',
      (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
        };
        response.on('drain', more);
        more();
      },
      'its answer is larger than 512 KiB',
    ],
    [
      'an answer that stops half-way',
      (_request, response) => response.writeHead(200, { 'content-length': 9 }).write('{'),
      'it did not answer within 0.2 s',
    ],
    ['no answer', () => undefined, 'it did not answer within 0.2 s'],
    ['a closed port', (request) => request.socket.destroy(), 'it cannot be reached (ECONNRESET)'],
  ])('refuses %s', async (_what, answer, problem) => {
    const port = await serve(answer);
    await expect(getJson(at(port), 'this machine', { timeoutMs: 200 })).rejects.toThrow(problem);
  });

  test('says so where nothing listens, and where there is no such name', async () => {
    const port = await serve(() => undefined);
    await resources.disposeAsync();
    resources = new AsyncDisposableStack();
    await expect(getJson(at(port), 'anywhere')).rejects.toThrow('it cannot be reached (ECONNREFUSED)');
    await expect(getJson(at(port, 'nowhere.invalid'), 'anywhere')).rejects.toThrow(
      /^it cannot be reached \((ENOTFOUND|EAI_AGAIN)\)$/,
    );
    await expect(getJson(at(port, 'empty.test'), 'anywhere', { lookup: resolving() })).rejects.toThrow(
      'its name has no address',
    );
  });
});

describe('where a URL may lead', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.8.8.8',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
  ])('%s is not on the Internet, neither as itself nor behind a name', async (address) => {
    const port = await serve((_request, response) => response.end('{}'));
    const literal = address.includes(':') ? `[${address}]` : address;
    for (const host of [literal, 'name.test']) {
      await expect(getJson(at(port, host), 'the Internet', { lookup: resolving(address) })).rejects.toThrow(
        'which is not on the Internet',
      );
    }
    expect(connections).toBe(0);
  });

  test.each(['8.8.8.8', '100.128.0.1', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is on the Internet, and not on this machine',
    (address) => {
      expect(mayLead('the Internet', address)).toBe(true);
      expect(mayLead('this machine', address)).toBe(false);
    },
  );

  test('this machine is 127.0.0.0/8 and ::1, and no other', () => {
    for (const address of ['127.0.0.1', '127.1.2.3', '::1']) {
      expect(mayLead('this machine', address), address).toBe(true);
    }
    for (const address of ['0.0.0.0', '::', '10.0.0.1', '192.168.0.1', '::ffff:127.0.0.1', '::2']) {
      expect(mayLead('this machine', address), address).toBe(false);
    }
  });

  test('one bad address of several is one too many, and nothing is connected to', async () => {
    const port = await serve((_request, response) => response.end('{}'));
    const lookup = resolving('8.8.8.8', '127.0.0.1');
    await expect(getJson(at(port, 'name.test'), 'the Internet', { lookup })).rejects.toThrow(
      'it is at 127.0.0.1, which is not on the Internet',
    );
    expect(connections).toBe(0);
  });
});

describe('Outbound', () => {
  const outbound = (url: URL, options: Partial<OutboundOptions> = {}): Outbound =>
    new Outbound(url, { reach: 'this machine', method: 'POST', timeoutMs: 5000, mostBytes: 10, ...options });

  test('sends a body of bytes or text with its length, and answers what is answered', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      void readText(request).then((body) => {
        const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
        seen.push([request.method, request.headers['x-name'], length, encoding, body]);
        response.writeHead(404).end('no');
      });
    });
    const answer = await outbound(at(port)).send({ 'x-name': 'v' }, 'é');
    expect({ ...answer, body: answer.body.toString() }).toEqual({ status: 404, body: 'no', isWhole: true });
    await outbound(at(port)).send({ 'x-name': 'w' }, Buffer.from('12'));
    expect(seen).toEqual([
      ['POST', 'v', '2', undefined, 'é'],
      ['POST', 'w', '2', undefined, '12'],
    ]);
  });

  test('follows no redirect', async () => {
    const port = await serve((_request, response) => response.writeHead(307, { location: '/keys' }).end());
    expect(await outbound(at(port)).send({}, 'x')).toMatchObject({ status: 307 });
    expect(connections).toBe(1);
  });

  test('stops reading an endless answer at its limit', async () => {
    const port = await serve((_request, response) => {
      const go = (): void => {
        while (!response.destroyed && response.write('0123456789'));
        if (!response.destroyed) response.once('drain', go);
      };
      go();
    });
    const answer = await outbound(at(port)).send({}, 'x');
    expect(answer).toMatchObject({ status: 200, isWhole: false });
    expect(answer.body.toString()).toBe('0123456789');
  });

  test.each([
    [99, false],
    [100, true],
    [101, true],
  ])(
    'reads no more than %i bytes of an answer of 100 that comes byte by byte',
    async (mostBytes, isWhole) => {
      const bytes = Buffer.from(Array.from({ length: 100 }, (_, index) => index));
      const port = await serve((_request, response) => {
        void (async () => {
          for (const byte of bytes) await new Promise((sent) => response.write(Buffer.of(byte), sent));
          response.end();
        })();
      });
      const answer = await outbound(at(port), { mostBytes }).send({}, 'x');
      expect({ ...answer, body: [...answer.body] }).toEqual({
        ...{ status: 200, encoding: undefined, isWhole },
        body: [...bytes.subarray(0, mostBytes)],
      });
    },
  );

  test.each<[string, Partial<OutboundOptions>, string]>([
    ['an address', {}, '127.0.0.1'],
    ['a name', { lookup: resolving('8.8.8.8', '127.0.0.1') }, 'name.test'],
  ])('sends nothing to %s where it may not lead', async (_what, options, host) => {
    const port = await serve((_request, response) => response.end());
    const sending = outbound(at(port, host), { ...options, reach: 'the Internet' }).send({}, 'secret');
    await expect(sending).rejects.toMatchObject({
      kind: 'refused',
      message: 'it is at 127.0.0.1, which is not on the Internet',
    });
    expect(connections).toBe(0);
  });

  test('says whether it was late, or not reached, and the cause by its name alone', async () => {
    const port = await serve(() => undefined);
    await expect(outbound(at(port), { timeoutMs: 100 }).send()).rejects.toMatchObject({
      kind: 'late',
      message: 'it did not answer within 0.1 s',
    });
    const closed = await serve((request) => request.socket.destroy());
    await expect(outbound(at(closed)).send()).rejects.toMatchObject({
      kind: 'unreachable',
      code: 'ECONNRESET',
    });
  });

  test('ends with its signal, under way and before', async () => {
    const stopping = new AbortController();
    const port = await serve(() => {
      stopping.abort();
    });
    const stopped = outbound(at(port), { signal: stopping.signal });
    await expect(stopped.send()).rejects.toMatchObject({ kind: 'unreachable' });
    await expect(stopped.send()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(connections).toBe(1);
  });

  test('sends once more where a kept connection was closed just as it was used, and only then', async () => {
    let requests = 0;
    const port = await serve((request, response) => {
      requests++;
      if (requests === 2 || requests === 4 || requests === 5) request.socket.destroy();
      else response.end();
    });
    const agent = new Agent({ keepAlive: true });
    resources.defer(() => {
      agent.destroy();
    });
    const kept = outbound(at(port), { agent });
    for (let each = 0; each < 2; each++) expect(await kept.send({}, 'x')).toMatchObject({ status: 200 });
    expect([requests, connections]).toEqual([3, 2]);
    // The new connection is closed too, and it is not a stale one.
    await expect(kept.send({}, 'x')).rejects.toMatchObject({ kind: 'unreachable', code: 'ECONNRESET' });
    expect([requests, connections]).toEqual([5, 3]);
  });
});
