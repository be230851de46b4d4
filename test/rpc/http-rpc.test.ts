/** The rpc over HTTP: the contract through the window's own client, and which requests are accepted. */
import { createECDH } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { VaultCalls } from '../../main/rpc/calls.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import { rpcCalls, stepUpRequired } from '../../preload/contract.ts';
import { connectRpc } from '../../renderer/app/rpc/rpc.ts';
import type { RpcConnection } from '../../renderer/app/rpc/rpc.ts';
import { describeRpc } from './rpc-contract.ts';
import { newWallet, send, signInWindow, startTestVault } from '../support/support.ts';
import type { Answer, TestVault } from '../support/support.ts';

/** As much of a browser tab as the window's client asks for: an address, storage for the tab, and cookies. */
interface Tab {
  readonly connection: RpcConnection;
  /** Ends the connection of the next call, as a browser does when a network comes or goes. */
  loseNext: (when: LossAt) => void;
  close: () => void;
}

const losses = ['before it is sent', 'while it is under way', 'once it is answered'] as const;
type LossAt = (typeof losses)[number];

function openTab(link: string): Tab {
  const { origin, hash, pathname, search } = new URL(link);
  const storage = new Map<string, string>();
  let cookie: string | undefined;
  let closed = false;
  let loss: LossAt | undefined;
  const real = globalThis.fetch;
  const tab = {
    keyhearth: undefined,
    addEventListener: () => undefined,
  };
  vi.stubGlobal('window', tab);
  vi.stubGlobal('location', { hash, pathname, search });
  vi.stubGlobal('history', { replaceState: () => undefined });
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => storage.get(name) ?? null,
    setItem: (name: string, value: string) => storage.set(name, value),
    removeItem: (name: string) => storage.delete(name),
  });
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    // A tab that is closed asks nothing more; this answer ends its client's tries.
    if (closed) return new Response('{}', { status: 401 });
    const headers = new Headers(init.headers);
    headers.set('origin', origin);
    headers.set('sec-fetch-site', 'same-origin');
    if (cookie !== undefined) headers.set('cookie', cookie);
    const lost = init.method === 'POST' ? loss : undefined;
    if (lost !== undefined) loss = undefined;
    if (lost === 'before it is sent') throw new TypeError('network changed');
    const asked = real(new URL(path, origin), { ...init, headers });
    if (lost === 'once it is answered') await (await asked).text();
    if (lost !== undefined) throw new TypeError('network changed');
    const response = await asked;
    const [given] = response.headers.getSetCookie();
    if (given !== undefined) [cookie] = given.split(';', 1);
    return response;
  });
  const connection = connectRpc();
  return {
    connection,
    loseNext: (when) => {
      loss = when;
    },
    close: () => {
      closed = true;
      // The client of the tab keeps the functions that it was opened with; the next tab brings its own.
      vi.unstubAllGlobals();
    },
  };
}

describeRpc('HTTP', async () => {
  const service = await startTestVault({ empty: true, config: { ui: true } });
  const tab = openTab(service.vault.newLink());
  return {
    rpc: tab.connection.rpc,
    [Symbol.asyncDispose]: async () => {
      tab.close();
      await service[Symbol.asyncDispose]();
    },
  };
});

