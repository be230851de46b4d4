/** The port for any client: who may use it, what it accepts, and how it refuses. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { startVault } from '../../main/app/compose.ts';
import { send, startDevProcess, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { Answer, Json, RawRequest, TestVault } from '../support/support.ts';

const paired = 'https://app.example';

let service: TestVault;
let port: string;

beforeAll(async () => {
  service = await startTestVault({ config: { allowOrigin: [paired] } });
  ({ port } = new URL(service.url));
});
afterAll(() => service[Symbol.asyncDispose]());

/** A request that is answered 200 as it is: whatever a test changes in it is what is refused. */
function whoami(changes: Partial<RawRequest> = {}, headers: RawRequest['headers'] = {}): Promise<Answer> {
  const body = JSON.stringify({ organizationId: service.organizationId });
  return send(service.url, {
    path: '/public/v1/query/whoami',
    body,
    ...changes,
    headers: { 'content-type': 'application/json', 'x-stamp': service.key.stamp(body), ...headers },
  });
}

/** Every answer is the real API's error shape, as bare JSON, and gives nothing to other origins. */
function expectError(answer: Answer, status: number, code: number, message: string | RegExp): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
  expect(answer.body && Object.keys(answer.body)).toEqual(['code', 'message', 'details', 'turnkeyErrorCode']);
  expect(answer.body?.['code']).toBe(code);
  expect(answer.body?.['message']).toMatch(message);
  expect(answer.body?.['details']).toContainEqual({
    '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail',
    turnkeyErrorCode: answer.body?.['turnkeyErrorCode'],
  });
}

const corsHeaders = (answer: Answer): string[] =>
  Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));

describe('an answer', () => {
  test('is bare application/json, is not cached, and names no server', async () => {
    const answer = await whoami();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      userId: service.rootUserId,
      username: 'Root',
      organizationName: 'Tests',
    });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(answer.text)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(corsHeaders(answer)).toEqual([]);
    for (const header of ['x-powered-by', 'server', 'etag'])
      expect(answer.headers).not.toHaveProperty(header);
  });
});

describe('where it listens', () => {
  test.each(['127.0.0.1', '::1'])('on %s', async (address) => {
    const host = address.includes(':') ? `[${address}]` : address;
    const answer = await whoami({ address }, { host: `${host}:${port}` });
    expect(answer.status).toBe(200);
  });

  test('on no other address of the machine', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
      .map(({ address }) => address);
    // 127.0.0.2 is loopback as well, where the system routes it.
    for (const address of ['127.0.0.2', ...others]) {
      await expect(whoami({ address }), address).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL|EHOSTUNREACH/);
    }
  });

  test('a port that is taken is named, with what to do; the vault is let go', async () => {
    using directory = temporaryDirectory();
    const config = makeConfig({ dataDir: directory.path, port, keychain: false }, {});
    await expect(startVault(config)).rejects.toThrow(
      `Port ${port} is in use by another program. Choose another with --port, or --port 0 for any free one.`,
    );
    expect(existsSync(`${directory.path}/endpoint.json`)).toBe(false);
    const again = await startVault({ ...config, port: 0 });
    await again.close();
  });

  test('a port that is taken on ::1 alone is taken', async () => {
    using directory = temporaryDirectory();
    const other = createServer().listen({ host: '::1', port: 0, ipv6Only: true });
    await once(other, 'listening');
    try {
      const taken = String((other.address() as AddressInfo).port);
      const config = makeConfig({ dataDir: directory.path, port: taken, keychain: false }, {});
      await expect(startVault(config)).rejects.toThrow(`Port ${taken} is in use`);
      // The half that was bound is given back.
      const probe = createServer().listen({ host: '127.0.0.1', port: Number(taken) });
      await once(probe, 'listening');
      probe.close();
    } finally {
      other.close();
    }
  });

  test('a second process for one vault is refused, and told who holds it', async () => {
    await expect(startVault({ ...service.config, port: 0 })).rejects.toThrow(
      `The vault in ${service.directory} is in use by process ${String(process.pid)}, which serves port ${port}. ` +
        'Stop it first, or use it as it is.',
    );
    expect((await whoami()).status).toBe(200);
  });
});

