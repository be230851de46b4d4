/** `keyhearth dev`: a vault in memory for tests and pipelines, the same each time from the same seed. */
import { readFileSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startDev } from '../../main/commands/vault/dev.ts';
import { makeConfig } from '../../main/app/config.ts';
import { UnitOfWork } from '../../main/storage/unit-of-work.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  runCommand,
  send,
  solanaAccount,
  startDevProcess,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import type { Answer, DevProcess, Json, TestClient } from '../support/support.ts';

const get = (dev: DevProcess, path: string): Promise<Answer> =>
  send(dev.line.url, { method: 'GET', path: `/dev/${path}` });
const post = (dev: DevProcess, path: string, body?: unknown): Promise<Answer> =>
  send(dev.line.url, { path: `/dev/${path}`, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

/** One of everything that has an id or a key, in order. */
async function makeEverything(root: TestClient): Promise<Json> {
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Seeded',
    accounts: [ethereumAccount, solanaAccount],
  });
  const keys = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'].map((curve) => ({
      privateKeyName: curve,
      curve,
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_COMPRESSED'],
    })),
  });
  const user = { userName: 'Seeded', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
  const users = await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
  const signed = await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: resultOf(wallet).addresses[0],
    payload: 'the same',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  return {
    wallet: resultOf(wallet),
    keys: resultOf(keys),
    users: resultOf(users),
    signature: resultOf(signed),
    // The first part of an id is the time.
    activities: [wallet, keys, users, signed].map((answer) => activityOf(answer).id.slice(14)),
    votes: [wallet, keys, users, signed].map((answer) => activityOf(answer).votes[0]?.id),
  };
}

/** @returns what a process has used so far, in seconds: `utime` and `stime` of proc(5), in hundredths. */
function processorTime(pid: number): number {
  // The name of the program stands in parentheses, and may have spaces and parentheses in it.
  const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${String(pid)}/stat`, 'utf8')) ?? [];
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return ((user ?? NaN) + (system ?? NaN)) / 100;
}

describe('when it is ready', () => {
  // Other work on the machine makes it wait, and takes none of its processor time away.
  test.skipIf(process.platform !== 'linux')('it has used less than a second of processor time', async () => {
    await using dev = await startDevProcess(['--json']);
    expect(processorTime(dev.process.child.pid ?? 0)).toBeLessThan(1);
  });

  test('it says so in one line of JSON, and says nothing else there', async () => {
    await using dev = await startDevProcess();
    await newWallet(dev.root);
    await dev.root.query('no_such_thing');
    expect(await dev.process.stop()).toBe(0);
    const [line = '', ...rest] = dev.process.stdout.split('\n');
    expect(rest).toEqual(['']);
    expect(Object.keys(JSON.parse(line) as Json)).toEqual(
      expect.arrayContaining([
        ...['url', 'organizationId', 'rootUserId', 'apiPublicKey', 'apiPrivateKey', 'signerPublicKey'],
        ...['notarizerPublicKey', 'tlsFetcherPublicKey'],
      ]),
    );
    expect(dev.line.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
    expect(dev.line.apiPublicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    expect(dev.line.apiPrivateKey).toMatch(/^[0-9a-f]{64}$/);
    expect(dev.line.signerPublicKey).toMatch(/^04[0-9a-f]{128}$/);
    expect(dev.process.stderr).toBe('');
  });

  test('its key is the root user’s', async () => {
    await using dev = await startDevProcess();
    const { body } = await dev.root.query('whoami');
    expect(body).toMatchObject({ organizationId: dev.line.organizationId, userId: dev.line.rootUserId });
    const keys = await send(dev.line.url, { method: 'GET', path: '/public/v1/discovery/keys' });
    expect(keys.body).toEqual({
      signer: dev.line.signerPublicKey,
      notarizer: dev.line.notarizerPublicKey,
      tlsFetcher: dev.line.tlsFetcherPublicKey,
    });
  });

  test('with --ui it names the window’s one-time link', async () => {
    await using dev = await startDevProcess(['--ui']);
    const { windowUrl = '' } = dev.line as { windowUrl?: string };
    expect(windowUrl.startsWith(`http://localhost:${new URL(dev.line.url).port}/#code=`)).toBe(true);
    const page = await fetch(windowUrl, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<!doctype html>');
  });
});

