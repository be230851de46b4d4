/**
 * Fair shares: a caller is identified before any work for them, and the requests, bodies, connections or
 * streams of one caller do not use up those of others.
 */
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { authenticate } from '../../main/auth/authenticate.ts';
import { verifyAtOnce } from '../../main/auth/verifications.ts';
import { keccak256, keccak256InSteps } from '../../main/crypto/hashes.ts';
import { refusal } from '../../main/http/handle.ts';
import { mostStreams } from '../../main/http/events/event-stream.ts';
import { withoutBreak } from '../../main/lib/concurrency/paced.ts';
import { mostSmallBytes, OverloadError } from '../../main/lib/concurrency/turns.ts';
import {
  askControl,
  newTestKey,
  send,
  signInWindow,
  stampText,
  startTestVault,
  TestClient,
  type TestKey,
  type TestVault,
  newSubOrganization,
} from '../support/support.ts';

let service: TestVault;

beforeEach(async () => {
  service = await startTestVault();
});
afterEach(() => service[Symbol.asyncDispose]());

const by = (key: TestKey): TestClient => new TestClient(service.url, service.organizationId, key);

describe('the caller comes first', () => {
  // Each would be refused for itself if anything looked at it: as no JSON, for its values, by a schema.
  const large: readonly (readonly [string, (organizationId: string) => string])[] = [
    ['no JSON', () => '{'.repeat(2 * mostSmallBytes)],
    ['too many values', (organizationId) => JSON.stringify({ organizationId, list: Array(60_000).fill(0) })],
    [
      'what no schema takes',
      (organizationId) => JSON.stringify({ organizationId, type: 7, x: 'x'.repeat(mostSmallBytes) }),
    ],
    ['no organization', () => JSON.stringify({ organizationId: 'none', x: 'x'.repeat(mostSmallBytes) })],
  ];

  test.each(large)('a stranger’s large body is not read: %s', async (_what, bodyOf) => {
    const body = bodyOf(service.organizationId);
    const stranger = newTestKey();
    for (const path of ['query/whoami', 'submit/create_wallet', 'stream/activities']) {
      const refused = await by(stranger).post(path, body);
      expect(refused, path).toMatchObject({
        status: 401,
        body: {
          turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND',
          message: `could not find public key in organization or its parent organization publicKey=${stranger.publicKey}`,
        },
      });
      if (path.startsWith('stream/')) continue;
      // A user's is.
      expect((await service.root.post(path, body)).status, path).not.toBe(401);
    }
  });

  test('a stamp that does not hold is refused before the key is looked up', async () => {
    const body = '{'.repeat(2 * mostSmallBytes);
    const refused = await service.root.post('query/whoami', body, { 'x-stamp': service.key.stamp('else') });
    expect(refused).toMatchObject({ status: 401, body: { turnkeyErrorCode: 'SIGNATURE_INVALID' } });
  });

  test('an invalid session, and an unknown passkey, are refused unread too', async () => {
    const body = '{'.repeat(2 * mostSmallBytes);
    const path = '/public/v1/query/whoami';
    const session = await send(service.url, { path, body, headers: { 'x-session': 'none' } });
    expect(session).toMatchObject({ status: 401, body: { turnkeyErrorCode: 'SIGNATURE_INVALID' } });
    const assertion = JSON.stringify({
      credentialId: 'bm9uZQ',
      authenticatorData: 'bm9uZQ',
      clientDataJson: 'bm9uZQ',
      signature: 'bm9uZQ',
    });
    const passkey = await send(service.url, { path, body, headers: { 'x-stamp-webauthn': assertion } });
    expect(passkey).toMatchObject({ status: 401, body: { turnkeyErrorCode: 'CREDENTIAL_NOT_FOUND' } });
  });

  test('a user of one organization is a stranger in another: no schema reads the parameters', async () => {
    const { client } = await service.newUser('Ann');
    const [sub] = await subOrganizations(1);
    const wrong = {
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      timestampMs: '1',
      organizationId: sub?.organizationId,
    };
    const body = JSON.stringify({ ...wrong, parameters: { walletName: 7 } });
    const [other] = await subOrganizations(1);
    expect(await by(other?.key ?? newTestKey()).post('submit/create_wallet', body)).toMatchObject({
      status: 401,
      body: { turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' },
    });
    // The parent's user is known there.
    expect((await client.post('submit/create_wallet', body)).status).toBe(400);
  });

  test('and is looked for in the organization once, where nothing can have come between', async () => {
    const statements = vi.spyOn(service.vault.connection, 'kept');
    expect((await service.root.query('whoami')).status).toBe(200);
    const lookups = statements.mock.calls.filter(([sql]) =>
      sql.includes('FROM api_keys WHERE organization_id = ? AND public_key'),
    );
    expect(lookups).toHaveLength(1);
  });
});

test('a stamp whose hash the platform does not have is verified in steps, also a stranger’s', () => {
  const body = Buffer.alloc(4 * 1024 * 1024, 'x');
  const stamp = (scheme: string) =>
    stampText({ publicKey: newTestKey().publicKey, scheme, signature: '30'.repeat(70) });
  const stepsOf = (scheme: string): number => {
    const ways = { rpId: 'localhost', verify: verifyAtOnce };
    const steps = authenticate(body, { 'x-stamp': stamp(scheme) }, 'query', ways);
    for (let count = 1; ; count++) {
      try {
        if (steps.next().done === true) throw new Error('it holds');
      } catch (error) {
        expect(error).toMatchObject({ turnkeyErrorCode: 'SIGNATURE_INVALID' });
        return count;
      }
    }
  };
  expect(stepsOf('SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191')).toBeGreaterThan(20);
  // The platform hashes a gigabyte in a second.
  expect(stepsOf('SIGNATURE_SCHEME_TK_API_P256')).toBe(1);
  for (const length of [0, 1, 131_071, 131_072, 131_073, 300_000]) {
    const bytes = new Uint8Array(length).fill(7);
    expect(withoutBreak(keccak256InSteps(bytes)), String(length)).toEqual(keccak256(bytes));
  }
});

test('what is refused for overload tells when to come again', () => {
  expect(refusal({ onFault: () => undefined }, new OverloadError())).toMatchObject({
    status: 429,
    headers: { 'Retry-After': '1' },
    body: { code: 8, turnkeyErrorCode: 'RATE_LIMIT_EXCEEDED' },
  });
});

/** Sub-organizations with a root user each. */
async function subOrganizations(
  count: number,
): Promise<{ readonly organizationId: string; readonly key: TestKey }[]> {
  const made = [];
  for (let index = 0; index < count; index++) {
    const { client } = await newSubOrganization(service.root);
    made.push({ organizationId: client.organizationId, key: client.key });
  }
  return made;
}

describe('streams', () => {
  const agent = new Agent({ keepAlive: false });
  let open: IncomingMessage[] = [];
  afterEach(() => {
    for (const stream of open) stream.destroy();
    open = [];
  });

  async function stream(organizationId: string, key: TestKey): Promise<number> {
    const body = JSON.stringify({ organizationId });
    const headers = { 'content-type': 'application/json', 'x-stamp': key.stamp(body) };
    const sent = httpRequest(`${service.url}/public/v1/stream/activities`, {
      agent,
      method: 'POST',
      headers,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    open.push(response);
    response.resume();
    return response.statusCode ?? 0;
  }

  const streams = async (organizationId: string, key: TestKey, count: number): Promise<number[]> => {
    const statuses = [];
    for (let index = 0; index < count; index++) statuses.push(await stream(organizationId, key));
    return statuses;
  };

  test('of one user leave others theirs, and those of sub-organizations leave the parent its own', async () => {
    const { ofUser, ofOrganization, ofSubOrganizations } = mostStreams;
    const subs = await subOrganizations(Math.ceil(ofSubOrganizations / ofUser));
    const [first] = subs;
    if (first === undefined) throw new Error('no sub-organization was made');
    expect(await streams(first.organizationId, first.key, ofUser + 1)).toEqual([
      ...Array<number>(ofUser).fill(200),
      429,
    ]);
    for (const { organizationId, key } of subs.slice(1)) {
      expect(await streams(organizationId, key, ofUser)).toEqual(Array(ofUser).fill(200));
    }
    const [late] = await subOrganizations(1);
    if (late === undefined) throw new Error('no sub-organization was made');
    expect(await stream(late.organizationId, late.key)).toBe(429);
    // The vault's own organization has the rest; a parent's user who follows a sub-organization counts there.
    const users = [];
    for (let index = 0; index < ofOrganization / ofUser; index++)
      users.push(await service.newUser(`User ${String(index)}`));
    for (const { client } of users) {
      expect(await streams(first.organizationId, client.key, ofUser)).toEqual(Array(ofUser).fill(200));
    }
    expect(await stream(service.organizationId, service.key)).toBe(429);
    // A stream that ends makes room.
    open.pop()?.destroy();
    open.at(-1)?.destroy();
    await vi.waitFor(async () => {
      expect(await stream(service.organizationId, service.key)).toBe(200);
    });
  });

  test('of windows are bounded too', async () => {
    await service[Symbol.asyncDispose]();
    service = await startTestVault({ config: { ui: true } });
    const headers = await signInWindow(service.vault.newLink());
    const follow = async (): Promise<number> => {
      const sent = httpRequest(`${service.url}/window/events`, { agent, headers });
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      open.push(response);
      response.resume();
      return response.statusCode ?? 0;
    };
    const statuses = [];
    for (let index = 0; index < 65; index++) statuses.push(await follow());
    expect(statuses).toEqual([...Array<number>(64).fill(200), 429]);
    // The owner's commands have their own.
    expect((await askControl(service.directory, 'status', { args: [] })).status).toBe(200);
  });
});

describe('connections', () => {
  /** Sends a large body, which has no room until `free` was called. */
  async function expectToWait(body: string, free: () => void): Promise<void> {
    let isAnswered = false;
    const waits = service.root.post('query/whoami', body).then((answer) => {
      isAnswered = true;
      return answer;
    });
    for (let round = 0; round < 20; round++) await service.root.query('whoami');
    expect(isAnswered).toBe(false);
    free();
    expect((await waits).status).toBe(200);
  }

  test('that send more requests than they wait for are closed, and others are served', async () => {
    const { port, hostname } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ organizationId: service.organizationId });
    const one = [
      'POST /public/v1/query/whoami HTTP/1.1',
      `Host: ${hostname}:${port}`,
      'Content-Type: application/json',
      `X-Stamp: ${service.key.stamp(body)}`,
      `Content-Length: ${String(body.length)}`,
      '',
      body,
    ].join('\r\n');
    const closed = new Promise((resolve) => {
      socket
        .on('error', () => undefined)
        .once('close', resolve)
        .resume();
    });
    socket.write(one.repeat(200));
    await closed;
    expect((await service.root.query('whoami')).status).toBe(200);
    // A few requests before their answers are allowed.
    const few = connect(Number(port), hostname);
    let text = '';
    few.setEncoding('utf8').on('data', (part: string) => (text += part));
    few.write(one.repeat(10));
    await vi.waitFor(() => {
      expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(10);
    });
    few.destroy();
  });

  test('that ask nothing, or only half, or read no answer, make room for one that asks', async () => {
    const { port } = new URL(service.url);
    const half = 'POST /public/v1/query/whoami HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{';
    const silent = await Promise.all(
      Array.from({ length: 1100 }, async (_, at) => {
        const socket = connect({ port: Number(port), host: '127.0.0.1' }).on('error', () => undefined);
        await once(socket, 'connect');
        if (at % 3 === 0) socket.write(half);
        if (at % 3 === 1) socket.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
        return socket;
      }),
    );
    for (let time = 0; time < 3; time++) {
      expect(await service.root.query('whoami')).toMatchObject({ status: 200 });
    }
    for (const socket of silent) socket.destroy();
  });

  test('with large bodies that do not come leave room for one that does', async () => {
    const { port, hostname } = new URL(service.url);
    const slow = Array.from({ length: 31 }, () => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write(
        `POST /public/v1/query/whoami HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`,
      );
      return socket;
    });
    const body = JSON.stringify({ organizationId: service.organizationId, x: 'x'.repeat(mostSmallBytes) });
    expect((await service.root.post('query/whoami', body)).status).toBe(200);
    // One more waits, unread, until one of them ends; small ones do not.
    const last = connect(Number(port), hostname).on('error', () => undefined);
    last.write(
      `POST /public/v1/query/whoami HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`,
    );
    expect((await service.root.query('whoami')).status).toBe(200);
    await expectToWait(body, () => slow[0]?.destroy());
    for (const socket of [...slow, last]) socket.destroy();
  });

  test.each(['GET', 'DELETE', 'HEAD'])(
    'with large bodies are counted for any method, as of a %s',
    async (method) => {
      const { port, hostname } = new URL(service.url);
      const lengths = ['Content-Length: 1000000', 'Transfer-Encoding: chunked'];
      const slow = Array.from({ length: 32 }, (_, index) => {
        const socket = connect(Number(port), hostname).on('error', () => undefined);
        socket.write(
          `${method} /openapi.json HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${lengths[index % 2] ?? ''}\r\n\r\n`,
        );
        return socket;
      });
      // Their heads are read by then.
      for (let round = 0; round < 20; round++) await service.root.query('whoami');
      // A request without a body waits for none of them, whatever its method.
      expect((await send(service.url, { method, path: '/public/v1/query/whoami' })).status).toBe(405);
      const body = JSON.stringify({ organizationId: service.organizationId, x: 'x'.repeat(mostSmallBytes) });
      await expectToWait(body, () => slow[0]?.destroy());
      for (const socket of slow) socket.destroy();
    },
  );

  test('with answers that are not read are cut before these fill the memory', async () => {
    const { port, hostname } = new URL(service.url);
    const ended: number[] = [];
    // Each keeps up to ten megabytes of answers, of which the system takes some.
    const greedy = Array.from({ length: 48 }, (_, index) => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.once('close', () => ended.push(index));
      socket.pause().write(`GET /openapi.json HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`.repeat(16));
      return socket;
    });
    await vi.waitFor(
      () => {
        // One that reads nothing learns its end by writing.
        for (const socket of greedy) socket.write('\r\n');
        expect(ended).not.toEqual([]);
      },
      // The service writes half a gigabyte for them first.
      { timeout: 150_000 },
    );
    expect((await service.root.query('whoami')).status).toBe(200);
    for (const socket of greedy) socket.destroy();
  }, 180_000);
});