describe('Host', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', 'LocalHost'])(
    '%s with the port is this service',
    async (name) => {
      expect((await whoami({}, { host: `${name}:${port}` })).status).toBe(200);
    },
  );

  test.each([
    ['a name that only begins like it', () => `127.0.0.1.evil.com:${port}`],
    ['a name that only ends like it', () => `evil-localhost:${port}`],
    ['a rebound name', () => `evil.com:${port}`],
    ['a name below localhost', () => `evil.localhost:${port}`],
    ['another port', () => `127.0.0.1:${String(Number(port) + 1)}`],
    ['no port', () => '127.0.0.1'],
    ['an address in another writing', () => `2130706433:${port}`],
    ['the unspecified address', () => `0.0.0.0:${port}`],
    ['user information', () => `localhost@evil.com:${port}`],
    ['an empty one', () => ''],
  ])('%s is refused', async (_what, host) => {
    const answer = await whoami({}, { host: host() });
    expectError(
      answer,
      403,
      7,
      /^request not authorized: Host is ".*", expected one of localhost:\d+, 127\.0\.0\.1:\d+, \[::1\]:\d+$/,
    );
    expect(answer.text).not.toContain(service.rootUserId);
  });

  test('a request without one is refused', async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('POST /public/v1/query/whoami HTTP/1.0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('Host is \\"\\"');
  });
});