describe('a seed', () => {
  test('makes the same ids, keys and addresses in every run', async () => {
    const runs: { line: Json; made: Json }[] = [];
    for (let run = 0; run < 2; run++) {
      await using dev = await startDevProcess(['--seed', 'the same']);
      runs.push({ line: { ...dev.line, url: '' }, made: await makeEverything(dev.root) });
    }
    expect(runs[1]).toEqual(runs[0]);
  });

  test('of another text makes others', async () => {
    await using one = await startDevProcess(['--seed', 'one']);
    await using two = await startDevProcess(['--seed', 'two']);
    const [first, second] = [
      { ...one.line, ...(await makeEverything(one.root)) },
      { ...two.line, ...(await makeEverything(two.root)) },
    ];
    for (const [name, value] of Object.entries(first)) {
      expect((second as Json)[name], name).not.toEqual(value);
    }
  });

  test('is another one each time where none is given', async () => {
    await using one = await startDevProcess();
    await using two = await startDevProcess();
    expect(one.line.organizationId).not.toBe(two.line.organizationId);
    expect(one.line.apiPrivateKey).not.toBe(two.line.apiPrivateKey);
  });

  test('does not let values for one purpose move another', async () => {
    await using one = await startDevProcess(['--seed', 'streams']);
    await using two = await startDevProcess(['--seed', 'streams']);
    // Queries and failures generate ids too; a wallet's words must not depend on their number.
    await two.root.query('whoami');
    await two.root.submit('create_users', 'CREATE_USERS_V3', { users: [] });
    expect((await newWallet(two.root)).ethereum).toBe((await newWallet(one.root)).ethereum);
  });
});