/** The class: a call whose connection ends is executed twice, or is executed and shown as a failure. */
describe('a connection that ends though the service is there', () => {
  const names = async (rpc: RpcConnection['rpc']): Promise<readonly string[]> => {
    const { body } = await rpc.call('/public/v1/query/list_user_tags', {});
    return (body as { userTags: { tagName: string }[] }).userTags.map(({ tagName }) => tagName);
  };
  const createTag = (rpc: RpcConnection['rpc'], userTagName: string) =>
    rpc.call('/public/v1/submit/create_user_tag', {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      parameters: { userTagName, userIds: [] },
    });

  test.each(losses)('%s, leaves one call with its answer, and the window as it is', async (when) => {
    await using service = await startTestVault({ config: { ui: true } });
    const tab = openTab(service.vault.newLink());
    try {
      const { rpc } = tab.connection;
      const before = await names(rpc);
      const states: string[] = [];
      tab.connection.onState(() => states.push(tab.connection.state()));
      tab.loseNext(when);
      expect(await createTag(rpc, 'made once')).toMatchObject({
        status: 200,
        body: { activity: { status: 'ACTIVITY_STATUS_COMPLETED' } },
      });
      expect(await names(rpc)).toEqual([...before, 'made once']);
      // A token is in no answer but this one.
      tab.loseNext(when);
      const { token } = await rpc.changeDoors({ change: 'pair', door: 'mcp', name: 'claude' });
      expect(token).toMatch(/^kht_/);
      expect(states).toEqual([]);
    } finally {
      tab.close();
    }
  });

  test('another window, another call and the same one after a lock get no answer that was kept', async () => {
    await using service = await startTestVault({ config: { ui: true } });
    const { origin } = new URL(service.vault.newLink());
    const [one, other] = [
      await signInWindow(service.vault.newLink()),
      await signInWindow(service.vault.newLink()),
    ];
    const id = '6f1d8a52-3b0e-4c5e-9d0a-0f6a9d3c2b11';
    const sendCall = (session: typeof one, name: string, args: readonly unknown[]) =>
      send(origin, {
        path: `/window/${name}`,
        body: JSON.stringify({ args }),
        headers: { ...session, 'x-keyhearth-call': id },
      });
    const list = (path: string) => [`/public/v1/query/${path}`, {}];
    const tag = (userTagName: string) => [
      '/public/v1/submit/create_user_tag',
      { type: 'ACTIVITY_TYPE_CREATE_USER_TAG', parameters: { userTagName, userIds: [] } },
    ];
    const first = await sendCall(one, 'call', tag('one'));
    expect(first.text).toContain('userTagId');
    await service.vault.rpc.probeKeychain();
    expect((await sendCall(one, 'call', tag('two'))).text).toBe(first.text);
    expect((await sendCall(other, 'call', tag('three'))).text).not.toBe(first.text);
    expect((await sendCall(one, 'changeSettings', [{ network: false }])).text).toContain('network');
    const burst = await Promise.all(
      Array.from({ length: 20 }, () =>
        sendCall(other, 'changeDoors', [{ change: 'pair', door: 'mcp', name: 'claude' }]),
      ),
    );
    expect(new Set(burst.map(({ text }) => text)).size).toBe(1);
    expect(burst[0]?.text).toContain('kht_');
    // Of what is only read, each is the newest.
    const listed = await sendCall(one, 'call', list('list_user_tags'));
    expect(listed.text).toContain('three');
    expect(listed.text).not.toContain('two');
    await service.vault.rpc.lock();
    expect((await sendCall(one, 'call', tag('one'))).text).toContain('VAULT_LOCKED');
  });
});

/** The class: what IPC's structured clone carries and JSON does not, for any parameter that a guard looks at. */
test.each([
  ['a String object', (id: string) => new String(id)],
  ['an object that JSON writes as the text', (id: string) => ({ toJSON: () => id })],
])(
  'the owner is asked for the operation that is executed, and %s does not evade that',
  async (_, disguise) => {
    await using service = await startTestVault();
    const { walletId } = await newWallet(service.root, 'Guarded');
    const target = createECDH('prime256v1').generateKeys('hex', 'uncompressed');
    const { status, body } = await service.vault.rpc.call('/public/v1/submit/export_wallet', {
      type: 'ACTIVITY_TYPE_EXPORT_WALLET',
      parameters: { walletId: disguise(walletId), targetPublicKey: target },
    });
    expect([status, body]).toMatchObject([403, { turnkeyErrorCode: stepUpRequired }]);
  },
);

test('on the service’s own side a refused call rejects as well, and throws nothing', async () => {
  await using service = await startTestVault({ empty: true });
  const { rpc } = service.vault;
  const calls = [rpc.lock(), rpc.unlock({ with: 'keychain' }), rpc.call('/public/v1/query/whoami', {})];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'VAULT_MISSING' });
  await using made = await startTestVault();
  await made.vault.rpc.lock();
  const phrase = made.vault.rpc.newRecoveryPhrase();
  await expect(phrase).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
});