describe('Origin', () => {
  test.each([
    ['a foreign one', 'https://evil.example'],
    ['null', 'null'],
    ['a page on another port of this machine', 'http://localhost:3000'],
    ['one that only begins like a paired one', `${paired}.evil.com`],
    ['a paired one with another scheme', paired.replace('https', 'http')],
    ['a paired one with a port', `${paired}:8443`],
    ['a paired one in capitals', paired.toUpperCase()],
    ['an empty one', ''],
  ])('%s is refused, and gets no CORS headers', async (_what, origin) => {
    for (const method of ['POST', 'OPTIONS']) {
      const answer = await whoami({ method }, { origin });
      expectError(answer, 403, 7, /is not paired; start Keyhearth with --allow-origin to pair it$/);
      expect(corsHeaders(answer)).toEqual([]);
      expect(answer.text).not.toContain(service.rootUserId);
    }
  });

  test('a long one is not echoed whole', async () => {
    const answer = await whoami({}, { origin: `https://${'a'.repeat(5000)}.example` });
    expectError(answer, 403, 7, /is not paired/);
    expect(answer.text.length).toBeLessThan(1000);
  });

  test.each(['127.0.0.1', 'localhost', '[::1]'])('its own is let in: http://%s', async (name) => {
    const answer = await whoami({}, { origin: `http://${name}:${port}` });
    expect(answer.status).toBe(200);
    expect(corsHeaders(answer)).toEqual([]);
  });

  test('a page of another site is refused, also where it sends no Origin', async () => {
    const answer = await send(service.url, {
      method: 'GET',
      path: '/public/v1/discovery/keys',
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expectError(answer, 403, 7, /^request not authorized: a page of another site sent it$/);
    for (const site of ['none', 'same-origin']) {
      expect((await whoami({}, { 'sec-fetch-site': site })).status).toBe(200);
    }
  });

  test('a paired one is let in and named, alone, in the answer', async () => {
    const answer = await whoami({}, { origin: paired, 'sec-fetch-site': 'cross-site' });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(paired);
    expect(answer.headers.vary).toBe('Origin');
    expect(corsHeaders(answer)).toEqual(['access-control-allow-origin']);
  });

  test('a paired one can read a refusal', async () => {
    const answer = await whoami({}, { origin: paired, 'x-stamp': undefined });
    expectError(answer, 401, 16, /without a stamp/);
    expect(answer.headers['access-control-allow-origin']).toBe(paired);
  });

  test('a paired one may send a preflight, and gets the headers that SDKs send', async () => {
    const answer = await send(service.url, {
      method: 'OPTIONS',
      path: '/public/v1/submit/sign_raw_payload',
      headers: {
        origin: paired,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-client-version,x-stamp',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': paired,
      'access-control-allow-methods': 'POST, GET, OPTIONS',
      'access-control-allow-headers':
        'Authorization, Content-Type, Mcp-Protocol-Version, Prefer, X-Stamp, X-Stamp-Webauthn, X-Stamp-Attested, X-Client-Version, X-Session',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    // Private network access is asked for by a permission nowadays; nothing is granted by a header.
    expect(answer.headers).not.toHaveProperty('access-control-allow-private-network');
  });

  test('a paired one cannot make rpc calls', async () => {
    const answer = await send(service.url, {
      path: '/window/status',
      headers: { origin: paired, 'content-type': 'application/json' },
      body: '{"args":[]}',
    });
    expectError(answer, 401, 16, /not signed in/);
  });

  test('pages of this machine are paired in dev, and there alone', async () => {
    await using dev = await startDevProcess();
    const body = JSON.stringify({ organizationId: dev.line.organizationId });
    const ask = (origin: string): Promise<Answer> =>
      send(dev.line.url, {
        path: '/public/v1/query/whoami',
        headers: { 'content-type': 'application/json', 'x-stamp': dev.root.key.stamp(body), origin },
        body,
      });
    for (const origin of [
      'http://localhost:3000',
      'http://127.0.0.1:5173',
      'https://[::1]:8443',
      'http://localhost',
    ]) {
      const answer = await ask(origin);
      expect(answer.status, origin).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBe(origin);
    }
    for (const origin of [
      'http://localhost.evil.com',
      'http://localhost:3000.evil.com',
      'null',
      'https://evil.example',
    ]) {
      const answer = await ask(origin);
      expectError(answer, 403, 7, /is not paired/);
      expect(corsHeaders(answer)).toEqual([]);
    }
  });
});

describe('a body', () => {
  const limit = 4 * 1024 * 1024;

  /** A stamped whoami that is padded to a length with a field that is passed over. */
  async function padded(length: number): Promise<Answer> {
    const start = JSON.stringify({ organizationId: service.organizationId, padding: '' }).slice(0, -2);
    return service.root.post('query/whoami', `${start}${' '.repeat(length - start.length - 2)}"}`);
  }

  test('may have 4 MiB, and no byte more', async () => {
    expect((await padded(limit)).status).toBe(200);
    expectError(await padded(limit + 1), 413, 3, /^request body is too large: at most 4194304 bytes$/);
  });

  test('of unannounced length is held to the same limit', async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `POST /public/v1/query/whoami HTTP/1.1\r\nHost: localhost:${port}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const head = `${chunk.length.toString(16)}\r\n`;
    let sent = 0;
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    while (sent <= limit) {
      socket.write(head);
      socket.write(chunk);
      socket.write('\r\n');
      sent += chunk.length;
    }
    socket.write('0\r\n\r\n');
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test.each(['gzip', 'deflate', 'br', 'x-unknown'])('in the encoding %s is refused', async (encoding) => {
    expectError(
      await whoami({}, { 'content-encoding': encoding }),
      415,
      3,
      /^expected a body without Content-Encoding$/,
    );
  });

  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/html; a=application/json',
    '',
  ])('of type %j is refused', async (type) => {
    expectError(
      await whoami({}, { 'content-type': type }),
      415,
      3,
      /^expected Content-Type application\/json, got "/,
    );
  });

  test('as text is refused from a page, which may send it without asking first', async () => {
    const { origin } = new URL(service.url);
    const headers = { origin, 'content-type': 'text/plain;charset=UTF-8' };
    expectError(await whoami({}, headers), 415, 3, /^expected Content-Type application\/json, got "/);
  });

  test.each([
    undefined,
    // The type that fetch sends if its caller names none.
    'text/plain;charset=UTF-8',
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON ;charset=UTF-8',
  ])('of type %j is taken', async (type) => {
    expect((await whoami({}, { 'content-type': type })).status).toBe(200);
  });

  test.each([
    ['nothing', '', 'bad request body: expected a JSON object, but it is empty'],
    ['no JSON', '{"organizationId":', 'bad request body: expected a JSON object, but it is not JSON'],
    ['text around the JSON', '{} trailing', 'bad request body: expected a JSON object, but it is not JSON'],
    ['a list', '[1]', 'invalid request body: expected an object, got [1]'],
    ['a text', '"text"', 'invalid request body: expected an object, got "text"'],
    ['null', 'null', 'invalid request body: expected an object, got null'],
    ['an empty object', '{}', 'missing field organizationId: expected a string'],
    ['a number for a text', '{"organizationId":7}', 'invalid organizationId: expected a string, got 7'],
  ])('that is %s is refused by name', async (_what, body, message) => {
    const answer = await whoami({ body }, { 'x-stamp': service.key.stamp(body) });
    expectError(answer, 400, 3, /./);
    expect(answer.body?.['message']).toBe(message);
  });

  test('that is not UTF-8 is refused: the log keeps what was signed as text', async () => {
    const body = Buffer.concat([
      Buffer.from(`{"organizationId":"${service.organizationId}","x":"`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    const answer = await whoami({ body }, { 'x-stamp': service.key.stamp(body) });
    expectError(answer, 400, 3, /^bad request body: expected a JSON object, but it is not UTF-8$/);
  });
});

describe('what is not there', () => {
  test.each(['/public/v1/query/no_such_thing', '/public/v1/submit/no_such_thing', '/public/v1/other/whoami'])(
    'the operation %s answers 501, stamped or not',
    async (path) => {
      const operation = path.slice('/public/v1/'.length);
      const message = new RegExp(`^unknown operation "${operation}": Keyhearth does not have it$`);
      expectError(await whoami({ path }), 501, 12, message);
      expectError(await whoami({ path }, { 'x-stamp': undefined }), 501, 12, message);
    },
  );

  test('a query is not a submit, nor the other way round', async () => {
    expectError(
      await whoami({ path: '/public/v1/submit/whoami' }),
      501,
      12,
      /unknown operation "submit\/whoami"/,
    );
    expectError(await whoami({ path: '/public/v1/query/create_users' }), 501, 12, /unknown operation/);
  });

  test('names that every JavaScript object has are not operations', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expectError(await whoami({ path: `/public/v1/query/${name}` }), 501, 12, /unknown operation/);
    }
  });

  test.each([
    '/',
    '/public',
    '/public/v1',
    '/public/v1/query',
    '/public/v1/query/whoami/more',
    '/public/v2/query/whoami',
    '/dev/clock',
    '/assets/x.js',
    '/index.html',
  ])('the path %s answers 404', async (path) => {
    for (const method of ['GET', 'POST']) {
      expectError(await whoami({ path, method }), 404, 5, /^there is nothing at "\/.*"$/);
    }
  });

  test('a path that is not even text is refused as JSON too', async () => {
    expectError(await whoami({ path: '/public/v1/query/%E0%A4%A' }), 400, 3, /^bad request$/);
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s on an operation answers 405', async (method) => {
    const answer = await whoami({ method });
    expectError(answer, 405, 12, new RegExp(`^expected POST, got ${method}$`));
    expect(answer.headers.allow).toBe('POST');
  });

  test('a query string changes nothing', async () => {
    expect((await whoami({ path: '/public/v1/query/whoami?a=b&a[c]=d' })).status).toBe(200);
  });
});

describe('a slow or broken client', () => {
  test('that speaks no HTTP is cut off, and the others are served', async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('\x16\x03\x01 this is no HTTP\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    expect((await whoami()).status).toBe(200);
  });

  test('that sends too many headers is cut off', async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
    expect((await whoami()).status).toBe(200);
  });

  test('that disconnects in the middle of its body harms no other', async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /public/v1/query/whoami HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 100\r\n\r\n{`,
    );
    await once(socket, 'connect');
    socket.destroy();
    expect((await whoami()).status).toBe(200);
    expect(service.faults).toEqual([]);
  });

  test('cannot hold up a stop', async () => {
    const other = await startTestVault();
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('POST /public/v1/query/whoami HTTP/1.1\r\n');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await other[Symbol.asyncDispose]();
    await closed;
  });
});

describe('GET /public/v1/discovery/keys', () => {
  test('publishes the public halves of the vault’s own keys, and stays the same after a restart', async () => {
    const ask = (url: string): Promise<Answer> =>
      send(url, { method: 'GET', path: '/public/v1/discovery/keys' });
    const first = await startTestVault();
    const { body } = await ask(first.url);
    expect(Object.keys(body ?? {})).toEqual(['signer', 'notarizer', 'tlsFetcher']);
    for (const key of Object.values(body ?? {})) expect(key).toMatch(/^04[0-9a-f]{128}$/);
    expect((await first.vault.rpc.status()).serverKeys).toEqual(body);
    await first.vault.close();
    const again = await startVault({ ...first.config, port: 0 });
    try {
      expect((await ask(again.url)).body).toEqual(body);
    } finally {
      await again.close();
      await first[Symbol.asyncDispose]();
    }
  });
});

test('no answer of these gave anything but the caller’s own faults', () => {
  const faults: Json[] = [];
  expect(service.faults).toEqual(faults);
});