describe('the routes under /dev/', () => {
  let dev: DevProcess;
  beforeAll(async () => {
    dev = await startDevProcess(['--seed', 'routes']);
  });
  afterAll(() => dev[Symbol.asyncDispose]());

  const walletNames = async (): Promise<unknown[]> => {
    const { body } = await dev.root.query('list_wallets');
    return (body as { wallets: Json[] }).wallets.map(({ walletName }) => walletName);
  };

  test('a snapshot is restored, and later values are generated the same again', async () => {
    await newWallet(dev.root, 'Before');
    const snapshot = await post(dev, 'snapshot');
    expect(snapshot).toMatchObject({ status: 200, body: { id: '1' } });
    const after = await newWallet(dev.root, 'After');
    expect(await walletNames()).toEqual(['Before', 'After']);

    expect((await post(dev, 'reset', snapshot.body)).status).toBe(200);
    expect(await walletNames()).toEqual(['Before']);
    expect(await newWallet(dev.root, 'After')).toEqual(after);

    // A reset without a name goes back to the start; older snapshots can still be gone back to.
    expect((await post(dev, 'reset')).status).toBe(200);
    expect(await walletNames()).toEqual([]);
    expect((await post(dev, 'reset', { id: '1' })).status).toBe(200);
    expect(await walletNames()).toEqual(['Before']);
    await post(dev, 'reset', {});
  });

  test('a key that is created after a reset signs for itself, not for the one before', async () => {
    const sign = async (signWith: string): Promise<unknown> =>
      resultOf(
        await dev.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
          signWith,
          payload: 'x',
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_SHA256',
        }),
      );
    const first = await newWallet(dev.root, 'First');
    const signature = await sign(first.ethereum);
    await post(dev, 'reset');
    expect(await newWallet(dev.root, 'Renamed')).toEqual(first);
    expect(await sign(first.ethereum)).toEqual(signature);
    await post(dev, 'reset');
  });

  test('a reset forgets a body that was answered before it', async () => {
    const body = dev.root.submitBody('CREATE_WALLET', { walletName: 'Again', accounts: [] });
    expect((await dev.root.post('submit/create_wallet', body)).status).toBe(200);
    await post(dev, 'reset');
    expect(await walletNames()).toEqual([]);
    expect((await dev.root.post('submit/create_wallet', body)).status).toBe(200);
    expect(await walletNames()).toEqual(['Again']);
    await post(dev, 'reset');
  });

  test('a snapshot that is not there is refused by name', async () => {
    const answer = await post(dev, 'reset', { id: '99' });
    expect(answer.status).toBe(404);
    expect(answer.body?.['message']).toMatch(/^there is no snapshot "99"; there are: 1$/);
    expect((await post(dev, 'reset', { id: 7 })).body?.['message']).toBe(
      'invalid id: expected a string, got 7',
    );
  });

  test('the clock runs, and can be moved', async () => {
    const clock = await get(dev, 'clock');
    expect(clock.body).toEqual({ mode: 'real', now: expect.any(Number) as number });
    expect(Math.abs(Number(clock.body?.['now']) - Date.now())).toBeLessThan(10_000);
    const moved = await post(dev, 'clock', { advanceMs: 3_600_000 });
    expect(Number(moved.body?.['now']) - Number(clock.body?.['now'])).toBeGreaterThanOrEqual(3_600_000);
    // Clients stamp with the real time, wherever the clock stands.
    expect(
      (await dev.root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Later', accounts: [] })).status,
    ).toBe(200);
    await post(dev, 'reset');
    expect(Math.abs(Number((await get(dev, 'clock')).body?.['now']) - Date.now())).toBeLessThan(10_000);
  });

  test('a move of the clock that is none is refused by name', async () => {
    for (const [body, message] of [
      [{}, 'missing field now: expected a number; or missing field advanceMs: expected a number'],
      [{ advanceMs: -1 }, /advanceMs: expected at least 0, got -1/],
      [{ now: 'noon' }, /^invalid now: expected a number, got "noon"; or /],
    ] as const) {
      const answer = await post(dev, 'clock', body);
      expect(answer.status).toBe(400);
      expect(answer.body?.['message']).toMatch(message);
    }
  });

  test('the inbox is a list', async () => {
    const answer = await get(dev, 'inbox');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual([]);
  });

  test('are not there in a vault that is kept', async () => {
    await using vault = await startTestVault();
    for (const path of ['/dev/snapshot', '/dev/reset', '/dev/clock', '/dev/inbox']) {
      for (const method of ['GET', 'POST']) {
        const answer = await send(vault.url, { method, path });
        expect(answer.status).toBe(404);
        expect(answer.body?.['message']).toBe(`there is nothing at "${path}"`);
      }
    }
  });
});

describe('--clock fixed', () => {
  test('stands still until it is moved, and makes times and ids reproducible too', async () => {
    const runs: unknown[] = [];
    for (let run = 0; run < 2; run++) {
      await using dev = await startDevProcess(['--clock', 'fixed', '--seed', 'still']);
      expect((await get(dev, 'clock')).body).toEqual({ mode: 'fixed', now: Date.UTC(2026, 0, 1) });
      const body = JSON.stringify({
        type: 'ACTIVITY_TYPE_CREATE_WALLET',
        timestampMs: String(Date.now()),
        organizationId: dev.line.organizationId,
        parameters: { walletName: 'Still', accounts: [ethereumAccount] },
      });
      const { id, createdAt, result } = activityOf(await dev.root.post('submit/create_wallet', body)) as Json;
      expect(createdAt).toEqual({ seconds: String(Date.UTC(2026, 0, 1) / 1000), nanos: '0' });
      runs.push({ id, createdAt, result });
      await post(dev, 'clock', { now: Date.UTC(2030, 5, 1) });
      expect((await get(dev, 'clock')).body).toEqual({ mode: 'fixed', now: Date.UTC(2030, 5, 1) });
      const { wallet } = (
        await dev.root.query('get_wallet', {
          walletId: (result as Record<string, Json>)['createWalletResult']?.['walletId'],
        })
      ).body as { wallet: Json };
      expect(wallet['createdAt']).toEqual(createdAt);
    }
    expect(runs[1]).toEqual(runs[0]);
  });

  test('is what expiry is measured against', async () => {
    await using dev = await startDevProcess(['--clock', 'fixed']);
    const key = newTestKey();
    await dev.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
      userId: dev.line.rootUserId,
      apiKeys: [
        {
          apiKeyName: 'brief',
          publicKey: key.publicKey,
          curveType: 'API_KEY_CURVE_P256',
          expirationSeconds: '60',
        },
      ],
    });
    const brief = dev.root.as(key);
    expect((await brief.query('whoami')).status).toBe(200);
    await post(dev, 'clock', { advanceMs: 60_000 });
    expect((await brief.query('whoami')).body).toMatchObject({ turnkeyErrorCode: 'API_KEY_EXPIRED' });
  });

  test('of another name is refused', async () => {
    const { code, stderr, stdout } = await runCommand(['dev', '--port', '0', '--clock', 'slow']);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^keyhearth: invalid --clock "slow": expected real or fixed$/m);
  });
});