describe('who is let in', () => {
  let service: TestVault;
  let cookieName: string;

  beforeEach(async () => {
    service = await startTestVault({ config: { ui: true } });
    cookieName = `keyhearth_${new URL(service.url).port}`;
  });
  afterEach(async () => {
    vi.useRealTimers();
    await service[Symbol.asyncDispose]();
  });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    send(service.url, {
      path: `/window/${path}`,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const status = (headers: Record<string, string>): Promise<Answer> => post('status', { args: [] }, headers);

  const newCode = (): string => new URL(service.vault.newLink()).hash.slice('#code='.length);

  /** Spends a code. */
  async function signIn(code = newCode()): Promise<{ cookie: string; token: string; setCookie: string }> {
    const answer = await post('session', { code });
    expect(answer.status, answer.text).toBe(200);
    const [setCookie = ''] = answer.headers['set-cookie'] ?? [];
    return { cookie: setCookie.split(';')[0] ?? '', token: String(answer.body?.['token']), setCookie };
  }

  const notSignedIn = (answer: Answer): void => {
    expect(answer.status).toBe(401);
    expect(answer.body?.['message']).toBe('this window is not signed in: run `keyhearth open` for a link');
  };

  test('a code opens one session, whose cookie no script and no other site can use', async () => {
    const code = newCode();
    expect(code).toMatch(/^[A-Za-z0-9_-]{22}$/);
    const { cookie, token, setCookie } = await signIn(code);
    expect(setCookie).toBe(`${cookie}; HttpOnly; SameSite=Strict; Path=/window`);
    expect(cookie).toMatch(new RegExp(`^${cookieName}=[A-Za-z0-9_-]{43}$`));
    const answer = await status({ cookie, 'x-keyhearth-session': token });
    expect(answer.body).toMatchObject({ value: { state: 'unlocked' } });

    const again = await post('session', { code });
    expect(again.status).toBe(401);
    expect(again.body?.['message']).toBe(
      'this link was used or is too old: run `keyhearth open` for a new one',
    );
    expect(again.headers).not.toHaveProperty('set-cookie');
  });

  test('each link is another, and each session too', async () => {
    const codes = Array.from({ length: 10 }, newCode);
    expect(new Set(codes).size).toBe(10);
    const [one, two] = [await signIn(codes[0]), await signIn(codes[1])];
    expect(one.token).not.toBe(two.token);
    // The halves of two sessions do not make one.
    notSignedIn(await status({ cookie: one.cookie, 'x-keyhearth-session': two.token }));
    expect((await status({ cookie: two.cookie, 'x-keyhearth-session': two.token })).status).toBe(200);
  });

  test('a code is good for ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const [code, other] = [newCode(), newCode()];
    vi.setSystemTime(Date.now() + 10 * 60_000 - 1_000);
    await signIn(code);
    vi.setSystemTime(Date.now() + 2_000);
    expect((await post('session', { code: other })).status).toBe(401);
  });

  test('a session is good for twelve hours after its last use', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { cookie, token } = await signIn();
    const headers = { cookie, 'x-keyhearth-session': token };
    const hours = 60 * 60_000;
    for (let use = 0; use < 3; use++) {
      vi.setSystemTime(Date.now() + 11 * hours);
      expect((await status(headers)).status).toBe(200);
    }
    vi.setSystemTime(Date.now() + 12 * hours + 1);
    notSignedIn(await status(headers));
  });

  test('the cookie alone is not enough, since every port of the host is sent it', async () => {
    const { cookie } = await signIn();
    notSignedIn(await status({ cookie }));
    notSignedIn(await status({ cookie, 'x-keyhearth-session': '' }));
    notSignedIn(await status({ cookie, 'x-keyhearth-session': cookie.split('=')[1] ?? '' }));
  });

  test('the token alone is not enough', async () => {
    const { cookie, token } = await signIn();
    notSignedIn(await status({ 'x-keyhearth-session': token }));
    notSignedIn(
      await status({ 'x-keyhearth-session': token, cookie: `keyhearth_1=${cookie.split('=')[1] ?? ''}` }),
    );
    notSignedIn(await status({ 'x-keyhearth-session': token, cookie: `${cookie}x` }));
    expect((await status({ 'x-keyhearth-session': token, cookie: `a=b; ${cookie}; c` })).status).toBe(200);
  });

  test('nothing at all is not enough', async () => {
    for (const path of [...rpcCalls, 'link', 'page']) {
      notSignedIn(await post(path, { args: [] }));
    }
    notSignedIn(await send(service.url, { method: 'GET', path: '/window/events' }));
    expect((await service.root.query('whoami')).status).toBe(200);
  });

  test('a stamp is for the API, not for the window', async () => {
    const body = '{"args":[]}';
    notSignedIn(await post('status', body, { 'x-stamp': service.key.stamp(body) }));
  });

  test('over TCP nothing is let in by what endpoint.json says', async () => {
    const { nonce } = readEndpoint(service.directory) ?? {};
    for (const authorization of [
      `Bearer ${String(nonce)}`,
      `bearer ${String(nonce)}`,
      String(nonce),
      'Basic eDp5',
    ]) {
      notSignedIn(await status({ authorization }));
      notSignedIn(await post('link', {}, { authorization }));
    }
  });

  test('a foreign page is not let in, whatever it knows', async () => {
    const { cookie, token } = await signIn();
    for (const origin of ['https://evil.example', 'null', 'http://localhost:3000']) {
      const answer = await status({ origin, cookie, 'x-keyhearth-session': token });
      expect(answer.status).toBe(403);
      const session = await post('session', { code: newCode() }, { origin });
      expect(session.status).toBe(403);
      expect(session.headers).not.toHaveProperty('set-cookie');
    }
  });

  test('a vault whose window is no longer used is locked, and one whose window is used is not', async () => {
    const { cookie, token } = await signIn();
    const use = () => post('used', {}, { cookie, 'x-keyhearth-session': token });
    expect((await use()).status).toBe(200);
    service.clock.advance(9 * 60_000);
    expect((await use()).status).toBe(200);
    service.clock.advance(9 * 60_000);
    expect((await service.vault.rpc.status()).state).toBe('unlocked');
    service.clock.advance(60_000);
    await vi.waitFor(async () => {
      expect((await service.vault.rpc.status()).state).toBe('locked');
    }, 10_000);
    notSignedIn(await post('used', {}));
  });

  // A page says nothing more of its use where all of it came within its first seconds.
  test('a vault whose window was opened, and not used since, is locked too', async () => {
    await using opened = await startTestVault({ config: { ui: true } });
    await signInWindow(opened.vault.newLink());
    opened.clock.advance(10 * 60_000);
    await vi.waitFor(async () => {
      expect((await opened.vault.rpc.status()).state).toBe('locked');
    }, 10_000);
  });

  test('without --ui no browser is let in', async () => {
    await using plain = await startTestVault();
    const answer = await send(plain.url, { path: '/window/session', body: JSON.stringify({ code: 'x' }) });
    expect(answer.status).toBe(404);
    expect(answer.body?.['message']).toBe('this Keyhearth serves no window: start it with --ui');
  });

  test.each([
    ['session', '{', 'bad request body: expected a JSON object'],
    ['session', '{}', 'missing field code: expected a string'],
    ['session', '{"code":""}', 'invalid code: expected at least 1 character, got a text of 0 characters'],
  ])('an invalid request is refused by name: %s %s', async (path, body, message) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(400);
    expect(answer.body?.['message']).toBe(message);
  });

  test('a call by another name is refused with the names there are', async () => {
    const { cookie, token } = await signIn();
    const headers = { cookie, 'x-keyhearth-session': token };
    for (const name of ['copy', 'constructor', 'onEvent', 'announce', 'serverKeys']) {
      const answer = await post(name, { args: [] }, headers);
      expect(answer.status).toBe(404);
      expect(answer.body?.['message']).toBe(`unknown call: expected one of ${rpcCalls.join(', ')}`);
    }
    const noList = await post('status', {}, headers);
    expect(noList.body?.['message']).toBe('missing field args: expected an array');
  });

  test('events arrive as they happen, at every signed-in client, and end with the connection', async () => {
    const { cookie, token } = await signIn();
    const { port, host } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write(
      `GET /window/events HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nX-Keyhearth-Session: ${token}\r\n\r\n`,
    );
    await vi.waitFor(() => {
      expect(received).toContain(': connected\n\n');
    });
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toMatch(/\r\nContent-Type: text\/event-stream\r\n/);
    expect(received).toMatch(/\r\nCache-Control: no-store\r\n/);
    await service.vault.rpc.lock();
    await vi.waitFor(() => {
      expect(received).toContain('data: {"kind":"status"}\n\n');
    });
    socket.destroy();
    // No client listens now, and no fault follows.
    await service.unlock();
    expect(service.faults).toEqual([]);
  });

  test('a client that does not read its events is cut off, and nothing is kept for it', async () => {
    const { cookie, token } = await signIn();
    const { port, host } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const ended = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    const { rpc } = service.vault;
    let told = 0;
    const stop = rpc.onEvent(() => told++);
    socket.write(
      `GET /window/events HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nX-Keyhearth-Session: ${token}\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.pause();
    // More than the system holds for the two ends.
    const many = { kind: 'message', id: 'x'.repeat(64 * 1024) } as const;
    while (told < 400) {
      (rpc as VaultCalls).emit(many);
      if (told % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    stop();
    socket.resume();
    await ended;
    expect(socket.bytesRead).toBeLessThan(400 * 64 * 1024);
    expect(service.faults).toEqual([]);
  });

  test('the page comes with a policy and a nonce of its own, each time another', async () => {
    expect(existsSync(service.config.rendererDirectory)).toBe(true);
    const load = (): Promise<Answer> =>
      send(service.url, { method: 'GET', headers: { accept: 'text/html' } });
    const pages = [await load(), await load()];
    const nonces = pages.map(({ status: code, headers, text }) => {
      expect(code).toBe(200);
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/default-src 'none'/);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const [, nonce = ''] = /'nonce-([A-Za-z0-9+/=]+)'/.exec(policy) ?? [];
      expect(nonce).not.toBe('');
      expect(text).toContain(nonce);
      expect(text).not.toContain('__CSP_NONCE__');
      return nonce;
    });
    expect(nonces[0]).not.toBe(nonces[1]);
    // It holds no secret: the code is in the fragment, which browsers keep to themselves.
    const { nonce } = readEndpoint(service.directory) ?? {};
    for (const { text } of pages) expect(text).not.toContain(nonce);
  });
});
