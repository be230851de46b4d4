/**
 * Programs that come to a door over HTTP, by the token of each. The classes: a token opens its own door alone, for as long as its
 * owner wants it; a caller without one learns nothing; and no token is in a log, a list, an error or the file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  resultOf,
  runCommand,
  send,
  startTestVault,
  type Answer,
  type Json,
  type RawRequest,
  type TestVault,
} from '../support/support.ts';

const password = 'correct horse battery staple';
const day = 86_400_000;

let service: TestVault;
let token = '';
let address = '';

const keyhearth = async (...argv: readonly string[]): Promise<Json> => {
  const environment = {
    KEYHEARTH_DATA_DIR: service.directory,
    KEYHEARTH_CONFIG_DIR: join(service.directory, '../config'),
  };
  const ran = await runCommand([...argv, '--json'], { environment });
  expect(ran.code, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Json;
};

const add = (name: string, ...more: readonly string[]) =>
  keyhearth('rpc', 'add', name, '--wallet', 'Deployer', '--budget', '1 ETH/day', ...more);

/** @param path `/rpc/TOKEN`, or `/rpc` with the token in a header. */
const ask = (path: string, headers: RawRequest['headers'] = {}, method = 'eth_accounts'): Promise<Answer> =>
  send(service.url, {
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
  });

const accountsOf = ({ body }: Answer): unknown => body?.['result'];
const errorOf = ({ body }: Answer) => body?.['error'] as { readonly code: number; readonly message: string };

beforeAll(async () => {
  service = await startTestVault({ password });
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, 'owner.public'), service.key.publicKey);
  writeFileSync(join(keysDirectory, 'owner.private'), service.key.privateKey, { mode: 0o600 });
  const accounts = [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ];
  const made = resultOf(
    await service.root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Deployer', accounts }),
  ) as unknown as { addresses: readonly string[] };
  [address = ''] = made.addresses;
  ({ token } = (await add('forge')) as { token: string });
}, 60_000);
afterAll(() => service[Symbol.asyncDispose]());

test('a door that was not switched on lets no token in', async () => {
  expect((await ask(`/rpc/${token}`)).status).toBe(401);
  await keyhearth('doors', 'on', 'ethereum');
  expect(accountsOf(await ask(`/rpc/${token}`))).toEqual([address]);
});

test('a token counts in the path and in the header', async () => {
  for (const path of [`/rpc/${token}`, `/rpc/${token}/`, `/RPC/${token}`]) {
    expect(accountsOf(await ask(path)), path).toEqual([address]);
  }
  for (const scheme of ['Bearer', 'bearer']) {
    expect(accountsOf(await ask('/rpc', { authorization: `${scheme} ${token}` }))).toEqual([address]);
  }
});

describe('a caller without a token of this door', () => {
  const tokens: readonly (readonly [string, () => string])[] = [
    ['nothing', () => '/rpc'],
    ['another text', () => `/rpc/kht_${'1'.repeat(44)}`],
    ['the beginning of the token', () => `/rpc/${token.slice(0, -1)}`],
    ['more than the token', () => `/rpc/${token}1`],
    ['the token in other letters', () => `/rpc/${token.toUpperCase()}`],
    ['the hash of the token', () => `/rpc/${'0'.repeat(64)}`],
    ['a word', () => '/rpc/eth'],
    [
      'an escaped token',
      () => `/rpc/${token.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)}`,
    ],
  ];
  test.each(tokens)('is refused with %s, and learns nothing', async (_what, path) => {
    const answer = await ask(path());
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({
      message: 'request not authorized: no program here has this token',
    });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('is refused as a page of another site, or by a name that was rebound, whatever token it has', async () => {
    const { port } = new URL(service.url);
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { host: `evil.example:${port}` },
    ]) {
      expect((await ask(`/rpc/${token}`, headers)).status).toBe(403);
    }
    const form = await ask(`/rpc/${token}`, { 'content-type': 'application/x-www-form-urlencoded' });
    expect(form.status).toBe(415);
  });
});