describe('what is left', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'nothing on disk, and the exit code 0 after %s',
    async (signal) => {
      using home = temporaryDirectory();
      const environment = {
        HOME: home.path,
        XDG_DATA_HOME: `${home.path}/data`,
        XDG_CONFIG_HOME: `${home.path}/config`,
        KEYHEARTH_DATA_DIR: `${home.path}/vault`,
        KEYHEARTH_CONFIG_DIR: `${home.path}/keys`,
        TMPDIR: home.path,
      };
      await using dev = await startDevProcess(['--seed', 'a'], { environment });
      await makeEverything(dev.root);
      expect(readdirSync(home.path)).toEqual([]);
      expect(await dev.process.stop(signal)).toBe(0);
      expect(readdirSync(home.path)).toEqual([]);
    },
  );

  test('a client that holds a connection does not hold up the end', async () => {
    await using dev = await startDevProcess();
    const socket = connect(Number(new URL(dev.line.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /public/v1/query/whoami HTTP/1.1\r\nHost: x\r\n');
    const started = performance.now();
    expect(await dev.process.stop()).toBe(0);
    expect(performance.now() - started).toBeLessThan(2_000);
    socket.destroy();
  });
});

test('a reset to before the master key was changed locks the vault, and its phrase opens it', async () => {
  const config = makeConfig({ port: '0' }, {});
  const { vault, line } = await startDev(config, { seed: 'rotated', clock: 'real' });
  try {
    const { rpc, url } = vault;
    const proof = { with: 'recovery', phrase: line.recoveryPhrase } as const;
    await rpc.changeKeyslots({ do: 'rotate', proof, secrets: [], dropOthers: false });
    expect((await rpc.status()).state).toBe('unlocked');
    expect((await send(url, { path: '/dev/reset', body: '{}' })).status).toBe(200);
    expect((await rpc.status()).state).toBe('locked');
    await rpc.unlock(proof);
    expect(await rpc.call('/public/v1/query/whoami', {})).toMatchObject({ status: 200 });
    // Nothing was changed since: it stays unlocked.
    expect((await send(url, { path: '/dev/reset', body: '{}' })).status).toBe(200);
    expect((await rpc.status()).state).toBe('unlocked');
  } finally {
    await vault.close();
  }
});

// The class: a start that fails and leaves its port and threads behind, with which the process never ends.
test('a start that fails leaves nothing that runs', async () => {
  const failing = vi.spyOn(UnitOfWork.prototype, 'first').mockImplementation(() => {
    throw new Error('the disk is gone');
  });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const config = makeConfig({ port: String(port) }, {});
  await expect(startDev(config, { clock: 'real' })).rejects.toThrow('the disk is gone');
  failing.mockRestore();
  // The port is free again.
  const { vault } = await startDev(config, { clock: 'real' });
  await vault.close();
});
