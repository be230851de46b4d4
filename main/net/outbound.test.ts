import type { lookup as systemLookup } from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { getJson, mayLead } from './guarded-get.ts';

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
    ['a closed door', (request) => request.socket.destroy(), 'it cannot be reached (ECONNRESET)'],
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