test('the token is in no file, no list of requests and no error', async () => {
  await ask(`/rpc/${token}/${'x'.repeat(40)}`);
  await ask(`/rpc/${token}`, { origin: 'https://evil.example' });
  await send(service.url, { method: 'GET', path: `/rpc/${token}` });
  for (const path of [`/%72pc/${token}`, `/rpc/1/${token}`, `/x/rpc/${token}`, `/rpc?${token}`]) {
    const { status, text } = await ask(path);
    expect(status, path).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain(token);
  }
  const { requests } = await service.vault.rpc.requests();
  expect(requests.length).toBeGreaterThan(1);
  const shown = [requests, await service.vault.rpc.doors(), await service.vault.rpc.diagnostics()];
  expect(JSON.stringify(shown)).not.toContain(token);
  await keyhearth('rpc', 'list');
  // The files of the service are searched for the token when the test ends.
  service.secrets.addText('the token', token);
});

test('no user elsewhere can have the public half of the program’s key', async () => {
  const [, ethereum] = await service.vault.rpc.doors();
  const publicKey = ethereum?.programs.find(({ name }) => name === 'forge')?.publicKey;
  const user = {
    userName: 'Eve',
    apiKeys: [{ apiKeyName: 'forge', publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
  };
  const wanted = { subOrganizationName: 'Eve', rootUsers: [user], rootQuorumThreshold: 1 };
  const made = await service.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', wanted);
  expect(made.status).toBe(409);
});

test('a request waits while the vault is locked, and a frozen vault refuses', async () => {
  await service.vault.rpc.lock();
  const waiting = ask(`/rpc/${token}`);
  await vi.waitFor(async () => {
    const [, ethereum] = await service.vault.rpc.doors();
    expect(ethereum?.programs[0]?.waiting).toBe(1);
  });
  await service.unlock();
  expect(accountsOf(await waiting)).toEqual([address]);
  await service.vault.rpc.freeze();
  expect(errorOf(await ask(`/rpc/${token}`))).toMatchObject({ code: 4100 });
  await service.unlock();
});

test('a request that waits does not end with another whose caller leaves', async () => {
  const path = `/rpc/${token}/api/v1/eth1/publicKeys`;
  const isWaiting = (count: number) =>
    vi.waitFor(async () => {
      const [, ethereum] = await service.vault.rpc.doors();
      expect(ethereum?.programs[0]?.waiting).toBe(count);
    });
  // An earlier answer serves no longer.
  await setTimeout(1100);
  await service.vault.rpc.lock();
  const left = httpRequest(`${service.url}${path}`).on('error', () => undefined);
  left.end();
  await isWaiting(1);
  const waiting = send(service.url, { method: 'GET', path });
  await isWaiting(2);
  left.destroy();
  await isWaiting(1);
  await service.unlock();
  expect((await waiting).status).toBe(200);
});

test('the program is used, expires and is revoked as its API key', async () => {
  const { token: short, publicKey } = (await add('short', '--expires', '2d')) as {
    token: string;
    publicKey: string;
  };
  expect(accountsOf(await ask(`/rpc/${short}`))).toEqual([address]);
  const users = (await service.root.query('list_users')).body?.['users'] as readonly {
    readonly userName: string;
    readonly apiKeys: readonly { readonly apiKeyId: string; readonly credential: { publicKey: string } }[];
  }[];
  const user = users.find(({ userName }) => userName === 'ethereum short');
  expect(user?.apiKeys.map(({ credential }) => credential.publicKey)).toEqual([publicKey]);
  await vi.waitFor(async () => {
    const uses = await service.root.query('list_credential_uses');
    expect(uses.text).toContain(user?.apiKeys[0]?.apiKeyId);
  });
  await keyhearth('rpc', 'remove', 'short', '--yes');
  expect((await ask(`/rpc/${short}`)).status).toBe(401);
  const { token: again } = (await add('short', '--expires', '2')) as { token: string };
  expect((await ask(`/rpc/${short}`)).status).toBe(401);
  expect(accountsOf(await ask(`/rpc/${again}`))).toEqual([address]);
  service.clock.advance(3 * day);
  // The last answer serves for a second.
  await vi.waitFor(async () => {
    expect(errorOf(await ask(`/rpc/${again}`))).toMatchObject({ code: 4100 });
  }, 5000);
});
